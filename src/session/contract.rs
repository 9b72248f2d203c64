//! What every store must keep. To add a store, add a test that calls [`exercise`] on it.

use std::sync::Arc;

use super::{Hints, MemoryStore, Saved, Session, SessionKey, SessionStore, Settings};
use crate::model::testing::Script;
use crate::model::{Clock, ManualClock};

const IDLE_MS: u64 = 60_000;

fn settings() -> Settings {
    Settings { max_sessions: 100, max_bytes: 1 << 20, idle_ms: IDLE_MS }
}

fn key(id: &str) -> SessionKey {
    let transcript = Script::default().of_session(Some(id)).transcript();
    SessionKey::derive(&Hints { header: &|_| None, upstream: "u", transcript: &transcript }).0
}

async fn save(store: &dyn SessionStore, id: &str, session: Session) -> Saved {
    store.save(&key(id), session).await.unwrap()
}

/// Plays through what a store promises.
async fn exercise(store: &dyn SessionStore, clock: &ManualClock) {
    assert!(store.load(&key("a")).await.unwrap().is_none());

    let first = Session::begin(Some("a"), clock.now_ms());
    let Saved::Stored(stored) = save(store, "a", first.clone()).await else {
        panic!("nobody else was there")
    };
    assert_eq!(stored.version, 1);
    assert_eq!(store.load(&key("a")).await.unwrap(), Some(stored.clone()));

    let Saved::Conflict(Some(current)) = save(store, "a", first).await else { panic!("version 0 is gone") };
    assert_eq!(current, stored);
    let next = Session { requests: 1, ..(*stored).clone() };
    let Saved::Stored(next) = save(store, "a", next).await else { panic!("version 1 is current") };
    assert_eq!((next.version, next.requests), (2, 1));

    let vanished = Session { version: 7, ..Session::begin(None, clock.now_ms()) };
    assert!(matches!(save(store, "b", vanished).await, Saved::Conflict(None)));

    clock.advance(IDLE_MS / 2);
    save(store, "c", Session::begin(Some("c"), clock.now_ms())).await;
    let order: Vec<_> =
        store.list(10).await.unwrap().into_iter().map(|(_, s)| s.explicit_id.clone()).collect();
    assert_eq!(order, [Some("c".to_owned()), Some("a".to_owned())]);
    assert_eq!(store.list(1).await.unwrap().len(), 1);

    clock.advance(IDLE_MS / 2 + 1);
    assert!(store.load(&key("a")).await.unwrap().is_none(), "idle for too long");
    assert!(store.load(&key("c")).await.unwrap().is_some());
    assert_eq!(store.stats().evicted_idle, 1);

    for n in 0..1_000 {
        save(store, &n.to_string(), Session::begin(None, clock.now_ms())).await;
    }
    assert!(store.stats().sessions <= 100, "{:?}", store.stats());
    assert!(store.stats().evicted_full >= 900);
    assert!(store.load(&key("999")).await.unwrap().is_some(), "the latest stays");
}

#[tokio::test]
async fn memory() {
    let clock = Arc::new(ManualClock::at(1_000_000));
    exercise(&MemoryStore::new(&settings(), clock.clone()), &clock).await;
}
