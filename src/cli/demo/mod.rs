//! `secateur demo`: a long agent conversation, sent to the mock upstream once as it is and once through the proxy.
//! Owns: playing it, and the table. Does not own: what is said (`mock`), or what is pruned.

mod play;
mod table;

use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use tokio::runtime;

use super::terminal::say;
use crate::mock::agent::{Agent, AgentOptions};
use play::Play;
use table::Table;

/// What is played.
#[derive(Debug, Args)]
pub(super) struct DemoArgs {
    /// The conversation's number: another one, another conversation
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many requests the agent sends
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=2000))]
    turns: u32,
    /// About how many tokens the last request has without pruning
    #[arg(long, default_value_t = 70_000, value_parser = clap::value_parser!(u64).range(5000..=900_000))]
    tokens: u64,
    /// Tokens from which on requests are pruned
    #[arg(long, default_value_t = 25_000, value_parser = clap::value_parser!(u64).range(1000..))]
    threshold: u64,
}

/// Plays the conversation and prints a line for each request.
pub(super) fn run(args: &DemoArgs) -> anyhow::Result<ExitCode> {
    let runtime =
        runtime::Builder::new_multi_thread().enable_all().build().context("cannot start threads")?;
    runtime.block_on(show(args))?;
    Ok(ExitCode::SUCCESS)
}

async fn show(args: &DemoArgs) -> anyhow::Result<()> {
    let options = AgentOptions {
        turns: args.turns as usize,
        target_tokens: Some(args.tokens),
        ..AgentOptions::default()
    };
    let conversation = Agent::new(args.seed).conversation(&options);
    let mut play = Play::start(&conversation, args.threshold).await?;
    let mut table = Table::default();
    say(table::head(args));
    while let Some(round) = play.next().await? {
        say(table.row(&round));
    }
    say(table.totals());
    Ok(())
}
