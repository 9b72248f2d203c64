use super::budget::Budget;
use super::ladder::Ladder;
use super::{Demand, Draft, Plan, Rules, Settings, Sizes};
use crate::model::{EditSet, Transcript};
use crate::tokens::Cached;

/// A prune must take away at least this part of `trigger_every_n_tokens`: less than that does not pay for the
/// provider's prefix cache, which it costs from the first edit on.
const LEAST_YIELD: u64 = 8;

/// Makes plans. Pure: the same input gives the same plan.
#[derive(Clone, Copy)]
pub struct Planner<'a> {
    /// What to prune, when and how far.
    pub settings: &'a Settings,
    /// Its patterns, compiled.
    pub rules: &'a Rules,
    /// Counts new texts.
    pub counter: &'a Cached,
    /// How many items, from the first, must stay as they are.
    pub frozen: usize,
}

impl Planner<'_> {
    /// The plan for a request that would have `size` real tokens with nothing but the `replayed` edits, at `ratio`
    /// real tokens per estimated one.
    pub fn plan(
        &self,
        transcript: &Transcript,
        sizes: &Sizes,
        replayed: EditSet,
        demand: Demand,
        size: u64,
        ratio: f64,
    ) -> Plan {
        let (goal, limit) = match demand {
            Demand::BelowThreshold | Demand::Cooldown => return Plan::replay(replayed),
            Demand::Prune { goal } => (goal, None),
            Demand::AtRisk { goal, limit } => (goal, Some(limit)),
        };
        let mut plan = Plan::default();
        let mut draft = Draft::new(transcript, sizes, self.rules, self.settings, replayed.clone());
        draft.freeze(self.frozen);
        let mut ladder = Ladder { draft: &mut draft, counter: self.counter, plan: &mut plan };
        let budget = Budget { size, goal, ratio };
        ladder.prune(&budget);
        if let Some(limit) = limit {
            ladder.rescue(&Budget { goal: limit, ..budget });
        } else if size - budget.size_after(plan.saved) < self.settings.trigger_every_n_tokens / LEAST_YIELD {
            return Plan::replay(replayed);
        }
        plan.edits = draft.edits;
        plan
    }

    /// Estimated tokens of all items when sent under `edits`.
    pub fn estimate(sizes: &Sizes, edits: &EditSet) -> u64 {
        let items: u64 = (0..sizes.len()).map(|index| u64::from(sizes.under(edits, index))).sum();
        items + u64::from(sizes.definitions())
    }
}
