use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;

use super::{Fingerprint, Item, ItemKind, Part, PartKind, ToolCall};

/// A request's conversation, free of its wire format: items in order, and the few facts around them that pruning
/// and sessions need.
#[derive(Debug, Clone)]
pub struct Transcript {
    /// The request body that all spans point into.
    pub source: Bytes,
    /// The items, in the order sent.
    pub items: Arc<Vec<Item>>,
    /// By item: the identity of the conversation up to and with it, a chain over the fingerprints.
    pub chain: Arc<Vec<Fingerprint>>,
    /// How many wire messages (list entries) there are.
    pub messages: usize,
    /// The model asked for; empty when none was named.
    pub model: String,
    /// The request's own limit on the answer, in tokens.
    pub output_limit: Option<u64>,
    /// Bytes of what is sent with every request but is no item: tool definitions, and instructions that stand
    /// outside the list.
    pub definition_bytes: usize,
    /// A session id found in the body (`session_id`, or inside `metadata`).
    pub session_id: Option<String>,
    /// Whether the provider holds an earlier part of the conversation that is not sent. Its figures then do not
    /// measure what is sent, and results may stand without their calls.
    pub is_continued: bool,
    /// Identity of what the conversation opens with: the system text in front and the first user text. `None`
    /// when there is no user text.
    pub opening: Option<Fingerprint>,
}

impl Transcript {
    /// The text of one part, a JSON value as it is written; `None` when it has none.
    pub fn part_text(&self, part: &Part) -> Option<Cow<'_, str>> {
        let literal = part.span.slice(&self.source);
        match part.kind {
            PartKind::Text => {}
            PartKind::Json => return std::str::from_utf8(literal).ok().map(Cow::Borrowed),
            _ => return None,
        }
        let inner = literal.get(1..literal.len().checked_sub(1)?)?;
        if memchr::memchr(b'\\', inner).is_none() {
            return std::str::from_utf8(inner).ok().map(Cow::Borrowed);
        }
        serde_json::from_slice::<String>(literal).ok().map(Cow::Owned)
    }

    /// The text of an item: that of its parts, joined by line feeds. Empty when it has none.
    pub fn text(&self, index: usize) -> Cow<'_, str> {
        let mut texts = self.items[index].parts.iter().filter_map(|part| self.part_text(part));
        let first = texts.next().unwrap_or_default();
        texts.fold(first, |mut joined, text| {
            joined.to_mut().push('\n');
            joined.to_mut().push_str(&text);
            joined
        })
    }

    /// The call that the result at `index` answers.
    pub fn call_of(&self, index: usize) -> Option<&ToolCall> {
        let ItemKind::ToolResult(result) = &self.items[index].kind else { return None };
        match &self.items[result.call?].kind {
            ItemKind::ToolCall(call) => Some(call),
            _ => None,
        }
    }
}
