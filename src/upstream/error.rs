use std::error::Error;

/// Any error, as bodies and connectors hand it on.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// What can go wrong between us and an upstream. The upstream's own refusals are answers, not errors.
#[derive(Debug, thiserror::Error)]
pub enum UpstreamError {
    /// The client cannot be built.
    #[error("cannot build the HTTP client")]
    Client(#[source] BoxError),
    /// No connection: unknown host, refused, TLS failed.
    #[error("cannot connect to the upstream")]
    Connect(#[source] BoxError),
    /// No connection in time.
    #[error("cannot connect to the upstream within {0} ms")]
    ConnectTimeout(u64),
    /// The request was sent and no answer's head came in time.
    #[error("the upstream did not answer within {0} ms")]
    HeadTimeout(u64),
    /// The connection ended before the answer's head. The request may have been read, so it is not sent again.
    #[error("the upstream broke off before it answered")]
    NoAnswer(#[source] BoxError),
    /// The answer stopped and stayed silent.
    #[error("the upstream sent nothing for {0} ms in the middle of its answer")]
    Idle(u64),
    /// The connection ended in the middle of the answer.
    #[error("the upstream broke off in the middle of its answer")]
    Broken(#[source] BoxError),
}

impl UpstreamError {
    /// Its name in logs, error bodies and labels.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Client(_) => "upstream_client",
            Self::Connect(_) => "upstream_unreachable",
            Self::ConnectTimeout(_) => "upstream_connect_timeout",
            Self::HeadTimeout(_) => "upstream_timeout",
            Self::NoAnswer(_) => "upstream_no_answer",
            Self::Idle(_) => "upstream_idle",
            Self::Broken(_) => "upstream_broken",
        }
    }

    /// Whether time ran out, as against a connection that failed.
    pub fn is_timeout(&self) -> bool {
        matches!(self, Self::ConnectTimeout(_) | Self::HeadTimeout(_) | Self::Idle(_))
    }

    /// What the client says when a request got no answer.
    pub(super) fn of_request(error: reqwest::Error, connect_timeout_ms: u64) -> Self {
        match (error.is_connect(), error.is_timeout()) {
            (true, true) => Self::ConnectTimeout(connect_timeout_ms),
            (true, false) => Self::Connect(error.without_url().into()),
            (false, _) => Self::NoAnswer(error.without_url().into()),
        }
    }
}
