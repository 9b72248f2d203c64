use secateur::app::Parts;
use secateur::prune::Settings as Pruning;
use serde_json::Value;

use super::{Agent, Message, Provider, Sidecar, eventually};

/// What stands for cleared output in a [`Scene::clearing`].
pub(crate) const GONE: &str = "[gone]";

/// A provider, the proxy in front of it, and agents.
pub(crate) struct Scene {
    pub(crate) provider: Provider,
    pub(crate) proxy: Sidecar,
}

impl Scene {
    /// With default settings changed by `change`. The provider tells 60,000 tokens for every request.
    pub(crate) async fn with(change: impl FnOnce(&mut Parts)) -> Self {
        let provider = Provider::answering(60_000).await;
        let proxy = Sidecar::with(&provider.url, change).await;
        Self { provider, proxy }
    }

    /// One that clears all tool output but that of the newest `kept` messages at once, from 50,000 tokens on.
    pub(crate) async fn clearing(kept: usize) -> Self {
        Self::pruning(|pruning| clear_all_old(pruning, kept)).await
    }

    /// With pruning settings changed by `change`.
    pub(crate) async fn pruning(change: impl FnOnce(&mut Pruning)) -> Self {
        Self::with(|parts| change(&mut parts.pipeline.default.pruning)).await
    }

    /// An agent that names its session.
    pub(crate) fn agent(&self, session: &str) -> Agent<'_> {
        Agent::new(self).header("X-Session-Id", session)
    }

    /// An agent that says nothing about its session.
    pub(crate) fn nameless_agent(&self) -> Agent<'_> {
        Agent::new(self)
    }

    /// All sessions, as the admin port shows them.
    pub(crate) async fn sessions(&self) -> Vec<Value> {
        let shown = self.proxy.ask_admin("/sessions").await.json();
        shown["sessions"].as_array().expect("a list of sessions").clone()
    }

    /// The session with the id that its client gave.
    pub(crate) async fn session(&self, id: &str) -> Value {
        let mut sessions = self.sessions().await;
        sessions.retain(|session| session["explicit_id"] == id);
        assert_eq!(sessions.len(), 1, "one session {id}");
        sessions.remove(0)
    }

    /// Requests whose answers were taken in, over all sessions.
    pub(crate) async fn settled(&self) -> u64 {
        let requests = |session: &Value| session["requests"].as_u64().expect("a number of requests");
        self.sessions().await.iter().map(requests).sum()
    }

    /// Waits until so many answers were taken in.
    pub(crate) async fn has_settled(&self, requests: u64) {
        eventually(async || (self.settled().await >= requests).then_some(())).await;
    }

    /// What the metrics say, as text.
    pub(crate) async fn metrics(&self) -> String {
        self.proxy.ask_admin("/metrics").await.text().to_owned()
    }

    /// A GET as a client sends it.
    pub(crate) async fn get(&self, path: &str) -> Message {
        let mut client = self.proxy.client().await;
        client.send(format!("GET {path} HTTP/1.1\r\nHost: p\r\n\r\n")).await;
        client.message().await
    }
}

/// Clears all tool output but that of the newest `kept` messages at once, from 50,000 tokens on.
pub(crate) fn clear_all_old(pruning: &mut Pruning, kept: usize) {
    *pruning = Pruning {
        pruning_threshold: 50_000.0,
        trigger_every_n_tokens: 2_000,
        keep_recent_tokens: 1,
        keep_recent_messages: kept,
        soft_threshold: 0.0,
        hard_threshold: 0.0,
        detail_threshold: 1e9,
        hard_clear_placeholder: GONE.to_owned(),
        ..Pruning::default()
    };
}
