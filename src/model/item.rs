use std::sync::Arc;

use smallvec::SmallVec;

use super::Fingerprint;

/// A range of bytes in the request body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset behind the last byte.
    pub end: usize,
}

impl Span {
    /// Its length in bytes.
    pub fn len(self) -> usize {
        self.end - self.start
    }

    /// Whether it holds nothing.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The bytes of `body` in this range.
    pub fn slice(self, body: &[u8]) -> &[u8] {
        &body[self.start..self.end]
    }
}

/// Who speaks in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// The instructions in front; also `developer`.
    System,
    /// The person, or the program that speaks for one.
    User,
    /// The model.
    Assistant,
}

/// The smallest thing one can prune: one message text, one tool call, one tool output, one reasoning block.
#[derive(Debug, Clone)]
pub struct Item {
    /// What it is.
    pub kind: ItemKind,
    /// Position, from 0, of the wire message (list entry) it stands in. Items of one message follow each other.
    pub message: usize,
    /// Identity across requests: of kind, call id, arguments and original content, and of how often the very
    /// same stood before it.
    pub fingerprint: Fingerprint,
    /// Identity of the content alone, whatever item it stands in: the key of cached token counts, and how a
    /// text that comes again is known.
    pub content: Fingerprint,
    /// Its pieces, in order. Empty when there is nothing to read (content null or absent).
    pub parts: Parts,
}

/// The pieces of an item. Nearly all have one, which then costs no allocation: items are copied every turn.
pub type Parts = SmallVec<[Part; 1]>;

impl Item {
    /// Bytes of its text as written in the body: with escapes, so never fewer than its characters or tokens.
    pub fn text_bytes(&self) -> usize {
        self.parts.iter().filter(|p| p.kind.is_readable()).map(|p| p.span.len()).sum()
    }

    /// How many of its parts are images.
    pub fn images(&self) -> usize {
        self.parts.iter().filter(|p| p.kind.is_image()).count()
    }

    /// How many of its parts are images that an edit takes away.
    pub fn loose_images(&self) -> usize {
        self.parts.iter().filter(|p| p.kind == PartKind::Image).count()
    }

    /// Index of the call that it answers.
    pub fn answers(&self) -> Option<usize> {
        match &self.kind {
            ItemKind::ToolResult(result) => result.call,
            _ => None,
        }
    }

    /// Whether it is the output of a tool.
    pub fn is_tool_result(&self) -> bool {
        matches!(self.kind, ItemKind::ToolResult(_))
    }

    /// Whether it is said to the model: by the user, or as instructions.
    pub fn is_asked(&self) -> bool {
        matches!(self.kind, ItemKind::Message { role: Role::User | Role::System })
    }
}

/// What an item is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemKind {
    /// The text of a message.
    Message {
        /// Who says it.
        role: Role,
    },
    /// Thinking, summarised or encrypted reasoning. Never edited.
    Reasoning,
    /// A call the model makes. Its one part is the arguments.
    ToolCall(ToolCall),
    /// What a tool answered.
    ToolResult(ToolResult),
    /// Something not understood. Never touched.
    Opaque,
}

/// A call the model makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// The id that its result names; empty where the format has none.
    pub id: Arc<str>,
    /// The tool's name.
    pub name: Arc<str>,
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// The id of the call it answers, as sent; empty where the format has none.
    pub id: Arc<str>,
    /// Index, in the transcript's items, of the call it answers. `None` for a lone result, which is legal.
    pub call: Option<usize>,
    /// Whether the client marked it as an error.
    pub is_error: bool,
}

/// A piece of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// What it is.
    pub kind: PartKind,
    /// For text: the JSON string literal, quotes included. Otherwise the whole value.
    pub span: Span,
    /// The list element it is, when the content is a list of parts; the same as `span` when it is a bare string.
    pub element: Span,
    /// Whether the element has members that must survive (a cache marker, a vendor's field): everything but its
    /// type and its text. Such an element is never dropped from its list.
    pub carries_more: bool,
}

/// What a part is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartKind {
    /// Text that can be read: a JSON string literal without lone surrogates.
    Text,
    /// A JSON value that is read as it is written: the arguments of a call, where they are no string. Never touched.
    Json,
    /// An image, by URL or inline, in a list of parts.
    Image,
    /// An image where nothing but an image may stand, or a document that is no text. Never touched.
    FixedImage,
    /// Anything else: null, audio, files, kinds unknown. Never touched.
    Other,
}

impl PartKind {
    /// Whether it has a text.
    pub fn is_readable(self) -> bool {
        matches!(self, Self::Text | Self::Json)
    }

    /// Whether it counts as an image.
    pub fn is_image(self) -> bool {
        matches!(self, Self::Image | Self::FixedImage)
    }
}
