use std::time::Duration;

use http::header::{HeaderMap, TRANSFER_ENCODING};
use http::{HeaderValue, Method, Response};
use reqwest::Client;
use reqwest::redirect::Policy;
use tokio::time::{Instant, sleep_until};

use super::{AnswerBody, RequestBody, Settings, Target, Targets, UpstreamError, tls};

/// The one HTTP client. It follows no redirect, keeps no cookie, decodes nothing, and has no limit on how long an
/// answer may take in all. All it adds is `Host`, and `Accept: */*` where the client names nothing, which says the
/// same.
#[derive(Clone)]
pub struct Upstream {
    client: Client,
    connect_timeout_ms: u64,
    first_byte_timeout: Duration,
    idle_timeout: Duration,
}

/// How long a connection that is not in use is kept. Longer than the pauses of an agent at work, shorter than the
/// minute after which many servers close it.
const POOL_IDLE: Duration = Duration::from_secs(55);

impl Upstream {
    /// A client for these upstreams. The proxies that the environment names are used, but never to reach this
    /// machine itself.
    ///
    /// # Errors
    /// When the client cannot be built: the proxy that the environment names is no URL.
    pub fn new(settings: &Settings, targets: &Targets) -> Result<Self, UpstreamError> {
        let mut builder = Client::builder()
            .tls_backend_preconfigured(tls::config(targets.any_is_tls()))
            .redirect(Policy::none())
            .referer(false)
            .tcp_nodelay(true)
            .connect_timeout(settings.connect_timeout())
            .pool_idle_timeout(POOL_IDLE)
            // Finds out that a shared connection is dead before a request waits for it in vain.
            .http2_keep_alive_interval(Duration::from_secs(30))
            .http2_keep_alive_timeout(Duration::from_secs(15))
            .http2_adaptive_window(true);
        if targets.all_are_local() {
            builder = builder.no_proxy();
        }
        Ok(Self {
            client: builder.build().map_err(|error| UpstreamError::Client(error.into()))?,
            connect_timeout_ms: settings.connect_timeout_ms,
            first_byte_timeout: settings.first_byte_timeout(),
            idle_timeout: settings.idle_timeout(),
        })
    }

    /// Sends a request and waits for the head of the answer, whatever its status. It is sent once: again only when
    /// it was certainly not read (never handed to a connection, or refused unread by the means of HTTP/2). Dropping
    /// the future cancels the request.
    ///
    /// # Errors
    /// When there is no connection, or the connection ends or the time runs out before the answer's head.
    pub async fn send(
        &self,
        method: Method,
        target: &Target,
        mut headers: HeaderMap,
        body: RequestBody,
    ) -> Result<Response<AnswerBody>, UpstreamError> {
        let is_bodyless = method == Method::GET || method == Method::HEAD;
        if is_bodyless && body.is_of_unknown_length() {
            headers.insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
        }
        let progress = body.progress();
        let mut request = reqwest::Request::new(method, target.url.clone());
        *request.headers_mut() = headers;
        *request.body_mut() = body.into_inner();
        let mut sending = std::pin::pin!(self.client.execute(request));
        let mut seen = 0;
        loop {
            // While the request's body still moves, the wait starts anew.
            tokio::select! {
                biased;
                answer = &mut sending => {
                    let answer = answer.map_err(|e| UpstreamError::of_request(e, self.connect_timeout_ms))?;
                    return Ok(Response::from(answer).map(|body| AnswerBody::new(body, self.idle_timeout)));
                }
                () = sleep_until(Instant::now() + self.first_byte_timeout) => {
                    let now = progress.pieces();
                    if now == seen {
                        return Err(UpstreamError::HeadTimeout(self.first_byte_timeout.as_millis() as u64));
                    }
                    seen = now;
                }
            }
        }
    }
}
