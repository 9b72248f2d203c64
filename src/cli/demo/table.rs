use super::DemoArgs;
use super::play::{Figures, Round};

/// What a cached token costs, in uncached ones.
const CACHED_PRICE: f64 = 0.1;

/// Writes the rows of the table, and adds them up. All lines are at most 100 characters long.
#[derive(Debug, Default)]
pub(super) struct Table {
    rounds: u64,
    prunes: u64,
    without: Sum,
    with: Sum,
}

#[derive(Debug, Default, Clone, Copy)]
struct Sum {
    all: Figures,
    largest: u64,
}

/// What stands above the rows.
pub(super) fn head(args: &DemoArgs) -> String {
    let (turns, threshold) = (grouped(u64::from(args.turns)), grouped(args.threshold));
    format!(
        "A made-up coding agent sends {turns} requests, each with its whole history, to a mock upstream: once\n\
         as it is, once through Secateur with a threshold of {threshold} tokens. Figures are the upstream's count.\n\n\
         {:>5}{:>18}{:>18}\n{:>5}{:>11}{:>7}{:>11}{:>7}  what Secateur did",
        "", "without Secateur", "with Secateur", "req.", "tokens", "cached", "tokens", "cached",
    )
}

impl Table {
    /// The row of one request.
    pub(super) fn row(&mut self, round: &Round) -> String {
        self.rounds += 1;
        self.without.add(round.without);
        self.with.add(round.with);
        let saved = grouped(round.without.input.saturating_sub(round.with.input));
        let note = match (&round.pruned, round.edits) {
            (Some(stages), _) => {
                self.prunes += 1;
                format!("prune {}: {stages}; -{saved}", self.prunes)
            }
            (None, 0) => String::new(),
            (None, edits) => format!("the same {edits} edits; -{saved}"),
        };
        line(&self.rounds.to_string(), round.without, round.with, &note)
    }

    /// What stands below the rows.
    pub(super) fn totals(&self) -> String {
        let (without, with) = (self.without.all, self.with.all);
        let sum = line("sum", without, with, &less(without.input as f64, with.input as f64));
        let figures = |name: &str, without: f64, with: f64| {
            let (a, b) = (grouped(without as u64), grouped(with as u64));
            format!("{name:<22}{a:>12} ->{b:>12}   {}", less(without, with))
        };
        format!(
            "{}\n{sum}\n\n{}\n{}\n{}\n{} prunes. Billed: uncached tokens 1, cached ones {CACHED_PRICE}, with each way's own prefix cache.",
            "-".repeat(100),
            figures("tokens sent", without.input as f64, with.input as f64),
            figures("largest request", self.without.largest as f64, self.with.largest as f64),
            figures("billed equivalent", without.billed(), with.billed()),
            self.prunes,
        )
    }
}

impl Sum {
    fn add(&mut self, figures: Figures) {
        self.all.input += figures.input;
        self.all.cached += figures.cached;
        self.largest = self.largest.max(figures.input);
    }
}

impl Figures {
    fn billed(self) -> f64 {
        (self.input - self.cached.min(self.input)) as f64 + self.cached as f64 * CACHED_PRICE
    }

    fn share(self) -> String {
        format!("{:.0}%", 100.0 * self.cached as f64 / self.input.max(1) as f64)
    }
}

fn line(name: &str, without: Figures, with: Figures, note: &str) -> String {
    let (tokens, tokens_with) = (grouped(without.input), grouped(with.input));
    let line =
        format!("{name:>5}{tokens:>11}{:>7}{tokens_with:>11}{:>7}  {note}", without.share(), with.share());
    line.trim_end().to_owned()
}

fn less(without: f64, with: f64) -> String {
    let share = 100.0 * (1.0 - with / without.max(1.0));
    if share >= 0.0 { format!("{share:.0}% less") } else { format!("{:.0}% more", -share) }
}

/// `12,345`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn rows_say_what_happened_and_fit() {
        let mut table = Table::default();
        let figures = |input, cached| Figures { input, cached };
        let quiet = Round { without: figures(9000, 0), with: figures(9000, 0), ..Round::default() };
        assert_eq!(table.row(&quiet), "    1      9,000     0%      9,000     0%");
        let pruned = Round {
            without: figures(880_000, 8800),
            with: figures(5000, 2500),
            pruned: Some("hard=3, soft=2".into()),
            edits: 5,
        };
        let row = table.row(&pruned);
        assert!(row.ends_with("prune 1: hard=3, soft=2; -875,000"), "{row}");
        let kept = Round { pruned: None, ..pruned };
        assert!(table.row(&kept).ends_with("the same 5 edits; -875,000"));
        let totals = table.totals();
        assert!(
            totals.contains("1,769,000") && totals.contains("19,000") && totals.contains("99% less"),
            "{totals}"
        );
        assert!(totals.lines().chain([row.as_str()]).all(|line| line.len() <= 100), "{totals}");
    }
}
