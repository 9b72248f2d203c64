use serde::Serialize;

use crate::session::{Session, SessionKey};

/// A session as it is shown: no credential, no text.
#[derive(Debug, Clone, Serialize)]
pub struct SessionView {
    /// Its id in this list.
    pub id: String,
    /// The id that the client gave, when it gave one; cut when very long.
    pub explicit_id: Option<String>,
    /// The model last asked for.
    pub model: String,
    /// Last known input size of its main conversation, in tokens.
    pub input_tokens: Option<u64>,
    /// The part of it that the provider read from its prefix cache, in tokens.
    pub cached_tokens: Option<u64>,
    /// Last known size of an answer, in tokens.
    pub output_tokens: Option<u64>,
    /// Requests answered.
    pub requests: u64,
    /// Prunes made.
    pub prunes: u64,
    /// Statements in its ledger.
    pub edits: usize,
    /// Estimated tokens that edits took away, over all requests.
    pub saved_tokens: u64,
    /// When it was first used, in milliseconds since the Unix epoch.
    pub created_ms: u64,
    /// When it was last used, in milliseconds since the Unix epoch.
    pub last_seen_ms: u64,
}

impl SessionView {
    pub(super) fn of(key: &SessionKey, session: &Session) -> Self {
        Self {
            id: key.to_string(),
            explicit_id: session.explicit_id.clone(),
            model: session.model.clone(),
            input_tokens: session.usage.input,
            cached_tokens: session.usage.cache_read,
            output_tokens: session.usage.output,
            requests: session.requests,
            prunes: session.prunes,
            edits: session.ledger.len(),
            saved_tokens: session.saved_tokens,
            created_ms: session.created_ms,
            last_seen_ms: session.last_seen_ms,
        }
    }
}
