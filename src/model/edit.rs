use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Fingerprint, ItemKind, Transcript};

/// How much an edit takes away. A later prune may replace an edit only by a stronger one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strength {
    /// Head, tail and evidence stay.
    Soft,
    /// A placeholder, or a short account, stands for all of it.
    Hard,
    /// The oldest blocks: an account of what happened.
    Detail,
    /// Calls and results together are one line.
    Fold,
}

impl Strength {
    /// Its name in logs, metrics and configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Soft => "soft",
            Self::Hard => "hard",
            Self::Detail => "detail",
            Self::Fold => "fold",
        }
    }
}

/// A statement about one item: its text becomes this one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// The new text, whole.
    pub text: Arc<str>,
    /// How much it takes away.
    pub strength: Strength,
    /// Tokens of the original text.
    pub tokens_before: u32,
    /// Tokens of the new text.
    pub tokens_after: u32,
}

impl Edit {
    /// Tokens it takes away.
    pub fn saved(&self) -> u32 {
        self.tokens_before.saturating_sub(self.tokens_after)
    }
}

/// A statement about a run of whole messages, calls and results together: one short message stands for them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fold {
    /// Fingerprint of the first item of the run, by which it is found again.
    pub first: Fingerprint,
    /// How many items the run has.
    pub items: usize,
    /// Chain over the fingerprints of all its items: the run is found only as a whole.
    pub chain: Fingerprint,
    /// The text of the message that stands for it.
    pub text: Arc<str>,
    /// Tokens of the run, unpruned.
    pub tokens_before: u32,
    /// Tokens of the message that stands for it.
    pub tokens_after: u32,
}

/// A fold, placed in one transcript.
#[derive(Debug, Clone)]
pub struct FoldedRange {
    /// Wire messages that it replaces.
    pub messages: Range<usize>,
    /// Items that it replaces.
    pub items: Range<usize>,
    /// What stands for them.
    pub fold: Arc<Fold>,
}

/// Everything that is to be changed in one request: at most one edit an item, and no edit inside a fold. Beside texts
/// that are replaced there may be reasoning that is left out: a provider may refuse it behind an edit.
#[derive(Debug, Clone, Default)]
pub struct EditSet {
    edits: BTreeMap<usize, Arc<Edit>>,
    folds: Vec<FoldedRange>,
    left_out: BTreeSet<usize>,
}

impl EditSet {
    /// Whether nothing is to be changed.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty() && self.folds.is_empty() && self.left_out.is_empty()
    }

    /// How many statements it holds.
    pub fn len(&self) -> usize {
        self.edits.len() + self.folds.len() + self.left_out.len()
    }

    /// Sets the edit of the item at `index`; ignored inside a fold.
    pub fn set(&mut self, index: usize, edit: Arc<Edit>) {
        if !self.is_folded(index) {
            self.edits.insert(index, edit);
        }
    }

    /// Leaves the item at `index` out; ignored inside a fold. A format that does not allow it says the item anyway.
    pub fn leave_out(&mut self, index: usize) {
        if !self.is_folded(index) {
            self.left_out.insert(index);
        }
    }

    /// Leaves out all reasoning behind the item at `index`; returns how many items more that are.
    pub fn leave_out_reasoning(&mut self, transcript: &Transcript, index: usize) -> usize {
        let before = self.left_out.len();
        let behind = transcript.items.iter().enumerate().skip(index + 1);
        behind.filter(|(_, item)| item.kind == ItemKind::Reasoning).for_each(|(i, _)| self.leave_out(i));
        self.left_out.len() - before
    }

    /// Adds a fold. Edits and folds that lie inside it go; one that overlaps an earlier fold in part is refused,
    /// and the answer is then `false`.
    pub fn fold(&mut self, range: FoldedRange) -> bool {
        let inside = |other: &Range<usize>| range.items.start <= other.start && other.end <= range.items.end;
        let apart = |other: &Range<usize>| other.end <= range.items.start || range.items.end <= other.start;
        if range.items.is_empty() || !self.folds.iter().all(|f| inside(&f.items) || apart(&f.items)) {
            return false;
        }
        self.folds.retain(|f| !inside(&f.items));
        self.edits.retain(|index, _| !range.items.contains(index));
        self.left_out.retain(|index| !range.items.contains(index));
        let place = self.folds.partition_point(|f| f.items.start < range.items.start);
        self.folds.insert(place, range);
        true
    }

    /// The edit of the item at `index`.
    pub fn get(&self, index: usize) -> Option<&Arc<Edit>> {
        self.edits.get(&index)
    }

    /// Whether the item at `index` is left out.
    pub fn is_left_out(&self, index: usize) -> bool {
        self.left_out.contains(&index)
    }

    /// The items that are left out, ascending.
    pub fn left_out(&self) -> impl Iterator<Item = usize> {
        self.left_out.iter().copied()
    }

    /// The first item whose text is another than under `earlier`; `None` when all are the same.
    pub fn first_change_since(&self, earlier: &Self) -> Option<usize> {
        let edited =
            self.edits().filter(|(index, edit)| earlier.get(*index) != Some(edit)).map(|(index, _)| index);
        let is_old = |fold: &FoldedRange| earlier.folds.iter().any(|old| old.fold == fold.fold);
        let folded = self.folds.iter().filter(|fold| !is_old(fold)).map(|fold| fold.items.start);
        edited.chain(folded).min()
    }

    /// Whether the item at `index` lies inside a fold.
    pub fn is_folded(&self, index: usize) -> bool {
        self.folds.iter().any(|f| f.items.contains(&index))
    }

    /// The edits by item index, ascending.
    pub fn edits(&self) -> impl Iterator<Item = (usize, &Arc<Edit>)> {
        self.edits.iter().map(|(index, edit)| (*index, edit))
    }

    /// The folds, in order, none overlapping.
    pub fn folds(&self) -> &[FoldedRange] {
        &self.folds
    }
}
