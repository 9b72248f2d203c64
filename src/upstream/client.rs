use std::time::Duration;

use http::header::{HOST, HeaderMap, PROXY_AUTHORIZATION, TRANSFER_ENCODING};
use http::uri::Scheme;
use http::{HeaderValue, Method, Request, Response};
use hyper_util::client::legacy::{Client, Error as ClientError, ResponseFuture};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::time::{Instant, sleep_until};

use super::body::Progress;
use super::connect::{Connector, Proxies};
use super::error::causes;
use super::{AnswerBody, RequestBody, Settings, Target, Targets, UpstreamError, tls};

/// The one HTTP client. It follows no redirect, keeps no cookie, decodes nothing, adds no header but `Host`, and
/// has no limit on how long an answer may take in all.
#[derive(Clone)]
pub struct Upstream {
    client: Client<Connector, RequestBody>,
    proxies: Proxies,
    connect_timeout_ms: u64,
    first_byte_timeout: Duration,
    idle_timeout: Duration,
}

/// How long a connection that is not in use is kept. Longer than the pauses of an agent at work, shorter than the
/// minute after which many servers close it.
const POOL_IDLE: Duration = Duration::from_secs(55);

impl Upstream {
    /// A client for these upstreams.
    pub fn new(settings: &Settings, targets: &Targets) -> Self {
        let needs_tls = targets.roots().any(|uri| uri.scheme() == Some(&Scheme::HTTPS));
        let proxies = Proxies::from_env(targets.roots());
        let connector = Connector::new(tls::config(needs_tls), proxies.clone(), settings.connect_timeout());
        let client = Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(POOL_IDLE)
            // Sends again only what was never handed to a connection.
            .retry_canceled_requests(true)
            // Finds out that a shared connection is dead before a request waits for it in vain.
            .http2_keep_alive_interval(Duration::from_secs(30))
            .http2_keep_alive_timeout(Duration::from_secs(15))
            .http2_adaptive_window(true)
            .build(connector);
        Self {
            client,
            proxies,
            connect_timeout_ms: settings.connect_timeout_ms,
            first_byte_timeout: settings.first_byte_timeout(),
            idle_timeout: settings.idle_timeout(),
        }
    }

    /// Sends a request and waits for the head of the answer, whatever its status. It is sent once: again only when
    /// it was certainly not read. Dropping the future cancels the request.
    ///
    /// # Errors
    /// When there is no connection, or the connection ends or the time runs out before the answer's head.
    pub async fn send(
        &self,
        method: Method,
        target: &Target,
        headers: HeaderMap,
        body: RequestBody,
    ) -> Result<Response<AnswerBody>, UpstreamError> {
        // Only HTTP/2 can say that a request was not read.
        let again = if target.is_tls() { body.to_resend() } else { None };
        let progress = body.progress();
        let request = self.request(method, target, headers, body);
        let spare = again.map(|body| copy(&request, body));
        let answer = match self.head(self.client.request(request), progress.as_ref()).await? {
            Ok(answer) => Ok(answer),
            Err(error) => match spare.filter(|_| was_refused_unread(&error)) {
                Some(request) => self.head(self.client.request(request), None).await?,
                None => Err(error),
            },
        };
        let answer = answer.map_err(|e| UpstreamError::of_request(e, self.connect_timeout_ms))?;
        Ok(answer.map(|incoming| AnswerBody::new(incoming, self.idle_timeout)))
    }

    fn request(
        &self,
        method: Method,
        target: &Target,
        mut headers: HeaderMap,
        body: RequestBody,
    ) -> Request<RequestBody> {
        use http_body::Body as _;
        if let Some(host) = &target.host {
            headers.insert(HOST, host.clone());
        }
        if (method == Method::GET || method == Method::HEAD) && body.size_hint().exact().is_none() {
            headers.insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
        }
        if let Some(proxy) = self.proxies.of(&target.uri).filter(|_| !target.is_tls())
            && let Some(auth) = proxy.basic_auth()
        {
            headers.insert(PROXY_AUTHORIZATION, auth.clone());
        }
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = target.uri.clone();
        *request.headers_mut() = headers;
        request
    }

    /// Waits for the head of an answer. While the request's body still moves, the wait starts anew.
    async fn head(
        &self,
        mut sending: ResponseFuture,
        progress: Option<&Progress>,
    ) -> Result<Result<Response<hyper::body::Incoming>, ClientError>, UpstreamError> {
        let mut seen = 0;
        loop {
            tokio::select! {
                biased;
                answer = &mut sending => return Ok(answer),
                () = sleep_until(Instant::now() + self.first_byte_timeout) => {
                    let now = progress.map_or(0, Progress::pieces);
                    if now == seen {
                        return Err(UpstreamError::HeadTimeout(self.first_byte_timeout.as_millis() as u64));
                    }
                    seen = now;
                }
            }
        }
    }
}

fn copy(request: &Request<RequestBody>, body: RequestBody) -> Request<RequestBody> {
    let mut copy = Request::new(body);
    copy.method_mut().clone_from(request.method());
    copy.uri_mut().clone_from(request.uri());
    copy.headers_mut().clone_from(request.headers());
    copy
}

/// Whether the server said, by the means of HTTP/2, that it did not look at the request.
fn was_refused_unread(error: &ClientError) -> bool {
    causes(error).filter_map(|cause| cause.downcast_ref::<h2::Error>()).any(|error| {
        let reason = error.reason();
        (error.is_go_away() && error.is_remote() && reason == Some(h2::Reason::NO_ERROR))
            || (error.is_reset() && error.is_remote() && reason == Some(h2::Reason::REFUSED_STREAM))
    })
}
