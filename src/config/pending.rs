//! Settings of rooms that stand elsewhere.

use serde::{Deserialize, Serialize};

/// Where requests go: the `[upstream]` table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Upstream {
    /// The origin, or the base URL, of the API. Empty: only named upstreams are served.
    pub url: String,
    /// Longest time to connect, in milliseconds.
    pub connect_timeout_ms: u64,
    /// Longest wait for the head of an answer, in milliseconds.
    pub first_byte_timeout_ms: u64,
    /// Longest silence within an answer, in milliseconds.
    pub idle_timeout_ms: u64,
}

impl Default for Upstream {
    fn default() -> Self {
        Self {
            url: String::new(),
            connect_timeout_ms: 10_000,
            first_byte_timeout_ms: 600_000,
            idle_timeout_ms: 600_000,
        }
    }
}

/// A named upstream: an `[upstreams.NAME]` table.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Named {
    /// The origin, or the base URL, of the API.
    pub url: String,
}

/// The HTTP door: the `[server]` table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Server {
    /// Largest request body, in bytes.
    pub max_body_bytes: u64,
    /// How long running answers may go on after a SIGTERM, in milliseconds.
    pub grace_ms: u64,
}

impl Default for Server {
    fn default() -> Self {
        Self { max_body_bytes: 256 * 1024 * 1024, grace_ms: 30_000 }
    }
}

/// What is logged, and how: the `[log]` table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// The least important level shown.
    pub level: Level,
    /// The form of a line.
    pub format: Format,
}

impl Default for Log {
    fn default() -> Self {
        Self { level: Level::Info, format: Format::Text }
    }
}

/// Levels of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Nothing.
    Off,
    /// Errors.
    Error,
    /// Warnings.
    Warn,
    /// One line per decision.
    Info,
    /// More.
    Debug,
    /// Everything.
    Trace,
}

/// Forms of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}
