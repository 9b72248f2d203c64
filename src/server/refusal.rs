use std::error::Error;

use axum::response::Response;
use http::{HeaderValue, StatusCode};
use serde_json::json;

use super::answer::{OUTCOME, json as as_json};
use super::body::BodyError;
use crate::upstream::{TargetError, UpstreamError};
use crate::wire::WireFormat;

/// Why a client gets an answer that is ours and no upstream's. The one place where our errors become responses.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    #[error(transparent)]
    Body(#[from] BodyError),
    #[error(transparent)]
    Target(#[from] TargetError),
    #[error("{error} ({upstream})")]
    Upstream {
        upstream: String,
        #[source]
        error: UpstreamError,
    },
    #[error("this proxy does not carry WebSocket connections on this path; send plain HTTP requests")]
    WebSocket,
    #[error("a bug in the proxy stopped this request")]
    Panicked,
}

impl Refusal {
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::Body(BodyError::TooLarge { .. }) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Body(BodyError::Incomplete(_)) | Self::Target(TargetError::NotAPath) => {
                StatusCode::BAD_REQUEST
            }
            Self::Target(TargetError::NoUpstream { .. }) => StatusCode::NOT_FOUND,
            Self::Upstream { error, .. } if error.is_timeout() => StatusCode::GATEWAY_TIMEOUT,
            Self::Upstream { .. } => StatusCode::BAD_GATEWAY,
            Self::WebSocket => StatusCode::UPGRADE_REQUIRED,
            Self::Panicked => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Its name in the error body and in the log.
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::Body(BodyError::TooLarge { .. }) => "body_too_large",
            Self::Body(BodyError::Incomplete(_)) => "body_incomplete",
            Self::Target(TargetError::NotAPath) => "not_a_path",
            Self::Target(TargetError::NoUpstream { .. }) => "no_upstream",
            Self::Upstream { error, .. } => error.as_str(),
            Self::WebSocket => "websocket_not_supported",
            Self::Panicked => "internal_error",
        }
    }
}

impl Refusal {
    /// The answer, in the shape of the API that the client speaks.
    pub(super) fn answer(&self, format: Option<WireFormat>) -> Response {
        let message = match self {
            Self::Upstream { .. } => with_causes(self, 2),
            _ => with_causes(self, 0),
        };
        let body = match format {
            Some(WireFormat::Messages) => json!({
                "type": "error",
                "error": {"type": "secateur_error", "message": message, "code": self.code()},
            }),
            Some(WireFormat::Chat | WireFormat::Responses) | None => json!({
                "error": {"message": message, "type": "secateur_error", "param": null, "code": self.code()},
            }),
        };
        let mut response = as_json(self.status(), &body);
        response.headers_mut().insert(OUTCOME, HeaderValue::from_static("error"));
        response
    }
}

/// An error's text with those of its causes, without the first `skip` levels that say the same in other words.
pub(super) fn with_causes(error: &dyn Error, skip: usize) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    let mut level = 1;
    while let Some(next) = cause {
        let words = next.to_string();
        if level >= skip && !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        cause = next.source();
        level += 1;
    }
    text
}
