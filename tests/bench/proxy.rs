//! What the proxy costs: `cargo bench --bench proxy [-- FILTER]`. Every figure stands beside those of a direct call to the
//! same mock and of a bare pass-through, taken in turns within one run. README.md says what each line means.
#![expect(clippy::print_stdout, reason = "a table on standard output is what this program is for")]

mod children;
mod client;
mod latency;
mod machine;
mod measure;
mod roles;
mod session;
mod stream;
mod talk;
mod texts;
mod tokenise;

use anyhow::{Context as _, bail};
use tokio::runtime;

/// A section of the report: its name, which a filter is compared with, and what makes it.
type Section = (&'static str, fn() -> anyhow::Result<()>);

const SECTIONS: [Section; 6] = [
    ("small", || block_on(latency::small())),
    ("large", || block_on(latency::large())),
    ("edited", || block_on(latency::edited())),
    ("stream", || block_on(stream::run())),
    ("session", || block_on(session::run())),
    ("tokens", tokenise::run),
];

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match arguments.first().map(String::as_str) {
        Some(roles::MOCK) => roles::mock(),
        Some(roles::PASS_THROUGH) => roles::pass_through(arguments.get(1).context("no upstream")?),
        filter => {
            let filter = filter.unwrap_or_default();
            let chosen: Vec<_> = SECTIONS.iter().filter(|(name, _)| name.contains(filter)).collect();
            if chosen.is_empty() {
                bail!(
                    "no section has {filter:?} in its name; there are: {}",
                    SECTIONS.map(|s| s.0).join(", ")
                );
            }
            machine::pin_myself();
            println!("{}", machine::line());
            chosen.into_iter().try_for_each(|(name, run)| run().with_context(|| format!("section {name}")))
        }
    }
}

/// The client has one thread, so that it shares a core with nothing but the mock.
fn block_on(section: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<()> {
    runtime::Builder::new_current_thread().enable_all().build()?.block_on(section)
}
