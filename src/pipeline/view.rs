use serde::Serialize;

/// A session as it is shown: no credential, no text.
#[derive(Debug, Clone, Serialize)]
pub struct SessionView {
    /// Its id in this list.
    pub id: String,
    /// The id that the client gave, when it gave one.
    pub explicit_id: Option<String>,
    /// The model last asked for.
    pub model: String,
    /// Last known input size of its main conversation, in tokens.
    pub input_tokens: Option<u64>,
    /// Last known size of an answer, in tokens.
    pub output_tokens: Option<u64>,
    /// Requests seen.
    pub requests: u64,
    /// Prunes made.
    pub prunes: u64,
    /// Statements in its ledger.
    pub edits: usize,
    /// When it was last used, in milliseconds since the Unix epoch.
    pub last_seen_ms: u64,
}
