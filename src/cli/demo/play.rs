use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use bytes::Bytes;
use http::{HeaderMap, Method, Request, header};
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;

use crate::app::{App, Parts};
use crate::config::Config;
use crate::mock::agent::{Conversation, chat};
use crate::mock::{self, MockOptions};
use crate::model::SystemClock;

/// The model that is asked. Its window, in tokens, holds the longest conversation that can be wished for.
const MODEL: &str = "mock-large";
const WINDOW: u64 = 4_000_000;

/// A conversation on its way through both ways.
pub(super) struct Play<'a> {
    client: Client<HttpConnector, Full<Bytes>>,
    mock: SocketAddr,
    proxy: SocketAddr,
    admin: SocketAddr,
    conversation: &'a Conversation,
    history: chat::History<'a>,
}

/// One request, sent both ways.
#[derive(Debug, Clone, Default)]
pub(super) struct Round {
    /// To the upstream directly.
    pub(super) without: Figures,
    /// Through the proxy.
    pub(super) with: Figures,
    /// Edits that are new with this request, by stage, as the answer tells them; `None` when there are none.
    pub(super) pruned: Option<String>,
    /// Edits in force.
    pub(super) edits: u64,
}

/// What the upstream counted, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Figures {
    pub(super) input: u64,
    pub(super) cached: u64,
}

impl<'a> Play<'a> {
    /// Starts a mock upstream, and a proxy in front of it that prunes from `threshold` tokens on.
    pub(super) async fn start(conversation: &'a Conversation, threshold: u64) -> anyhow::Result<Self> {
        let models = [(MODEL.to_owned(), WINDOW)].into();
        let options = MockOptions { models, ..MockOptions::default() };
        let mock = mock::spawn(options).await.context("cannot start the mock upstream")?;
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let mut config = Config::default();
        // The defaults' proportions, at the size of this conversation.
        config.pruning.keep_recent_tokens = threshold / 8;
        config.pruning.trigger_every_n_tokens = threshold / 16;
        config.pruning.pruning_threshold = threshold as f64;
        config.upstream.url = Some(format!("http://{mock}"));
        config.listen.set_port(0);
        config.admin_listen.set_port(0);
        let parts = Parts {
            pipeline: config.pipeline(),
            sessions: config.sessions.clone(),
            upstream: config.upstreams(),
            server: config.server(),
        };
        let running = App::build(parts, Arc::new(SystemClock))?.serve(std::future::pending()).await?;
        Ok(Self {
            client: Client::builder(TokioExecutor::new()).build(connector),
            mock,
            proxy: running.listen,
            admin: running.admin,
            conversation,
            history: chat::History::new(conversation),
        })
    }

    /// Sends the next request both ways; `None` behind the last.
    pub(super) async fn next(&mut self) -> anyhow::Result<Option<Round>> {
        let Some(messages) = self.history.advance() else { return Ok(None) };
        let body = Bytes::from(chat::body(self.conversation, MODEL, &messages));
        let (without, _) = self.ask(self.mock, "without", &body).await?;
        let (with, pruned) = self.ask(self.proxy, "with", &body).await?;
        Ok(Some(Round { without, with, pruned, edits: self.edits().await? }))
    }

    /// Each way has a credential of its own, and so a prefix cache of its own.
    async fn ask(
        &self,
        at: SocketAddr,
        credential: &str,
        body: &Bytes,
    ) -> anyhow::Result<(Figures, Option<String>)> {
        let request = Request::builder()
            .method(Method::POST)
            .uri(format!("http://{at}/v1/chat/completions"))
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::AUTHORIZATION, format!("Bearer {credential}"))
            .body(Full::new(body.clone()))?;
        let (headers, answer) = self.send(request).await?;
        let usage = &answer["usage"];
        let figure = |value: &Value| value.as_u64().context("an answer tells no usage");
        let figures = Figures {
            input: figure(&usage["prompt_tokens"])?,
            cached: figure(&usage["prompt_tokens_details"]["cached_tokens"])?,
        };
        let pruned = headers.get("x-secateur-pruned").and_then(|value| value.to_str().ok());
        Ok((figures, pruned.map(str::to_owned)))
    }

    /// Edits in force, as the proxy's admin port tells them.
    async fn edits(&self) -> anyhow::Result<u64> {
        let uri = format!("http://{}/sessions", self.admin);
        let (_, answer) = self.send(Request::get(uri).body(Full::default())?).await?;
        Ok(answer["sessions"][0]["edits"].as_u64().unwrap_or(0))
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> anyhow::Result<(HeaderMap, Value)> {
        let (head, body) = self.client.request(request).await?.into_parts();
        if let Some(outcome) = head.headers.get("x-secateur-outcome").and_then(|value| value.to_str().ok())
            && outcome.starts_with("bypassed")
        {
            bail!("the proxy let a request by unread: {outcome}");
        }
        let body = body.collect().await?.to_bytes();
        if !head.status.is_success() {
            bail!("a request was refused with {}: {}", head.status, String::from_utf8_lossy(&body));
        }
        Ok((head.headers, serde_json::from_slice(&body).context("an answer is not JSON")?))
    }
}
