//! One body after another: how long a request takes, how many go through, what the proxy takes for it.

use std::time::Duration;

use futures_util::future::try_join_all;
use tokio::time::Instant;

use crate::children::{Target, Targets};
use crate::client::Connection;
use crate::measure::Taken;
use crate::talk::Talk;

/// One kind of request.
struct Case {
    title: &'static str,
    config: String,
    talk: Talk,
    /// Conversations that are held one after the other, a request at a time.
    sessions: usize,
    /// Turns that each of several conversations takes in one go before the next target has its turn.
    turns_a_go: usize,
}

/// Conversations that are held side by side.
const SIDE_BY_SIDE: usize = 16;
/// The number of the first of these, apart from those that came before.
const FIRST_BESIDE: usize = 1_000;
/// Requests on every connection before anything is measured.
const WARM_UP: usize = 50;

/// A short question.
pub(crate) async fn small() -> anyhow::Result<()> {
    let mut talk = Talk::begin(1);
    talk.grow_to(1_800, 700);
    (0..1_000).for_each(|_| talk.end_turn());
    let config = String::new();
    Case { title: "2 KB, below the threshold", config, talk, sessions: 6, turns_a_go: 150 }.run().await
}

/// A long conversation that is not yet to be pruned.
pub(crate) async fn large() -> anyhow::Result<()> {
    let talk = long(391_000);
    let config = "[pruning]\npruning_threshold = 1000000\n".to_owned();
    Case { title: "400 KB, below the threshold", config, talk, sessions: 5, turns_a_go: 20 }.run().await
}

/// A long conversation whose 60 oldest outputs were pruned in its first turn.
pub(crate) async fn edited() -> anyhow::Result<()> {
    let talk = long(410_000);
    // The instructions stand in front, and a step is two messages.
    let kept = talk.first + 1 - (2 + 2 * 60);
    let config = format!(
        "[pruning]\nsoft_threshold = 0.0\nhard_threshold = 0.0\ndetail_threshold = 2000000\nprune_to = 1.0\n\
         keep_recent_messages = {kept}\n"
    );
    Case { title: "419 KB, 60 edits replayed", config, talk, sessions: 5, turns_a_go: 20 }.run().await
}

/// A hundred turns, small steps on top of a history of so many bytes.
fn long(bytes: usize) -> Talk {
    let mut talk = Talk::begin(2);
    talk.grow_to(bytes, 3_000);
    for _ in 0..100 {
        talk.end_turn();
        talk.step(60);
    }
    talk
}

impl Case {
    async fn run(self) -> anyhow::Result<()> {
        let targets = Targets::start(&self.config)?;
        let edits = self.prime(&targets).await?;
        let single = self.one_at_a_time(&targets).await?;
        let many = self.side_by_side(&targets).await?;
        println!("\n{}{}", self.title, if edits > 0 { format!(" (made: {edits})") } else { String::new() });
        println!(
            "{:<30}{:>10}{:>14}{:>11}{:>9}{:>12}",
            "", "direct", "pass-through", "secateur", "ratio", "added us"
        );
        for (label, taken) in [("1 at a time", single), ("16 side by side", many)] {
            let show = |name: &str, figure: fn(&Taken) -> f64, has_added: bool| {
                let [direct, bare, ours] = taken.each_ref().map(figure);
                let added = if has_added {
                    format!("{:.0} : {:.0}", ours - direct, bare - direct)
                } else {
                    String::new()
                };
                let label = format!("{label}  {name}");
                println!("{label:<30}{direct:>10.0}{bare:>14.0}{ours:>11.0}{:>9.2}{added:>12}", ours / bare);
            };
            show("p50 us", |taken| taken.percentile_us(0.5), true);
            show("p99 us", |taken| taken.percentile_us(0.99), true);
            show("requests/s", Taken::rate, false);
            show("CPU us a request", Taken::cpu_us, false);
        }
        let [_, bare, ours] = targets.all.each_ref().map(Target::peak_mb);
        let (bare, ours) = (bare.unwrap_or_default(), ours.unwrap_or_default());
        println!("{:<30}{:>10}{bare:>14.0}{ours:>11.0}{:>9.2}", "peak memory MB", "", ours / bare);
        Ok(())
    }

