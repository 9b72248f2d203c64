use crate::model::{EditSet, ItemKind, PartKind, Transcript};
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

impl Sizes {
    /// Counts what was never counted, looks up the rest.
    pub fn count(transcript: &Transcript, counter: &Cached, image_tokens: u32) -> Self {
        Self {
            items: (0..transcript.items.len())
                .map(|index| item_size(transcript, index, counter, image_tokens))
                .collect(),
            definitions: (transcript.definition_bytes / BYTES_PER_TOKEN) as u32,
        }
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

    /// Bytes of text in `transcript` that were never counted.
    pub fn uncounted_bytes(transcript: &Transcript, counter: &Cached) -> usize {
        let unknown = transcript.items.iter().filter(|item| counter.known(&item.content).is_none());
        unknown.map(crate::model::Item::text_bytes).sum()
    }
}

fn item_size(transcript: &Transcript, index: usize, counter: &Cached, image_tokens: u32) -> u32 {
    let item = &transcript.items[index];
    let text = counter.count(item.content, || transcript.text(index));
    let images = item.images() as u32 * image_tokens;
    let other: usize = item.parts.iter().filter(|p| p.kind == PartKind::Other).map(|p| p.span.len()).sum();
    let starts_message = index == 0 || transcript.items[index - 1].message != item.message;
    let name = match &item.kind {
        ItemKind::ToolCall(call) => call.name.len() / BYTES_PER_TOKEN + FRAMING as usize,
        _ => 0,
    };
    text + images + (other / BYTES_PER_TOKEN + name) as u32 + if starts_message { FRAMING } else { 0 }
}
