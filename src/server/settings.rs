use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How clients are served: the `[server]` table, and the two addresses, which stand at the top of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Where clients connect: the top-level `listen`.
    #[serde(skip)]
    pub listen: SocketAddr,
    /// Where health, metrics and sessions are shown: the top-level `admin_listen`.
    #[serde(skip)]
    pub admin_listen: SocketAddr,
    /// Largest request body that is read as a conversation, in bytes; at least 64 MiB. Other bodies stream through
    /// and have no limit.
    pub max_body_bytes: u64,
    /// How long answers under way may go on when the program is told to end, in milliseconds.
    pub shutdown_grace_ms: u64,
}

/// A setting that cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SettingsError {
    /// The limit would refuse what agents send.
    #[error("`server.max_body_bytes` is {given}, but must be at least {least} (64 MiB): agents send images")]
    BodyLimit {
        /// The value as configured.
        given: u64,
        /// The least value.
        least: u64,
    },
    /// Both listeners at one address.
    #[error("`listen` and `admin_listen` are both {0}; give them two ports")]
    SameAddress(SocketAddr),
}

impl Settings {
    /// The least limit on bodies, in bytes.
    pub const LEAST_BODY_LIMIT: u64 = 64 * 1024 * 1024;

    /// Everything that is wrong with these settings; empty when they can be used.
    pub fn problems(&self) -> Vec<SettingsError> {
        let mut found = Vec::new();
        if self.max_body_bytes < Self::LEAST_BODY_LIMIT {
            let (given, least) = (self.max_body_bytes, Self::LEAST_BODY_LIMIT);
            found.push(SettingsError::BodyLimit { given, least });
        }
        if self.listen == self.admin_listen && self.listen.port() != 0 {
            found.push(SettingsError::SameAddress(self.listen));
        }
        found
    }

    pub(super) fn body_limit(&self) -> usize {
        usize::try_from(self.max_body_bytes).unwrap_or(usize::MAX)
    }

    pub(super) fn grace(&self) -> Duration {
        Duration::from_millis(self.shutdown_grace_ms)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: (Ipv4Addr::LOCALHOST, 8790).into(),
            admin_listen: (Ipv4Addr::LOCALHOST, 8791).into(),
            max_body_bytes: 256 * 1024 * 1024,
            shutdown_grace_ms: 30_000,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_that_refuse_ordinary_requests_are_refused() {
        assert!(Settings::default().problems().is_empty());
        let same = SocketAddr::from((Ipv4Addr::LOCALHOST, 9));
        let bad = Settings { max_body_bytes: 1_000, listen: same, admin_listen: same, ..Settings::default() };
        assert_eq!(bad.problems().len(), 2);
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let free = Settings { listen: any, admin_listen: any, ..Settings::default() };
        assert!(free.problems().is_empty());
    }
}
