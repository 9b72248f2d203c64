use axum::body::Body;
use axum::response::Response;
use http::{HeaderValue, StatusCode, header};
use serde_json::{Value, json};

use super::api::Api;

/// An answer that says no.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) message: String,
    /// Where in the request it went wrong, as `messages[3].content`,
    /// in the spelling of the API.
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
    pub(super) fn overflow(param: &str, asked: u64, window: u64) -> Self {
        let message = format!(
            "The context window of this model is {window} tokens, but the request needs {asked} tokens, the answer \
             it may have included. Shorten the input or ask for a shorter answer."
        );
        Self { code: Some("context_length_exceeded"), ..Self::invalid(param, message) }
    }

    /// The answer in an API's shape. `number` is that of the request.
    pub(super) fn respond(&self, api: Api, number: u64) -> Response {
        let body = match api {
            Api::Chat | Api::Responses => self.openai(),
            Api::Messages => self.anthropic(number),
        };
        let mut response = Response::new(Body::from(body.to_string()));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }

    fn openai(&self) -> Value {
        let kind = match self.status {
            StatusCode::TOO_MANY_REQUESTS => "rate_limit_error",
            status if status.is_server_error() => "server_error",
            _ => "invalid_request_error",
        };
        json!({"error": {"message": self.message, "type": kind, "param": self.param, "code": self.code}})
    }

    fn anthropic(&self, number: u64) -> Value {
        let kind = match self.status.as_u16() {
            401 => "authentication_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            529 => "overloaded_error",
            500.. => "api_error",
            _ => "invalid_request_error",
        };
        let message = match &self.param {
            Some(place) => format!("{place}: {}", self.message),
            None => self.message.clone(),
        };
        json!({
            "type": "error",
            "error": {"type": kind, "message": message},
            "request_id": format!("req_mock_{number}"),
        })
    }
}
