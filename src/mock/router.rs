use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode, header};

use super::chat;
use super::error::Refusal;
use super::meter::Meter;
use super::{MockOptions, models};
use crate::model::Fingerprint;
use crate::wire::{Coding, decode_all};

/// Largest request body that is read, in bytes, before and after undoing its content coding.
const LARGEST_BODY: usize = 256 << 20;

/// A mock upstream while it runs.
pub(super) struct Mock {
    pub(super) options: MockOptions,
    pub(super) meter: Meter,
    pub(super) chat: chat::Known,
    requests: AtomicU64,
}

/// One request for an answer of a model.
pub(super) struct Question {
    /// Counts the requests, from 1.
    pub(super) number: u64,
    /// Identity of the credential that came with it.
    pub(super) credential: Fingerprint,
    /// The body, content coding undone.
    pub(super) body: Bytes,
}

/// The routes of a mock upstream: `POST .../chat/completions` and `GET .../models`, under any base path.
/// Each router made has its own state. Reads the tokeniser's table, which takes some 100 ms.
pub fn router(options: MockOptions) -> Router {
    let mock =
        Mock { options, meter: Meter::new(), chat: chat::Known::default(), requests: AtomicU64::new(0) };
    Router::new().fallback(answer).with_state(Arc::new(mock))
}

async fn answer(State(mock): State<Arc<Mock>>, request: Request) -> Response {
    let path = request.uri().path().trim_end_matches('/').to_owned();
    let wanted = if path.ends_with("/chat/completions") {
        Method::POST
    } else if path.ends_with("/models") {
        Method::GET
    } else {
        let message =
            format!("There is nothing at {path}: the mock answers .../chat/completions and .../models.");
        return Refusal::with_status(StatusCode::NOT_FOUND, message).into_response();
    };
    if request.method() != wanted {
        let message = format!("{} is not allowed here: use {wanted}.", request.method());
        return Refusal::with_status(StatusCode::METHOD_NOT_ALLOWED, message).into_response();
    }
    if wanted == Method::GET {
        return models::list(&mock.options);
    }
    match mock.question(request).await {
        Ok(question) => chat::answer(&mock, question).await,
        Err(refusal) => refusal.into_response(),
    }
}

impl Mock {
    async fn question(&self, request: Request) -> Result<Question, Refusal> {
        let number = self.requests.fetch_add(1, Ordering::SeqCst) + 1;
        let (head, body) = request.into_parts();
        let body = read(&head.headers, body).await?;
        Ok(Question { number, credential: credential(&head.headers), body })
    }
}

async fn read(headers: &HeaderMap, body: Body) -> Result<Bytes, Refusal> {
    let body = to_bytes(body, LARGEST_BODY).await.map_err(|_| {
        Refusal::with_status(
            StatusCode::PAYLOAD_TOO_LARGE,
            "The request body is too large, or came incomplete.",
        )
    })?;
    let coding = headers.get(header::CONTENT_ENCODING).and_then(|value| value.to_str().ok());
    let unreadable = |_| {
        Refusal::with_status(
            StatusCode::BAD_REQUEST,
            "The request body is not in the content coding it names.",
        )
    };
    match Coding::of(coding).map_err(unreadable)?.as_slice() {
        [] => Ok(body),
        codings => decode_all(codings, &body, LARGEST_BODY).map(Bytes::from).map_err(unreadable),
    }
}

fn credential(headers: &HeaderMap) -> Fingerprint {
    let names = [header::AUTHORIZATION.as_str(), "api-key", "x-api-key"];
    Fingerprint::of(&names.map(|name| headers.get(name).map_or(&[][..], |value| value.as_bytes())))
}
