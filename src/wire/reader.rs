use std::sync::Arc;

use super::Codec;
use crate::model::Usage;

/// How an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyKind {
    /// One JSON document.
    Json,
    /// An event stream.
    Sse,
}

/// Reads the usage out of an answer that passes by.
pub struct UsageReader {
    usage: Usage,
}

impl ReplyKind {
    /// By the answer's `Content-Type`; `None` when there is no usage to be expected.
    pub fn of(_content_type: Option<&str>) -> Option<Self> {
        None
    }
}

impl UsageReader {
    /// A reader for an answer of `kind` in the given `Content-Encoding`.
    pub fn new(_codec: Arc<dyn Codec>, _kind: ReplyKind, _content_encoding: Option<&str>) -> Self {
        Self { usage: Usage::default() }
    }

    /// Takes the next bytes of the answer, cut anywhere.
    pub fn push(&mut self, _bytes: &[u8]) {}

    /// What was read, at the answer's end.
    pub fn finish(&mut self) -> Usage {
        self.usage
    }
}
