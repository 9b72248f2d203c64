use std::sync::Arc;

use super::Draft;
use crate::model::{Fold, Strength};
use std::ops::Range;

/// A way to make items smaller. Pure: it reads the draft and says what it would do; the guard decides.
pub trait Stage: Send + Sync {
    /// Its name in the configuration, logs and metrics.
    fn name(&self) -> &'static str;

    /// How much its edits take away.
    fn strength(&self) -> Strength;

    /// What it would do to the items in `among`, in their order. Items it has nothing to say about are left out.
    fn propose(&self, draft: &Draft<'_>, among: &[usize]) -> Vec<Proposal>;
}

/// What a stage would do.
#[derive(Debug, Clone)]
pub enum Proposal {
    /// One item's text becomes another.
    Replace {
        /// Which item.
        index: usize,
        /// Its new text, whole.
        text: String,
        /// How much is taken away.
        strength: Strength,
    },
    /// A run of whole messages becomes one short message.
    Fold {
        /// The items of the run.
        items: Range<usize>,
        /// The messages of the run.
        messages: Range<usize>,
        /// What stands for them.
        fold: Arc<Fold>,
    },
}
