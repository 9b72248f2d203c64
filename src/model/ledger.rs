use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Edit, EditSet, Fingerprint, Fold, FoldedRange, Transcript};

/// The edits already shown to the provider. What stands here is said again, in the same bytes, on every later
/// request that holds its target.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    edits: HashMap<Fingerprint, Arc<Edit>>,
    folds: Vec<Arc<Fold>>,
    #[serde(default, skip_serializing_if = "HashSet::is_empty")]
    left_out: HashSet<Fingerprint>,
}

impl Ledger {
    /// Whether nothing was ever edited.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty() && self.folds.is_empty() && self.left_out.is_empty()
    }

    /// How many edits, folds and items to be left out it holds.
    pub fn len(&self) -> usize {
        self.edits.len() + self.folds.len() + self.left_out.len()
    }

    /// Bytes of text it holds: what its memory grows with.
    pub fn text_bytes(&self) -> usize {
        self.edits.values().map(|e| e.text.len()).sum::<usize>()
            + self.folds.iter().map(|f| f.text.len()).sum::<usize>()
    }

    /// What it says about `transcript`. Statements without a target there say nothing.
    pub fn replay(&self, transcript: &Transcript) -> EditSet {
        let mut set = EditSet::default();
        if self.is_empty() {
            return set;
        }
        for (index, item) in transcript.items.iter().enumerate() {
            if let Some(edit) = self.edits.get(&item.fingerprint) {
                set.set(index, Arc::clone(edit));
            }
            if self.left_out.contains(&item.fingerprint) {
                set.leave_out(index);
            }
        }
        for fold in &self.folds {
            if let Some(range) = place(fold, transcript) {
                set.fold(range);
            }
        }
        set
    }

    /// Remembers everything in `set`. An edit replaces a weaker one of the same item; a fold takes the place of
    /// those it covers.
    pub fn remember(&mut self, set: &EditSet, transcript: &Transcript) {
        for (index, edit) in set.edits() {
            let print = transcript.items[index].fingerprint;
            let weaker = self.edits.get(&print).is_none_or(|old| old.strength < edit.strength);
            if weaker {
                self.edits.insert(print, Arc::clone(edit));
            }
        }
        self.left_out.extend(set.left_out().map(|index| transcript.items[index].fingerprint));
        for range in set.folds() {
            let covers = |old: &Arc<Fold>| {
                place(old, transcript)
                    .is_some_and(|o| range.items.start <= o.items.start && o.items.end <= range.items.end)
            };
            if !self.folds.contains(&range.fold) {
                self.folds.retain(|old| !covers(old));
                self.folds.push(Arc::clone(&range.fold));
            }
        }
    }

    /// Takes back everything that `refused` says: the provider did not accept it, so it was never shown.
    pub fn forget(&mut self, refused: &Self) {
        self.edits.retain(|print, _| !refused.edits.contains_key(print));
        self.folds.retain(|fold| !refused.folds.contains(fold));
        self.left_out.retain(|print| !refused.left_out.contains(print));
    }

    /// Keeps at most `limit` statements: those with a target in `transcript` first.
    pub fn shrink_to(&mut self, limit: usize, transcript: &Transcript) {
        if self.len() <= limit {
            return;
        }
        let live: HashSet<_> = transcript.items.iter().map(|i| i.fingerprint).collect();
        self.edits.retain(|print, _| live.contains(print));
        self.folds.retain(|fold| live.contains(&fold.first));
        self.left_out.retain(|print| live.contains(print));
    }
}

/// Where a fold's run stands in a transcript: whole messages, every item as it was.
fn place(fold: &Arc<Fold>, transcript: &Transcript) -> Option<FoldedRange> {
    let items = &transcript.items;
    let start = items.iter().position(|item| item.fingerprint == fold.first)?;
    let run = items.get(start..start + fold.items)?;
    let chain = run.iter().map(|i| i.fingerprint).reduce(Fingerprint::then)?;
    let (first, last) = (run.first()?.message, run.last()?.message);
    let whole = (start == 0 || items[start - 1].message < first)
        && items.get(start + fold.items).is_none_or(|next| next.message > last);
    (chain == fold.chain && whole).then(|| FoldedRange {
        messages: first..last + 1,
        items: start..start + fold.items,
        fold: Arc::clone(fold),
    })
}
