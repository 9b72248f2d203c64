use std::ops::Range;

use crate::model::{EditSet, Item, ItemKind, PartKind, Transcript};
use crate::tokens::Cached;

/// Framing of a message (role and delimiters), in tokens; as OpenAI documents for its chat format.
const FRAMING: u32 = 4;
/// Bytes of JSON a token holds, for what is not counted exactly: tool definitions, unknown members.
const BYTES_PER_TOKEN: usize = 4;

/// How large every item is, unpruned, in estimated tokens.
#[derive(Debug, Clone)]
pub struct Sizes {
    items: Vec<u32>,
    definitions: u32,
}

/// What is known of the items' sizes without counting.
#[derive(Debug)]
pub struct Known {
    /// By item: the tokens of its text.
    texts: Vec<Option<u32>>,
    uncounted_bytes: usize,
}

impl Known {
    /// Looks up what was counted before.
    pub fn look_up(transcript: &Transcript, counter: &Cached) -> Self {
        let texts: Vec<_> = transcript.items.iter().map(|item| counter.known(&item.content)).collect();
        let unknown = transcript.items.iter().zip(&texts).filter(|(_, known)| known.is_none());
        let uncounted_bytes = unknown.map(|(item, _)| item.text_bytes()).sum();
        Self { texts, uncounted_bytes }
    }

    /// Bytes of text that were never counted.
    pub fn uncounted_bytes(&self) -> usize {
        self.uncounted_bytes
    }

    /// Counts the rest of the same transcript.
    pub fn count(&self, transcript: &Transcript, counter: &Cached, image_tokens: u32) -> Sizes {
        let mut message = None;
        let size = |(index, item): (usize, &Item)| {
            let text =
                self.texts[index].unwrap_or_else(|| counter.count(item.content, || transcript.text(index)));
            let starts_message = message.replace(item.message) != Some(item.message);
            text + around_text(item, image_tokens) + if starts_message { FRAMING } else { 0 }
        };
        Sizes {
            items: transcript.items.iter().enumerate().map(size).collect(),
            definitions: (transcript.definition_bytes / BYTES_PER_TOKEN) as u32,
        }
    }
}

impl Sizes {
    /// Counts what was never counted, looks up the rest.
    pub fn count(transcript: &Transcript, counter: &Cached, image_tokens: u32) -> Self {
        Known::look_up(transcript, counter).count(transcript, counter, image_tokens)
    }

    /// Tokens of the item at `index`.
    pub fn of(&self, index: usize) -> u32 {
        self.items[index]
    }

    /// Tokens of the item at `index` when sent under `edits`. A fold counts with its first item.
    pub fn under(&self, edits: &EditSet, index: usize) -> u32 {
        if let Some(edit) = edits.get(index) {
            return self.of(index).saturating_sub(edit.saved());
        }
        if edits.is_left_out(index) {
            return 0;
        }
        match edits.folds().iter().find(|range| range.items.contains(&index)) {
            Some(range) if range.items.start == index => range.fold.tokens_after,
            Some(_) => 0,
            None => self.of(index),
        }
    }

    /// Tokens of a run of items, unpruned.
    pub fn raw(&self, run: Range<usize>) -> u64 {
        self.items[run].iter().copied().map(u64::from).sum()
    }

    /// Tokens of a run of items when sent under `edits`: the sum of what [`under`](Self::under) says of each, at the
    /// cost of asking only for those that are changed.
    pub fn sum(&self, run: Range<usize>, edits: &EditSet) -> u64 {
        let mut sum = self.raw(run.clone());
        let left_out = edits.left_out().filter(|index| edits.get(*index).is_none());
        let changed = edits.edits().map(|(index, _)| index).chain(left_out);
        for index in changed.filter(|index| run.contains(index)) {
            sum = sum - u64::from(self.of(index)) + u64::from(self.under(edits, index));
        }
        for fold in edits.folds() {
            let (start, end) = (fold.items.start.max(run.start), fold.items.end.min(run.end));
            sum -= if start < end { self.raw(start..end) } else { 0 };
            sum += if run.contains(&fold.items.start) { u64::from(fold.fold.tokens_after) } else { 0 };
        }
        sum
    }

    /// Tokens of the tool definitions.
    pub fn definitions(&self) -> u32 {
        self.definitions
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// An upper bound on the tokens of the items from `from` on, made without counting: a token is at least a byte.
    pub fn bound(transcript: &Transcript, from: usize, image_tokens: u32) -> u64 {
        transcript.items[from..]
            .iter()
            .map(|item| {
                let bytes: usize =
                    item.parts.iter().filter(|p| !p.kind.is_image()).map(|p| p.span.len()).sum();
                (bytes + item.images() * image_tokens as usize) as u64 + u64::from(FRAMING)
            })
            .sum()
    }
}

/// Tokens of all of an item that is not text.
fn around_text(item: &Item, image_tokens: u32) -> u32 {
    let images = item.images() as u32 * image_tokens;
    let other: usize = item.parts.iter().filter(|p| p.kind == PartKind::Other).map(|p| p.span.len()).sum();
    let name = match &item.kind {
        ItemKind::ToolCall(call) => call.name.len() / BYTES_PER_TOKEN + FRAMING as usize,
        _ => 0,
    };
    images + (other / BYTES_PER_TOKEN + name) as u32
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::model::{Edit, Fingerprint, Fold, FoldedRange, Strength};

    fn edit(tokens_before: u32, tokens_after: u32) -> Arc<Edit> {
        Arc::new(Edit { text: "…".into(), strength: Strength::Hard, tokens_before, tokens_after })
    }

    fn fold(items: Range<usize>, tokens_after: u32) -> FoldedRange {
        let print = Fingerprint::default();
        let fold = Fold {
            first: print,
            items: items.len(),
            chain: print,
            text: "…".into(),
            tokens_before: 0,
            tokens_after,
        };
        FoldedRange { messages: items.clone(), items, fold: Arc::new(fold) }
    }

    proptest! {
        #[test]
        fn a_sum_is_that_of_its_items(
            items in vec(0..5_000_u32, 20),
            edits in vec((0..20_usize, 0..5_000_u32, 0..900_u32), 0..9),
            left_out in vec(0..20_usize, 0..5),
            folds in vec((0..20_usize, 1..8_usize, 0..900_u32), 0..4),
            run in (0..20_usize, 0..=20_usize),
        ) {
            let sizes = Sizes { items, definitions: 0 };
            let mut set = EditSet::default();
            for (index, before, after) in edits {
                set.set(index, edit(before, after));
            }
            for index in left_out {
                set.leave_out(index);
            }
            for (start, length, after) in folds {
                set.fold(fold(start..(start + length).min(20), after));
            }
            let run = run.0..run.1.max(run.0);
            let each: u64 = run.clone().map(|index| u64::from(sizes.under(&set, index))).sum();
            prop_assert_eq!(sizes.sum(run, &set), each);
        }
    }
}
