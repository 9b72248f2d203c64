//! A conversation of 400 turns that grows to a megabyte: what the proxy takes for a turn must follow the new text and
//! one look over the body, not the history squared.

use std::time::Duration;

use crate::children::{Target, Targets};
use crate::client::Connection;
use crate::measure::percentile;
use crate::talk::Talk;

const TURNS: usize = 400;
/// Bytes that a turn adds.
const STEP: usize = 2_200;
/// Conversations that are held one after the other.
const SESSIONS: usize = 3;
/// Turns around a shown one that count with it.
const AROUND: usize = 10;
/// The shown turns.
const SHOWN: [usize; 5] = [25, 50, 100, 200, 390];

/// Every turn goes through the pass-through and the proxy.
pub(crate) async fn run() -> anyhow::Result<()> {
    let mut talk = Talk::begin(4);
    for _ in 0..TURNS {
        talk.step(STEP);
        talk.end_turn();
    }
    let targets = Targets::start("")?;
    // By target and turn: one figure a session.
    let mut cpu = [vec![Vec::new(); TURNS], vec![Vec::new(); TURNS]];
    let mut sizes = vec![0; TURNS];
    let mut request = Vec::new();
    for session in 0..SESSIONS {
        let (bare, ours) = (&targets.all[1], &targets.all[2]);
        let mut connections = [Connection::open(bare.address).await?, Connection::open(ours.address).await?];
        for turn in 0..TURNS {
            sizes[turn] = talk.request(session, turn, false, &mut request);
            for (side, target) in [bare, ours].into_iter().enumerate() {
                let before = target.cpu();
                connections[side].exchange(&request, |_| {}).await?;
                cpu[side][turn].push(target.cpu().saturating_sub(before));
            }
        }
    }
    println!("\nsession of {TURNS} turns, each adds about {} KB; CPU us", (STEP + 300) / 1_000);
    println!(
        "{:<30}{:>10}{:>14}{:>11}{:>9}{:>12}",
        "turn", "body KB", "pass-through", "secateur", "ratio", "us per KB"
    );
    for shown in SHOWN {
        let turns = shown - AROUND..shown + AROUND;
        let median = |side: usize| percentile(&cpu[side][turns.clone()].concat(), 0.5).as_secs_f64() * 1e6;
        let (bare, ours, kb) = (median(0), median(1), sizes[shown] as f64 / 1_000.0);
        println!("{shown:<30}{kb:>10.0}{bare:>14.0}{ours:>11.0}{:>9.2}{:>12.2}", ours / bare, ours / kb);
    }
    let all = |side: usize| {
        cpu[side].iter().flatten().sum::<Duration>().as_secs_f64() * 1e6 / (TURNS * SESSIONS) as f64
    };
    let (bare, ours) = (all(0), all(1));
    let kb = sizes.iter().sum::<usize>() as f64 / 1_000.0 / TURNS as f64;
    let name = "all, prunes included, mean";
    println!("{name:<30}{kb:>10.0}{bare:>14.0}{ours:>11.0}{:>9.2}{:>12.2}", ours / bare, ours / kb);
    let [_, bare, ours] = targets.all.each_ref().map(Target::peak_mb);
    let (bare, ours) = (bare.unwrap_or_default(), ours.unwrap_or_default());
    println!("{:<30}{:>10}{bare:>14.0}{ours:>11.0}{:>9.2}", "peak memory MB", "", ours / bare);
    Ok(())
}
