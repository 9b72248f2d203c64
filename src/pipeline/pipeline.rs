use std::sync::Arc;

use super::{Inbound, Prepared, Settings, Settled, Turn};
use crate::model::Clock;
use crate::session::SessionStore;
use crate::wire::{Codec, Codecs};

/// One request's story. Shared by all requests; a reload builds a new one.
pub struct Pipeline {
    codecs: Codecs,
}

impl Pipeline {
    /// A pipeline over a session store.
    pub fn new(_settings: Settings, _sessions: Arc<dyn SessionStore>, _clock: Arc<dyn Clock>) -> Self {
        Self { codecs: Codecs::builtin() }
    }

    /// The codec for a path, if it is one of a known wire format.
    pub fn codec(&self, path: &str) -> Option<&Arc<dyn Codec>> {
        self.codecs.for_path(path)
    }

    /// Decides what is sent for a request. Never fails: what goes wrong is a named bypass.
    pub async fn prepare(&self, _inbound: Inbound) -> Prepared {
        unimplemented!("being built")
    }

    /// After an answer of `status` that may say the request was too large: the body to send instead, or `None` to
    /// hand the answer on. Counts its tries: at most two a turn.
    pub async fn recover(&self, _turn: &mut Turn, _status: u16, _answer: &[u8]) -> Option<bytes::Bytes> {
        None
    }

    /// Absorbs what an answer said, at its end.
    pub async fn settle(&self, _turn: Turn, _settled: Settled) {}

    /// Learns model windows from a `/models` answer of an upstream that passed by.
    pub fn learn_windows(&self, _upstream: &str, _answer: &[u8]) {}

    /// All sessions, latest first.
    pub async fn sessions(&self) -> Vec<super::SessionView> {
        Vec::new()
    }

    /// One session by the `id` of its view.
    pub async fn session(&self, _id: &str) -> Option<super::SessionView> {
        None
    }
}
