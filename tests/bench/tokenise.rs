//! Texts that were never counted: no kind may take more than twice the time of code.

use std::time::Duration;

use secateur::tokens::{Tiktoken, TokenCounter as _};
use tokio::time::Instant;

use crate::measure::percentile;
use crate::texts::{self, Random};

const BYTES: usize = 1_000_000;
const ROUNDS: usize = 5;

/// Counts each kind in turn, several times over.
#[expect(clippy::unnecessary_wraps, reason = "all parts of the run have one shape")]
pub(crate) fn run() -> anyhow::Result<()> {
    let counter = Tiktoken::o200k();
    let mut random = Random::new(5);
    let texts = [
        ("code", texts::code(BYTES, &mut random)),
        ("JSON", texts::json(BYTES, &mut random)),
        ("a log", texts::log(BYTES, &mut random)),
        ("Chinese", texts::chinese(BYTES, &mut random)),
        ("one letter", "a".repeat(BYTES)),
        ("one Chinese character", "目".repeat(BYTES / 3)),
        ("spaces", " ".repeat(BYTES)),
        ("line ends", "\n".repeat(BYTES)),
        ("digits", "1234567890".repeat(BYTES / 10)),
        ("one sign", "=".repeat(BYTES)),
        ("base64 without a break", texts::base64(BYTES, &mut random)),
    ];
    let mut took = vec![Vec::new(); texts.len()];
    let mut tokens = vec![0; texts.len()];
    for _ in 0..ROUNDS {
        for (kind, (_, text)) in texts.iter().enumerate() {
            let began = Instant::now();
            tokens[kind] = counter.count(text);
            took[kind].push(began.elapsed());
        }
    }
    let median = |kind: usize| percentile(&took[kind], 0.5);
    println!("\ncold tokenising of 1 MB");
    println!("{:<30}{:>10}{:>14}{:>20}", "", "MB/s", "tokens", "time, code is 1");
    for (kind, (name, text)) in texts.iter().enumerate() {
        let rate = text.len() as f64 / 1e6 / median(kind).as_secs_f64();
        let ratio = median(kind).div_duration_f64(median(0));
        println!("{name:<30}{rate:>10.1}{:>14}{ratio:>20.2}", tokens[kind]);
    }
    let slowest = took.iter().map(|times| percentile(times, 0.5)).max().unwrap_or(Duration::ZERO);
    println!("{:<30}{:>10}{:>14}{:>20.2}", "slowest", "", "", slowest.div_duration_f64(median(0)));
    Ok(())
}
