use std::sync::Arc;

use bytes::Bytes;

use super::Receipt;
use super::reading::{Reading, Standing};
use crate::model::{EditSet, Fingerprint, Ledger};
use crate::prune::Sizes;
use crate::session::SessionKey;
use crate::tap::TapEnd;
use crate::wire::Codec;

/// A request as it came in, as far as the pipeline cares.
pub struct Inbound {
    /// Whether the method is POST; anything else is passed through.
    pub is_post: bool,
    /// The path without query.
    pub path: String,
    /// The target's name and base URL: part of the session's identity.
    pub upstream: String,
    /// Looks a request header up by its lower-case name.
    pub headers: HeaderLookup,
    /// The body as received.
    pub body: Bytes,
    /// Its `Content-Encoding`, if any.
    pub content_encoding: Option<String>,
}

/// Looks a request header up by its lower-case name.
pub type HeaderLookup = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// What is to be sent, and what was done.
pub struct Prepared {
    /// The body to send, without content coding; `None` sends the client's own bytes and coding.
    pub body: Option<Bytes>,
    /// What was done.
    pub receipt: Receipt,
    /// What recovering and settling need; `None` when the request was bypassed before a session was found.
    pub turn: Option<Turn>,
}

/// A request under way.
pub struct Turn {
    pub(super) key: SessionKey,
    pub(super) explicit_id: Option<String>,
    pub(super) upstream: String,
    pub(super) model: String,
    pub(super) codec: Arc<dyn Codec>,
    pub(super) standing: Standing,
    /// Whether the provider holds more of the conversation than is sent: its figures do not measure what is sent.
    pub(super) is_continued: bool,
    /// Whether this request made a new prune.
    pub(super) pruned: bool,
    /// Estimated tokens of what is sent; `None` when it was not worth counting.
    pub(super) estimate: Option<u64>,
    /// Estimated tokens that edits take away from what is sent.
    pub(super) saved: u64,
    /// The states that an answer with usage measures, longest first.
    pub(super) marks: Vec<Mark>,
    /// Times it was sent again because the provider found it too large.
    pub(super) recoveries: u8,
    /// Times it was sent again because the provider found signed thinking in it changed.
    pub(super) refusals: u8,
    /// What is learnt if the provider accepts what was sent again.
    pub(super) lesson: Option<Lesson>,
    /// What sending again would need; gone once the provider has accepted the request.
    pub(super) kept: Option<Kept>,
}

/// What an accepted answer teaches of signed thinking.
#[derive(Debug, Clone)]
pub(super) enum Lesson {
    /// Without the thinking behind the first edit it was accepted.
    LeftOut,
    /// Only the client's own bytes were accepted: these statements were refused, and are not made again.
    Kept(Ledger),
}

/// A conversation state: the items up to a point, and what is sent behind that point.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    pub(super) prefix: Fingerprint,
    pub(super) items: usize,
    /// Estimated tokens of what is sent behind it.
    pub(super) behind: u64,
}

/// The request itself.
pub(super) struct Kept {
    pub(super) reading: Arc<Reading>,
    pub(super) edits: EditSet,
    pub(super) sizes: Option<Arc<Sizes>>,
}

impl Turn {
    /// The provider has accepted the request: its body will not be needed again, and its memory is freed.
    pub fn accepted(&mut self) {
        self.kept = None;
    }

    /// How often it was sent again because the provider found it too large.
    pub fn recoveries(&self) -> u8 {
        self.recoveries
    }
}

/// How an answer ended.
#[derive(Debug, Clone, Copy)]
pub struct Settled {
    /// The answer's status code.
    pub status: u16,
    /// What the tap saw.
    pub end: TapEnd,
}

/// What an answer told of its size; a fact for the log and the metrics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageUpdate {
    /// The session's public label.
    pub session: String,
    /// The model asked for.
    pub model: String,
    /// Real input tokens.
    pub input_tokens: u64,
    /// Input tokens that the provider read from its prefix cache.
    pub cache_read_tokens: Option<u64>,
    /// Tokens of the answer.
    pub output_tokens: Option<u64>,
    /// What the size was expected to be, in tokens; `None` when it was not worth estimating.
    pub expected_tokens: Option<u64>,
}
