use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde_json::{Value, json};

/// An answer that says no, in the API's error shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) message: String,
    /// Where in the request it went wrong, as `messages[3].content`.
    pub(super) param: Option<String>,
    pub(super) code: Option<&'static str>,
    /// Seconds until it is worth trying again.
    pub(super) retry_after: Option<u64>,
}

impl Refusal {
    /// The request breaks a rule of the API at `param`.
    pub(super) fn invalid(param: impl Into<String>, message: impl Into<String>) -> Self {
        let param = Some(param.into());
        Self { param, ..Self::with_status(StatusCode::BAD_REQUEST, message) }
    }

    /// The request as a whole is refused.
    pub(super) fn with_status(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), param: None, code: None, retry_after: None }
    }

    /// The request needs `asked` tokens, and the window holds `window`.
    pub(super) fn overflow(asked: u64, window: u64) -> Self {
        let message = format!(
            "The context window of this model is {window} tokens, but the request needs {asked} tokens, the answer \
             it may have included. Shorten the messages or ask for a shorter answer."
        );
        Self { code: Some("context_length_exceeded"), ..Self::invalid("messages", message) }
    }

    fn body(&self) -> Value {
        let kind = match self.status {
            StatusCode::TOO_MANY_REQUESTS => "rate_limit_error",
            status if status.is_server_error() => "server_error",
            _ => "invalid_request_error",
        };
        json!({"error": {"message": self.message, "type": kind, "param": self.param, "code": self.code}})
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.body().to_string()));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}
