use std::sync::Arc;

use super::commit::remember;
use super::prepare::{label, marks};
use super::reading::Reading;
use super::request::Kept;
use super::{Cause, Mode, Outcome, Pipeline, Recovery, Turn};
use crate::prune::{Aim, Demand, Gate, Plan, Planner, Sizes};
use crate::wire::{Overflow, read_overflow, read_thinking_refusal};

/// How often a request is sent again.
const TRIES: u8 = 2;
/// The share of the limit to go down to, by try: the figures of a refusal are the provider's own, those of the next
/// request are estimates.
const GOALS: [f64; TRIES as usize] = [0.9, 0.75];
/// The share of the present size to go down to, by try, when the provider tells no limit.
const GOALS_WITHOUT_LIMIT: [f64; TRIES as usize] = [0.75, 0.5];

impl Pipeline {
    /// After an answer that may say the request was too large, or that an edit made signed thinking invalid: what to
    /// send instead. `None` hands the answer on: it was neither, the request was sent again often enough, or nothing
    /// in it can be pruned far enough.
    pub async fn recover(&self, turn: &mut Turn, status: u16, answer: &[u8]) -> Option<Recovery> {
        if read_thinking_refusal(status, answer).is_some() {
            return self.give_way(turn).await;
        }
        let overflow = read_overflow(status, answer)?;
        if let Some(limit) = overflow.limit {
            self.learnt.window_is(&turn.upstream, &turn.model, limit);
        }
        if self.mode != Mode::Prune || turn.recoveries >= TRIES {
            return None;
        }
        let Kept { reading, edits, sizes } = turn.kept.take()?;
        let sizes = match sizes {
            Some(sizes) => sizes,
            None => Arc::new(self.count(&reading).await.ok()?),
        };
        let estimate = Planner::estimate(&sizes, &edits);
        let refused = Refused::new(&overflow, estimate, turn);
        let demand = Demand::AtRisk { goal: refused.goal, limit: refused.goal };
        let aim = Aim { demand, size: refused.size, ratio: refused.ratio };
        let plan = self.plan(&turn.codec, &reading, &sizes, edits, aim).await.ok()?;
        let size_after = refused.size.saturating_sub((plan.saved as f64 * refused.ratio) as u64);
        if plan.steps.is_empty() || size_after > refused.limit {
            return None;
        }
        let transcript = &reading.decoded.transcript;
        let change = |session: &mut _| remember(session, &plan, transcript);
        let stored = self.update(&turn.key, turn.explicit_id.as_deref(), change).await;
        let stored = stored
            .inspect_err(|error| {
                let error = error as &dyn std::error::Error;
                tracing::warn!(error, "a recovery could not be stored; it is not made");
            })
            .ok()?;
        self.debug.show_plan(&label(&turn.key, turn.explicit_id.as_deref()), transcript, &plan);
        let body = turn.codec.render(&reading.decoded, &plan.edits);
        let recovery = Recovery {
            body,
            outcome: Outcome::Pruned,
            cause: Cause::Overflow,
            asked: overflow.asked,
            limit: overflow.limit,
            tokens_after: Some(size_after),
            prune: Some(stored.prunes),
            pruned: plan.by_stage(),
        };
        turn.sent_again(reading, sizes, plan);
        Some(recovery)
    }
}

/// What a refusal tells, in the provider's tokens.
struct Refused {
    size: u64,
    limit: u64,
    goal: u64,
    ratio: f64,
}

impl Refused {
    fn new(overflow: &Overflow, estimate: u64, turn: &Turn) -> Self {
        let expected = (estimate as f64 * turn.standing.ratio) as u64;
        let attempt = usize::from(turn.recoveries);
        let size = overflow.asked.unwrap_or(expected.max(overflow.limit.unwrap_or(0) + 1));
        // Some providers count the answer's limit in; it cannot be pruned.
        let answer = turn.standing.figures.output_limit.filter(|answer| {
            overflow.asked.is_some()
                && size > *answer
                && (size - answer).abs_diff(expected) < size.abs_diff(expected)
        });
        let answer = answer.unwrap_or(0);
        let size = size - answer;
        let (limit, goal) = match overflow.limit {
            Some(limit) => {
                // By the gate's own reckoning, so that what is sent now is not at risk again at once.
                let goal = Gate::room(limit, GOALS[attempt], turn.standing.figures.output_limit);
                let limit = limit.saturating_sub(answer);
                (limit, goal.min(limit))
            }
            None => (size, (size as f64 * GOALS_WITHOUT_LIMIT[attempt]) as u64),
        };
        // With a part of the conversation at the provider, its count is no measure of what can be pruned.
        let ratio =
            if turn.is_continued { turn.standing.ratio } else { size as f64 / estimate.max(1) as f64 };
        Self { size, limit, goal, ratio }
    }
}

impl Turn {
    fn sent_again(&mut self, reading: Arc<Reading>, sizes: Arc<Sizes>, plan: Plan) {
        self.recoveries += 1;
        self.pruned = true;
        self.estimate = Some(Planner::estimate(&sizes, &plan.edits));
        self.saved += plan.saved;
        self.marks = marks(&reading, Some(&sizes), &plan.edits);
        self.kept = Some(Kept { reading, edits: plan.edits, sizes: Some(sizes) });
    }
}
