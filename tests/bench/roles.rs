//! The two servers that the proxy is compared with, each a process of its own: this program, started again.

use std::io::Write as _;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use anyhow::Context as _;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::serve::ListenerExt as _;
use futures_util::stream;
use http::header::{CONNECTION, CONTENT_TYPE, HOST, TRANSFER_ENCODING};
use http::{HeaderMap, StatusCode};
use http_body_util::BodyExt as _;
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpListener;
use tokio::runtime;
use tokio::time::{MissedTickBehavior, interval};

/// The role of the mock, as an argument.
pub(crate) const MOCK: &str = "role-mock";
/// The role of the pass-through, as an argument; the upstream's origin follows.
pub(crate) const PASS_THROUGH: &str = "role-pass-through";
/// A body that begins so is answered with a stream.
pub(crate) const STREAMED: &str = "{\"stream\":true,";
/// Events of a stream.
pub(crate) const EVENTS: usize = 200;

/// Time between two events of a stream.
const PAUSE: Duration = Duration::from_millis(2);

/// Serves the mock until it is ended: reads a request whole, and answers at once with a fixed text and usage.
pub(crate) fn mock() -> anyhow::Result<()> {
    serve(Router::new().fallback(answer))
}

/// Serves the bare pass-through until it is ended: axum in front, reqwest behind, set up as the proxy sets it up.
/// Collects nothing and reads nothing; both bodies stream.
pub(crate) fn pass_through(upstream: &str) -> anyhow::Result<()> {
    let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    let client = reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        .tcp_nodelay(true)
        .connect_timeout(Duration::from_secs(10))
        .pool_idle_timeout(Duration::from_secs(55))
        .no_proxy()
        .build()?;
    serve(Router::new().fallback(forward).with_state((client, Arc::from(upstream))))
}

fn serve(router: Router) -> anyhow::Result<()> {
    let runtime = runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        println!("{}", listener.local_addr()?);
        std::io::stdout().flush()?;
        // An option that a connection refuses changes its speed, not its bytes.
        let listener = listener.tap_io(|stream| stream.set_nodelay(true).unwrap_or_default());
        axum::serve(listener, router).await.context("serving broke off")
    })
}

async fn forward(
    State((client, upstream)): State<(reqwest::Client, Arc<str>)>,
    request: Request,
) -> Result<Response, StatusCode> {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let answer = client
        .request(parts.method, format!("{upstream}{path}"))
        .headers(end_to_end(parts.headers))
        .body(reqwest::Body::wrap_stream(body.into_data_stream()))
        .send()
        .await
        .map_err(|_| StatusCode::BAD_GATEWAY)?;
    let (mut parts, body) = http::Response::from(answer).into_parts();
    parts.headers = end_to_end(parts.headers);
    Ok(Response::from_parts(parts, Body::new(body)))
}

fn end_to_end(mut headers: HeaderMap) -> HeaderMap {
    for name in [HOST, CONNECTION, TRANSFER_ENCODING] {
        headers.remove(name);
    }
    headers
}

async fn answer(request: Request) -> Response {
    let mut body = request.into_body();
    let (mut bytes, mut streams) = (0, false);
    while let Some(Ok(frame)) = body.frame().await {
        let Ok(data) = frame.into_data() else { continue };
        streams |= bytes == 0 && data.starts_with(STREAMED.as_bytes());
        bytes += data.len();
    }
    if streams { events(bytes) } else { document(bytes) }
}

/// As a provider would count: about four bytes a token.
fn usage(bytes: usize) -> String {
    format!(r#"{{"prompt_tokens":{},"completion_tokens":25,"total_tokens":{}}}"#, bytes / 4, bytes / 4 + 25)
}

fn document(bytes: usize) -> Response {
    let text =
        "The request has been read, and this is a short answer to it, as long as a model's call of a tool.";
    let document = format!(
        r#"{{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"bench","choices":[{{"index":0,"message":{{"role":"assistant","content":"{text}"}},"finish_reason":"stop"}}],"usage":{}}}"#,
        usage(bytes)
    );
    ([(CONTENT_TYPE, "application/json")], document).into_response()
}

/// Events that say when they were sent.
fn events(bytes: usize) -> Response {
    let mut pace = interval(PAUSE);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let events = stream::unfold((0, pace), move |(sent, mut pace)| async move {
        let event = match sent {
            0..EVENTS => {
                pace.tick().await;
                let delta = format!(r#"{{"index":0,"delta":{{"content":"{}"}}}}"#, now_ns());
                format!(r#"data: {{"id":"chatcmpl-1","object":"chat.completion.chunk","choices":[{delta}]}}"#)
            }
            EVENTS => format!(r#"data: {{"id":"chatcmpl-1","choices":[],"usage":{}}}"#, usage(bytes)),
            _ if sent == EVENTS + 1 => "data: [DONE]".to_owned(),
            _ => return None,
        };
        Some((Ok::<_, std::io::Error>(format!("{event}\n\n")), (sent + 1, pace)))
    });
    ([(CONTENT_TYPE, "text/event-stream")], Body::from_stream(events)).into_response()
}

/// The time in nanoseconds, by the one clock that all processes share.
#[expect(clippy::disallowed_methods, reason = "two processes compare their times")]
pub(crate) fn now_ns() -> u64 {
    let since = std::time::SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
