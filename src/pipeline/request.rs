use std::sync::Arc;

use bytes::Bytes;

use super::Receipt;
use crate::tap::TapEnd;

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
    /// What was done so far.
    pub receipt: Receipt,
}

/// How an answer ended.
#[derive(Debug, Clone, Copy)]
pub struct Settled {
    /// The answer's status code.
    pub status: u16,
    /// What the tap saw.
    pub end: TapEnd,
}
