use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use bytes::Bytes;
use http::{Method, Request, header};
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;

use super::DemoArgs;
use crate::app::{App, Parts};
use crate::config::Config;
use crate::mock::agent::{Agent, AgentOptions, chat};
use crate::mock::{self, MockOptions};
use crate::model::SystemClock;

/// A model of the mock upstream whose window holds the longest conversation that can be asked for.
const MODEL: &str = "mock-large";

/// A conversation on its way through both ways.
pub(super) struct Play {
    client: Client<HttpConnector, Full<Bytes>>,
    mock: SocketAddr,
    proxy: SocketAddr,
    admin: SocketAddr,
    bodies: std::vec::IntoIter<Bytes>,
    edits: u64,
}

/// One request, sent both ways.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Round {
    /// To the upstream directly.
    pub(super) without: Figures,
    /// Through the proxy.
    pub(super) with: Figures,
    /// Prunes made so far.
    pub(super) prunes: u64,
    /// Edits in force.
    pub(super) edits: u64,
    /// Edits that are new with this request.
    pub(super) new_edits: u64,
}

/// What the upstream counted, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Figures {
    pub(super) input: u64,
    pub(super) cached: u64,
}

impl Play {
    /// Starts a mock upstream and a proxy in front of it, and makes up the conversation.
    pub(super) async fn start(args: &DemoArgs) -> anyhow::Result<Self> {
        let options = AgentOptions {
            turns: args.turns as usize,
            target_tokens: Some(args.tokens),
            ..AgentOptions::default()
        };
        let conversation = Agent::new(args.seed).conversation(&options);
        let mut history = chat::History::new(&conversation);
        let bodies = std::iter::from_fn(|| history.advance())
            .map(|messages| Bytes::from(chat::body(&conversation, MODEL, &messages)));
        let bodies: Vec<_> = bodies.collect();

        let mock = mock::spawn(MockOptions::default()).await.context("cannot start the mock upstream")?;
        let mut config = Config::default();
        config.pruning.pruning_threshold = args.threshold as f64;
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
            client: Client::builder(TokioExecutor::new()).build_http(),
            mock,
            proxy: running.listen,
            admin: running.admin,
            bodies: bodies.into_iter(),
            edits: 0,
        })
    }

    /// Sends the next request both ways; `None` behind the last.
    pub(super) async fn next(&mut self) -> anyhow::Result<Option<Round>> {
        let Some(body) = self.bodies.next() else { return Ok(None) };
        let without = self.ask(self.mock, "without", &body).await?;
        let with = self.ask(self.proxy, "with", &body).await?;
        let (prunes, edits) = self.state().await?;
        let new_edits = edits.saturating_sub(self.edits);
        self.edits = edits;
        Ok(Some(Round { without, with, prunes, edits, new_edits }))
    }

    /// Each way has a credential of its own, and so a prefix cache of its own.
    async fn ask(&self, at: SocketAddr, credential: &str, body: &Bytes) -> anyhow::Result<Figures> {
        let request = Request::builder()
            .method(Method::POST)
            .uri(format!("http://{at}/v1/chat/completions"))
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::AUTHORIZATION, format!("Bearer {credential}"))
            .body(Full::new(body.clone()))?;
        let usage = &self.send(request).await?["usage"];
        let figure = |value: &Value| value.as_u64().context("an answer tells no usage");
        Ok(Figures {
            input: figure(&usage["prompt_tokens"])?,
            cached: figure(&usage["prompt_tokens_details"]["cached_tokens"])?,
        })
    }

    /// Prunes made and edits in force, as the proxy's admin port tells them.
    async fn state(&self) -> anyhow::Result<(u64, u64)> {
        let uri = format!("http://{}/sessions", self.admin);
        let answer = self.send(Request::get(uri).body(Full::default())?).await?;
        let session = &answer["sessions"][0];
        let figure = |name: &str| session[name].as_u64().unwrap_or(0);
        Ok((figure("prunes"), figure("edits")))
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> anyhow::Result<Value> {
        let (head, body) = self.client.request(request).await?.into_parts();
        let body = body.collect().await?.to_bytes();
        if !head.status.is_success() {
            bail!("a request was refused with {}: {}", head.status, String::from_utf8_lossy(&body));
        }
        serde_json::from_slice(&body).context("an answer is not JSON")
    }
}
