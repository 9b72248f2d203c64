use crate::model::EditSet;

/// What is to be sent, and what is new in it.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// Everything to be changed: what was said before and what is new.
    pub edits: EditSet,
    /// What is new, in the order it was admitted.
    pub steps: Vec<Step>,
    /// Estimated tokens that the new steps take away.
    pub saved: u64,
}

/// One admitted proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The stage that proposed it.
    pub stage: &'static str,
    /// The rung of the ladder, from 1, on which it was taken.
    pub rung: u8,
    /// The item, or the first item of the run.
    pub index: usize,
    /// Tokens there before, as it would have been sent without the step.
    pub before: u32,
    /// Tokens there after.
    pub after: u32,
}

impl Plan {
    /// A plan that says again what was said before.
    pub fn replay(edits: EditSet) -> Self {
        Self { edits, ..Self::default() }
    }

    /// Steps and saved tokens by stage, in the order of first use.
    pub fn by_stage(&self) -> Vec<(&'static str, usize, u64)> {
        let mut sums: Vec<(&'static str, usize, u64)> = Vec::new();
        for step in &self.steps {
            let saved = u64::from(step.before.saturating_sub(step.after));
            match sums.iter_mut().find(|(stage, ..)| *stage == step.stage) {
                Some(sum) => (sum.1, sum.2) = (sum.1 + 1, sum.2 + saved),
                None => sums.push((step.stage, 1, saved)),
            }
        }
        sums
    }
}
