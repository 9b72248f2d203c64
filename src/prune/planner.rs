use super::budget::Budget;
use super::ladder::Ladder;
use super::{Demand, Draft, Plan, Rules, Settings, Sizes};
use crate::model::{EditSet, Transcript};
use crate::tokens::Cached;

/// A prune must take away at least this part of `trigger_every_n_tokens`: less than that does not pay for the
/// provider's prefix cache, which it costs from the first edit on.
const LEAST_YIELD: u64 = 16;

/// What a plan is for.
#[derive(Debug, Clone, Copy)]
pub struct Aim {
    /// What the gate demands.
    pub demand: Demand,
    /// Real tokens of the request with nothing but earlier edits.
    pub size: u64,
    /// Real tokens per estimated one.
    pub ratio: f64,
}

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
    /// The plan for a request that carries the `replayed` edits already.
    pub fn plan(&self, transcript: &Transcript, sizes: &Sizes, replayed: EditSet, aim: Aim) -> Plan {
        let Aim { demand, size, ratio } = aim;
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
        sizes.sum(0..sizes.len(), edits) + u64::from(sizes.definitions())
    }
}
