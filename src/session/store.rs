use std::sync::Arc;

use async_trait::async_trait;

use super::{Session, SessionKey};

/// Where sessions are kept. A store that is down or slow answers with an error in bounded time; the request then
/// goes on with an empty session.
#[async_trait]
pub trait SessionStore: Send + Sync {
    /// The session of a key, if it is known and not idle for too long.
    ///
    /// # Errors
    /// When the store cannot be asked, or holds something unreadable.
    async fn load(&self, key: &SessionKey) -> Result<Option<Arc<Session>>, StoreError>;

    /// Saves a session, unless somebody else saved since it was loaded: the stored version must equal
    /// `session.version` (0 when nothing is stored). It is stored with the next version.
    ///
    /// # Errors
    /// When the store cannot be asked; nothing is changed then.
    async fn save(&self, key: &SessionKey, session: Session) -> Result<Saved, StoreError>;

    /// Sessions kept, the one used last first; at most `limit`.
    ///
    /// # Errors
    /// When the store cannot be asked.
    async fn list(&self, limit: usize) -> Result<Vec<(SessionKey, Arc<Session>)>, StoreError>;

    /// Figures about the store itself.
    fn stats(&self) -> StoreStats;
}

/// What came of a save.
#[derive(Debug, Clone)]
pub enum Saved {
    /// Stored, as this.
    Stored(Arc<Session>),
    /// Somebody else was first; this is what they stored. `None` when the session has vanished meanwhile.
    Conflict(Option<Arc<Session>>),
}

/// Why a store did not answer.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It could not be asked.
    #[error("the session store did not answer")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// What it holds cannot be read.
    #[error("the session store holds something unreadable")]
    Damaged(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Figures about a store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StoreStats {
    /// Sessions kept.
    pub sessions: u64,
    /// Bytes they take, about.
    pub bytes: u64,
    /// Sessions forgotten to keep within the bounds, since the start.
    pub evicted_full: u64,
    /// Sessions forgotten because they were idle, since the start.
    pub evicted_idle: u64,
}
