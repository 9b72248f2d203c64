use super::placeholder;
use crate::model::Strength;
use crate::prune::{Draft, HARD_PLACEHOLDER, Proposal, Stage};

/// The output becomes the placeholder.
pub struct Hard;

impl Stage for Hard {
    fn name(&self) -> &'static str {
        "hard"
    }

    fn strength(&self) -> Strength {
        Strength::Hard
    }

    fn propose(&self, draft: &Draft<'_>, among: &[usize]) -> Vec<Proposal> {
        among
            .iter()
            .map(|&index| Proposal::Replace { index, text: text(draft, index), strength: Strength::Hard })
            .collect()
    }
}

/// The placeholder of the output at `index`.
pub(super) fn text(draft: &Draft<'_>, index: usize) -> String {
    placeholder::fill(draft, index, &draft.settings.hard_clear_placeholder, HARD_PLACEHOLDER)
}
