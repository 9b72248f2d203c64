use std::sync::Arc;

use tokio::sync::Semaphore;

use super::debug::DebugSink;
use super::learnt::Learnt;
use super::policy::{Policies, PolicyError};
use super::{Mode, SessionView, Settings};
use crate::model::Clock;
use crate::session::{SessionStore, StoreStats};
use crate::tokens::{Cached, Tiktoken};
use crate::wire::{Codec, Codecs, read_windows};

/// One request's story. Shared by all requests.
pub struct Pipeline {
    pub(super) codecs: Codecs,
    pub(super) mode: Mode,
    pub(super) policies: Policies,
    pub(super) sessions: Arc<dyn SessionStore>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) counter: Arc<Cached>,
    pub(super) learnt: Learnt,
    pub(super) debug: Arc<DebugSink>,
    /// Leave to undo a body's content coding.
    pub(super) inflating: Semaphore,
}

/// Token counts kept: those of some hundred long conversations.
const COUNTS_KEPT: usize = 200_000;
/// Coded bodies that are undone and read at a time.
const INFLATING: usize = 2;
/// Most sessions that are listed.
const MOST_LISTED: usize = 10_000;

impl Pipeline {
    /// A pipeline over a session store.
    ///
    /// # Errors
    /// When a pattern in the settings does not compile.
    pub fn new(
        settings: &Settings,
        sessions: Arc<dyn SessionStore>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, PolicyError> {
        Ok(Self {
            codecs: Codecs::builtin(),
            mode: settings.mode,
            policies: Policies::new(settings)?,
            sessions,
            clock,
            counter: Arc::new(Cached::new(Tiktoken::o200k(), COUNTS_KEPT)),
            learnt: Learnt::new(),
            debug: Arc::new(DebugSink::new(settings.debug.clone())),
            inflating: Semaphore::new(INFLATING),
        })
    }

    /// The codec for a path (without query), if it is one of a known wire format.
    pub fn codec(&self, path: &str) -> Option<&Arc<dyn Codec>> {
        self.codecs.for_path(path).map(|(codec, _)| codec)
    }

    /// Learns model windows from a `/models` answer of an upstream that passed by; returns how many it told.
    pub fn learn_windows(&self, upstream: &str, answer: &[u8]) -> usize {
        let told = read_windows(answer);
        for model in &told {
            self.learnt.window_is(upstream, &model.model, model.window);
        }
        told.len()
    }

    /// All sessions, the one used last first. Empty when the store does not answer.
    pub async fn sessions(&self) -> Vec<SessionView> {
        let kept = self.sessions.list(MOST_LISTED).await.unwrap_or_default();
        kept.iter().map(|(key, session)| SessionView::of(key, session)).collect()
    }

    /// One session by the `id` of its view.
    pub async fn session(&self, id: &str) -> Option<SessionView> {
        self.sessions().await.into_iter().find(|view| view.id == id)
    }

    /// Figures about the session store.
    pub fn store_stats(&self) -> StoreStats {
        self.sessions.stats()
    }
}
