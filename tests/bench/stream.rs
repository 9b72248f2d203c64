//! An answer that streams: how long until its first byte, and how much later than the mock sent it each event comes.

use std::time::Duration;

use tokio::time::Instant;

use crate::children::Targets;
use crate::client::Connection;
use crate::measure::percentile;
use crate::roles::{EVENTS, now_ns};
use crate::talk::Talk;

/// Streams from each target.
const STREAMS: usize = 12;

/// What the streams of one target took.
#[derive(Default)]
struct Seen {
    first_bytes: Vec<Duration>,
    delays: Vec<Duration>,
    cpu: Duration,
}

/// Streams from each target in turn.
pub(crate) async fn run() -> anyhow::Result<()> {
    let mut talk = Talk::begin(3);
    talk.grow_to(1_800, 700);
    talk.end_turn();
    let targets = Targets::start("")?;
    let mut seen = <[Seen; 3]>::default();
    let mut request = Vec::new();
    for stream in 0..=STREAMS {
        talk.request(0, 0, true, &mut request);
        for (target, seen) in targets.all.iter().zip(&mut seen) {
            let mut connection = Connection::open(target.address).await?;
            let (cpu, sent) = (target.cpu(), Instant::now());
            let (mut first, mut delays) = (None, Vec::with_capacity(EVENTS));
            let read = |data: &[u8]| {
                first.get_or_insert_with(|| sent.elapsed());
                let now = now_ns();
                delays.extend(stamps(data).map(|stamp| Duration::from_nanos(now.saturating_sub(stamp))));
            };
            connection.exchange(&request, read).await?;
            // The first of all opens the connections behind the proxies.
            if stream > 0 {
                seen.cpu += target.cpu().saturating_sub(cpu);
                seen.first_bytes.extend(first);
                seen.delays.extend(delays);
            }
        }
    }
    println!("\nstream of {EVENTS} events, one each 2 ms");
    println!(
        "{:<30}{:>10}{:>14}{:>11}{:>9}{:>12}",
        "", "direct", "pass-through", "secateur", "ratio", "added us"
    );
    let show = |name: &str, figure: &dyn Fn(&Seen) -> Duration| {
        let [direct, bare, ours] = seen.each_ref().map(|seen| figure(seen).as_secs_f64() * 1e6);
        let added = format!("{:.0} : {:.0}", ours - direct, bare - direct);
        println!("{name:<30}{direct:>10.0}{bare:>14.0}{ours:>11.0}{:>9.2}{added:>12}", ours / bare);
    };
    show("first byte p50 us", &|seen| percentile(&seen.first_bytes, 0.5));
    show("delay of an event p50 us", &|seen| percentile(&seen.delays, 0.5));
    show("delay of an event p99 us", &|seen| percentile(&seen.delays, 0.99));
    show("CPU us an event", &|seen| seen.cpu / (STREAMS * EVENTS) as u32);
    Ok(())
}

/// The times that the events in `data` were sent.
fn stamps(data: &[u8]) -> impl Iterator<Item = u64> {
    const MARK: &[u8] = b"\"content\":\"";
    memchr::memmem::find_iter(data, MARK).filter_map(|at| {
        let rest = &data[at + MARK.len()..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()
    })
}
