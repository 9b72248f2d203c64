use super::budget::Budget;
use super::guard::{Guard, Reach};
use super::stages::{Detail, FoldBlocks, Hard, Soft, Superseded, Tighten};
use super::{Draft, Plan, Proposal, Protection, Stage};
use crate::model::{ItemKind, Strength, Usage};
use crate::tokens::Cached;

/// How finely the zones are widened: the starts are scaled down to 0 in this many steps.
const WIDENINGS: u32 = 10;
/// From this size on an output goes before smaller ones of the same zone, in tokens: such outputs are few and hold
/// most of the tokens.
const LARGE: u32 = 1_000;
/// The least that is left of a newest output while older steps can still be folded, and after that, in tokens.
const LEAST_NEWEST: [u32; 2] = [600, 200];

/// Climbs from what the configuration asks for to what keeps the window from overflowing.
pub(super) struct Ladder<'a, 'd> {
    pub(super) draft: &'a mut Draft<'d>,
    pub(super) counter: &'a Cached,
    pub(super) plan: &'a mut Plan,
}

impl Ladder<'_, '_> {
    /// Rungs 1 to 3: what was overtaken, the zones as configured, the zones widened as far as `budget` needs.
    pub(super) fn prune(&mut self, budget: &Budget) {
        let in_zones = self.in_zone(self.zone_starts().soft, Reach::Old, Strength::Soft);
        self.take(&Superseded, &in_zones, Reach::Old, 1);
        self.zones(1.0, 2, None);
        for step in (0..WIDENINGS).rev() {
            if budget.is_met(self.plan.saved) {
                return;
            }
            self.zones(f64::from(step) / f64::from(WIDENINGS), 3, Some(budget));
        }
    }

    /// Rungs 4 to 6, for a window at risk: the kept tail shrinks to the newest tool group, the newest outputs are
    /// trimmed, the oldest steps are folded.
    pub(super) fn rescue(&mut self, budget: &Budget) {
        for stage in [&Soft as &dyn Stage, &Hard] {
            let mut recent = self.in_zone(0.0, Reach::Recent, stage.strength());
            self.largest_first(&mut recent);
            self.take_until(stage, &recent, Reach::Recent, 4, budget);
        }
        self.tighten(budget, LEAST_NEWEST[0]);
        for reaches_recent in [false, true] {
            if !budget.is_met(self.plan.saved) {
                let missing = budget.missing(self.plan.saved);
                let fold = FoldBlocks { missing, reaches_recent, counter: self.counter };
                self.take(&fold, &[], if reaches_recent { Reach::Recent } else { Reach::Old }, 6);
            }
        }
        self.tighten(budget, LEAST_NEWEST[1]);
    }

    /// The zones with all starts scaled by `scale`: everything in them, or largest first until `budget` is met.
    fn zones(&mut self, scale: f64, rung: u8, budget: Option<&Budget>) {
        let starts = self.zone_starts();
        let stages: [(&dyn Stage, f64); 3] =
            [(&Detail, starts.detail), (&Hard, starts.hard), (&Soft, starts.soft)];
        for (stage, start) in stages {
            if start >= Usage::LARGEST as f64 {
                continue;
            }
            let mut zone = self.in_zone(start * scale, Reach::Old, stage.strength());
            match budget {
                None => self.take(stage, &zone, Reach::Old, rung),
                Some(budget) => {
                    self.largest_first(&mut zone);
                    self.take_until(stage, &zone, Reach::Old, rung, budget);
                }
            }
        }
    }

    fn tighten(&mut self, budget: &Budget, least: u32) {
        if budget.is_met(self.plan.saved) {
            return;
        }
        let newest: Vec<usize> = (0..self.draft.items().len())
            .filter(|&i| matches!(self.draft.protection[i], Some(Protection::NewestGroup)))
            .filter(|&i| self.draft.items()[i].is_tool_result())
            .collect();
        let sizes: Vec<u32> = newest.iter().map(|&i| self.draft.tokens(i)).collect();
        let stage = Tighten::level_for(&sizes, budget.missing(self.plan.saved), least);
        self.take(&stage, &newest, Reach::Newest, 5);
    }

    /// Items that are at least as old as `start` and may be touched by an edit of `strength`.
    fn in_zone(&self, start: f64, reach: Reach, strength: Strength) -> Vec<usize> {
        let guard = Guard { counter: self.counter, reach };
        (0..self.draft.items().len())
            .filter(|&index| !matches!(self.draft.items()[index].kind, ItemKind::ToolCall(_)))
            .filter(|&index| self.draft.is_older(index, start))
            .filter(|&index| guard.may_touch(self.draft, index, strength).is_ok())
            .collect()
    }

    fn largest_first(&self, indices: &mut [usize]) {
        let large = |index: &usize| self.draft.tokens(*index) >= LARGE;
        indices.sort_by_key(|index| (!large(index), *index));
    }

    fn take(&mut self, stage: &dyn Stage, among: &[usize], reach: Reach, rung: u8) {
        for proposal in stage.propose(self.draft, among) {
            self.admit(proposal, stage, reach, rung);
        }
    }

    fn take_until(&mut self, stage: &dyn Stage, among: &[usize], reach: Reach, rung: u8, budget: &Budget) {
        for &index in among {
            if budget.is_met(self.plan.saved) {
                return;
            }
            self.take(stage, &[index], reach, rung);
        }
    }

    fn admit(&mut self, proposal: Proposal, stage: &dyn Stage, reach: Reach, rung: u8) {
        let guard = Guard { counter: self.counter, reach };
        // A refusal is an answer, not a fault: the next candidate may do.
        if let Ok(step) = guard.admit(self.draft, proposal, stage.name(), rung) {
            self.plan.saved += u64::from(step.before.saturating_sub(step.after));
            self.plan.steps.push(step);
        }
    }

    fn zone_starts(&self) -> Starts {
        let settings = self.draft.settings;
        Starts {
            soft: settings.soft_threshold,
            hard: settings.hard_threshold,
            detail: settings.detail_threshold,
        }
    }
}

/// Where the zones begin.
struct Starts {
    soft: f64,
    hard: f64,
    detail: f64,
}
