use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::response::Response;
use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode, header};

use super::api::{Api, Route};
use super::error::Refusal;
use super::meter::Meter;
use super::{MockOptions, chat, exchange, messages, models, responses};
use crate::model::Fingerprint;
use crate::wire::{Coding, decode_all};

/// Largest request body that is read, in bytes, before and after undoing its content coding.
const LARGEST_BODY: usize = 256 << 20;

/// A mock upstream while it runs.
pub(super) struct Mock {
    pub(super) options: MockOptions,
    pub(super) meter: Meter,
    pub(super) chat: chat::Known,
    pub(super) messages: messages::Known,
    pub(super) responses: responses::Known,
    requests: AtomicU64,
}

/// One request for an answer of a model.
pub(super) struct Question {
    /// Counts the requests for answers, from 1.
    pub(super) number: u64,
    /// Identity of the credential that came with it.
    pub(super) credential: Fingerprint,
    pub(super) headers: HeaderMap,
    /// The body, content coding undone.
    pub(super) body: Bytes,
}

/// The routes of a mock upstream, under any base path: `POST` to `.../chat/completions`, `.../messages`,
/// `.../messages/count_tokens` and `.../responses`, and `GET .../models`.
/// Each router made has its own state. Reads the tokeniser's table, which takes some 100 ms.
pub fn router(options: MockOptions) -> Router {
    let mock = Mock {
        options,
        meter: Meter::new(),
        chat: chat::Known::default(),
        messages: messages::Known::default(),
        responses: responses::Known::default(),
        requests: AtomicU64::new(0),
    };
    Router::new().fallback(answer).with_state(Arc::new(mock))
}

async fn answer(State(mock): State<Arc<Mock>>, request: Request) -> Response {
    let path = request.uri().path().trim_end_matches('/').to_owned();
    let Some(route) = Route::of(&path) else {
        let message = format!(
            "There is nothing at {path}: the mock answers .../chat/completions, .../messages, \
             .../messages/count_tokens, .../responses and .../models."
        );
        return Refusal::with_status(StatusCode::NOT_FOUND, message).respond(Api::Chat, 0);
    };
    let wanted = if route == Route::Models { Method::GET } else { Method::POST };
    if request.method() != wanted {
        let message = format!("{} is not allowed here: use {wanted}.", request.method());
        return Refusal::with_status(StatusCode::METHOD_NOT_ALLOWED, message).respond(route.api(), 0);
    }
    if route == Route::Models {
        return models::list(&mock.options);
    }
    match (route, mock.question(route, request).await) {
        (_, Err((number, refusal))) => refusal.respond(route.api(), number),
        (Route::Answer(api), Ok(question)) => exchange::answer(&mock, api, question).await,
        (_, Ok(question)) => exchange::count(&mock, question).await,
    }
}

impl Mock {
    async fn question(&self, route: Route, request: Request) -> Result<Question, (u64, Refusal)> {
        let is_numbered = matches!(route, Route::Answer(_));
        let number = if is_numbered { self.requests.fetch_add(1, Ordering::SeqCst) + 1 } else { 0 };
        let (head, body) = request.into_parts();
        let body = read(&head.headers, body).await.map_err(|refusal| (number, refusal))?;
        Ok(Question { number, credential: credential(&head.headers), headers: head.headers, body })
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
