use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use moka::Expiry;
use moka::notification::RemovalCause;
use moka::ops::compute::{CompResult, Op};
use moka::policy::EvictionPolicy;
use moka::sync::Cache;

use super::{Saved, Session, SessionKey, SessionStore, Settings, StoreError, StoreStats};
use crate::model::Clock;

/// Keeps sessions in memory, bounded by count, bytes and idle time; the longest idle go first.
pub struct MemoryStore {
    sessions: Cache<SessionKey, Arc<Session>>,
    clock: Arc<dyn Clock>,
    idle_ms: u64,
    evicted_full: Arc<AtomicU64>,
    evicted_idle: Arc<AtomicU64>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new(settings: &Settings, clock: Arc<dyn Clock>) -> Self {
        let evicted_full = Arc::new(AtomicU64::new(0));
        let evicted_idle = Arc::new(AtomicU64::new(0));
        let (full, idle) = (Arc::clone(&evicted_full), Arc::clone(&evicted_idle));
        // One bound for both: a session weighs at least its share, so there are never more than `max_sessions`.
        let share = (settings.max_bytes / settings.max_sessions.max(1)).max(1);
        let weigh = move |_: &SessionKey, session: &Arc<Session>| {
            u32::try_from((session.bytes() as u64).max(share)).unwrap_or(u32::MAX)
        };
        let sessions = Cache::builder()
            .eviction_policy(EvictionPolicy::lru())
            .max_capacity(share.saturating_mul(settings.max_sessions.max(1)))
            .weigher(weigh)
            .expire_after(IdleFor(Duration::from_millis(settings.idle_ms.max(1))))
            .eviction_listener(move |_, _, cause| match cause {
                RemovalCause::Size => drop(full.fetch_add(1, Ordering::Relaxed)),
                RemovalCause::Expired => drop(idle.fetch_add(1, Ordering::Relaxed)),
                RemovalCause::Explicit | RemovalCause::Replaced => {}
            })
            .build();
        Self { sessions, clock, idle_ms: settings.idle_ms, evicted_full, evicted_idle }
    }

    fn is_idle(&self, session: &Session) -> bool {
        self.clock.now_ms().saturating_sub(session.last_seen_ms) > self.idle_ms
    }
}

/// Frees the memory of idle sessions even when nobody asks for them again.
struct IdleFor(Duration);

impl Expiry<SessionKey, Arc<Session>> for IdleFor {
    fn expire_after_create(
        &self,
        _: &SessionKey,
        _: &Arc<Session>,
        _: std::time::Instant,
    ) -> Option<Duration> {
        Some(self.0)
    }

    fn expire_after_update(
        &self,
        _: &SessionKey,
        _: &Arc<Session>,
        _: std::time::Instant,
        _: Option<Duration>,
    ) -> Option<Duration> {
        Some(self.0)
    }
}

#[async_trait]
impl SessionStore for MemoryStore {
    async fn load(&self, key: &SessionKey) -> Result<Option<Arc<Session>>, StoreError> {
        let found = self.sessions.get(key);
        if let Some(session) = &found
            && self.is_idle(session)
        {
            self.sessions.invalidate(key);
            self.evicted_idle.fetch_add(1, Ordering::Relaxed);
            return Ok(None);
        }
        Ok(found)
    }

    async fn save(&self, key: &SessionKey, mut session: Session) -> Result<Saved, StoreError> {
        let expected = session.version;
        session.version += 1;
        let session = Arc::new(session);
        let stored = Arc::clone(&session);
        let result = self.sessions.entry(*key).and_compute_with(|entry| {
            let version = entry.map_or(0, |e| e.value().version);
            if version == expected { Op::Put(session) } else { Op::Nop }
        });
        Ok(match result {
            CompResult::Inserted(_) | CompResult::ReplacedWith(_) => Saved::Stored(stored),
            CompResult::Unchanged(entry) => Saved::Conflict(Some(entry.into_value())),
            CompResult::StillNone(_) | CompResult::Removed(_) => Saved::Conflict(None),
        })
    }

    async fn list(&self, limit: usize) -> Result<Vec<(SessionKey, Arc<Session>)>, StoreError> {
        self.sessions.run_pending_tasks();
        let mut all: Vec<_> = self.sessions.iter().map(|(key, session)| (*key, session)).collect();
        all.retain(|(_, session)| !self.is_idle(session));
        all.sort_by_key(|(key, session)| (std::cmp::Reverse(session.last_seen_ms), *key));
        all.truncate(limit);
        Ok(all)
    }

    fn stats(&self) -> StoreStats {
        self.sessions.run_pending_tasks();
        StoreStats {
            sessions: self.sessions.entry_count(),
            bytes: self.sessions.iter().map(|(_, session)| session.bytes() as u64).sum(),
            evicted_full: self.evicted_full.load(Ordering::Relaxed),
            evicted_idle: self.evicted_idle.load(Ordering::Relaxed),
        }
    }
}
