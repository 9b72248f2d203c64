use serde::{Deserialize, Serialize};

/// How much is remembered, and for how long: the `[sessions]` table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Most sessions kept at a time; the longest idle go first.
    pub max_sessions: u64,
    /// Most memory that sessions may take together, in bytes.
    pub max_bytes: u64,
    /// A session that no request has used for this long, in milliseconds, is forgotten.
    pub idle_ms: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { max_sessions: 4_096, max_bytes: 256 * 1024 * 1024, idle_ms: 7 * 24 * 3_600_000 }
    }
}