    /// Sends the first turn of every conversation, in which the proxy reads everything and prunes. Returns how many
    /// edits it made in the first.
    async fn prime(&self, targets: &Targets) -> anyhow::Result<usize> {
        let mut edits = 0;
        let mut request = Vec::new();
        let mut connection = Connection::open(targets.all[2].address).await?;
        for session in (FIRST_BESIDE..FIRST_BESIDE + SIDE_BY_SIDE).chain(0..self.sessions).rev() {
            self.talk.request(session, 0, false, &mut request);
            edits = edits_in(&connection.exchange(&request, |_| {}).await?);
        }
        for target in &targets.all {
            let mut connection = Connection::open(target.address).await?;
            for _ in 0..WARM_UP {
                connection.exchange(&request, |_| {}).await?;
            }
        }
        Ok(edits)
    }

    /// Every request goes to each target in turn before the next one is sent.
    async fn one_at_a_time(&self, targets: &Targets) -> anyhow::Result<[Taken; 3]> {
        let mut taken = <[Taken; 3]>::default();
        let mut connections = Vec::new();
        for target in &targets.all {
            connections.push(Connection::open(target.address).await?);
        }
        let before = targets.all.each_ref().map(Target::cpu);
        let mut request = Vec::new();
        for (session, turn) in (0..self.sessions).flat_map(|s| (1..self.talk.turns()).map(move |t| (s, t))) {
            self.talk.request(session, turn, false, &mut request);
            for (connection, taken) in connections.iter_mut().zip(&mut taken) {
                let began = Instant::now();
                connection.exchange(&request, |_| {}).await?;
                taken.latencies.push(began.elapsed());
            }
        }
        for ((target, before), taken) in targets.all.iter().zip(before).zip(&mut taken) {
            taken.cpu = target.cpu().saturating_sub(before);
            taken.wall = taken.latencies.iter().sum();
        }
        Ok(taken)
    }

    /// Several conversations at once, some turns of each to one target, the same to the next.
    async fn side_by_side(&self, targets: &Targets) -> anyhow::Result<[Taken; 3]> {
        let mut taken = <[Taken; 3]>::default();
        let mut turn = 1;
        while turn + self.turns_a_go <= self.talk.turns() {
            for (target, taken) in targets.all.iter().zip(&mut taken) {
                let mut connections = Vec::new();
                for _ in 0..SIDE_BY_SIDE {
                    connections.push(Connection::open(target.address).await?);
                }
                let (cpu, began) = (target.cpu(), Instant::now());
                let agents = connections.iter_mut().enumerate();
                let goes =
                    agents.map(|(number, connection)| self.go(FIRST_BESIDE + number, turn, connection));
                taken.latencies.extend(try_join_all(goes).await?.into_iter().flatten());
                taken.wall += began.elapsed();
                taken.cpu += target.cpu().saturating_sub(cpu);
            }
            turn += self.turns_a_go;
        }
        Ok(taken)
    }

    async fn go(
        &self,
        session: usize,
        first: usize,
        connection: &mut Connection,
    ) -> anyhow::Result<Vec<Duration>> {
        let mut latencies = Vec::with_capacity(self.turns_a_go);
        let mut request = Vec::new();
        for turn in first..first + self.turns_a_go {
            self.talk.request(session, turn, false, &mut request);
            let began = Instant::now();
            connection.exchange(&request, |_| {}).await?;
            latencies.push(began.elapsed());
        }
        Ok(latencies)
    }
}

/// How many edits an answer's head tells of, such as `x-secateur-pruned: hard=57, soft=3`.
fn edits_in(head: &str) -> usize {
    let stages = head.lines().find_map(|line| line.strip_prefix("x-secateur-pruned:")).unwrap_or_default();
    stages.split(',').filter_map(|stage| stage.split_once('=')?.1.trim().parse::<usize>().ok()).sum()
}
