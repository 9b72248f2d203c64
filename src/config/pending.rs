//! Settings of a room that stands elsewhere.

use serde::{Deserialize, Serialize};

/// The HTTP door: the `[server]` table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Server {
    /// Largest request body, in bytes.
    pub max_body_bytes: u64,
    /// How long running answers may go on after a SIGTERM, in milliseconds.
    pub shutdown_grace_ms: u64,
}

impl Default for Server {
    fn default() -> Self {
        Self { max_body_bytes: 256 * 1024 * 1024, shutdown_grace_ms: 30_000 }
    }
}
