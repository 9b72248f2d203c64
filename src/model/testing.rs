//! Conversations written by hand, for the tests of all rooms that know no wire format.

use std::collections::HashMap;

use super::{Fingerprint, Item, ItemKind, Part, PartKind, Role, Span, ToolCall, ToolResult, Transcript};

/// Builds a transcript message by message.
#[derive(Default)]
pub(crate) struct Script {
    source: Vec<u8>,
    items: Vec<Item>,
    messages: usize,
    seen: HashMap<Fingerprint, u64>,
    session_id: Option<String>,
}

impl Script {
    /// The body names this session.
    pub(crate) fn of_session(self, id: Option<&str>) -> Self {
        Self { session_id: id.map(str::to_owned), ..self }
    }

    pub(crate) fn system(self, text: &str) -> Self {
        self.message(ItemKind::Message { role: Role::System }, text)
    }

    pub(crate) fn user(self, text: &str) -> Self {
        self.message(ItemKind::Message { role: Role::User }, text)
    }

    pub(crate) fn reply(self, text: &str) -> Self {
        self.message(ItemKind::Message { role: Role::Assistant }, text)
    }

    /// A message that is thinking alone.
    pub(crate) fn thought(self, text: &str) -> Self {
        self.message(ItemKind::Reasoning, text)
    }

    /// A message that is not understood.
    pub(crate) fn opaque(self, text: &str) -> Self {
        self.message(ItemKind::Opaque, text)
    }

    /// An assistant message that makes one call.
    pub(crate) fn call(self, id: &str, tool: &str, arguments: &str) -> Self {
        let call = ToolCall { id: id.into(), name: tool.into() };
        self.message(ItemKind::ToolCall(call), arguments)
    }

    /// The answer to the newest call of this id; a lone one if there is none.
    pub(crate) fn result(self, id: &str, text: &str) -> Self {
        let is_call = |item: &Item| matches!(&item.kind, ItemKind::ToolCall(call) if &*call.id == id);
        let call = self.items.iter().rposition(is_call);
        self.message(ItemKind::ToolResult(ToolResult { id: id.into(), call, is_error: false }), text)
    }

    /// A call and its answer.
    pub(crate) fn step(self, id: &str, tool: &str, arguments: &str, output: &str) -> Self {
        self.call(id, tool, arguments).result(id, output)
    }

    /// Puts the last item into the message of the one before it.
    pub(crate) fn joined(mut self) -> Self {
        if let [.., before, last] = self.items.as_mut_slice() {
            self.messages -= usize::from(before.message < last.message);
            last.message = before.message;
        }
        self
    }

    /// A block of thinking in a message of its own.
    pub(crate) fn thinking(self, text: &str) -> Self {
        self.message(ItemKind::Reasoning, text)
    }

    pub(crate) fn transcript(self) -> Transcript {
        let is_user = |item: &&Item| item.kind == ItemKind::Message { role: Role::User };
        let mut chain = Vec::new();
        self.items.iter().for_each(|item| Fingerprint::lengthen(&mut chain, item.fingerprint));
        Transcript {
            source: self.source.into(),
            chain: chain.into(),
            opening: self.items.iter().find(is_user).map(|item| item.content),
            items: self.items.into(),
            messages: self.messages,
            model: "m".into(),
            output_limit: None,
            definition_bytes: 0,
            is_continued: false,
            session_id: self.session_id,
        }
    }

    fn message(mut self, kind: ItemKind, text: &str) -> Self {
        let literal = serde_json::to_string(text).expect("a string can be written");
        let span = Span { start: self.source.len(), end: self.source.len() + literal.len() };
        self.source.extend_from_slice(literal.as_bytes());
        let base = Fingerprint::of(&[format!("{kind:?}").as_bytes(), literal.as_bytes()]);
        let before = self.seen.entry(base).or_default();
        let fingerprint = Fingerprint::of(&[base.to_string().as_bytes(), &before.to_le_bytes()]);
        *before += 1;
        self.items.push(Item {
            kind,
            message: self.messages,
            fingerprint,
            content: Fingerprint::of(&[literal.as_bytes()]),
            parts: std::iter::once(Part { kind: PartKind::Text, span, element: span, carries_more: false })
                .collect(),
        });
        self.messages += 1;
        self
    }
}
