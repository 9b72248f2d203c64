use std::any::Any;
use std::sync::Arc;

use axum::Router;
use axum::response::Response;
use http::HeaderName;
use http::header::{AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION};
use tower::ServiceBuilder;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::sensitive_headers::SetSensitiveRequestHeadersLayer;

use super::refusal::Refusal;

/// The layers around the relay, outermost first. There is no time limit among them: answers stream for minutes, and
/// the waits that can hang have limits of their own in `upstream`.
pub(super) fn around_relay(router: Router) -> Router {
    router.layer(
        ServiceBuilder::new()
            // Outside everything, so that no bug of ours takes a connection down without an answer.
            .layer(CatchPanicLayer::custom(on_panic))
            // Before anything can print a request: credentials never show, whoever prints them.
            .layer(SetSensitiveRequestHeadersLayer::from_shared(credentials())),
    )
}

fn credentials() -> Arc<[HeaderName]> {
    Arc::new([
        AUTHORIZATION,
        PROXY_AUTHORIZATION,
        COOKIE,
        HeaderName::from_static("x-api-key"),
        HeaderName::from_static("api-key"),
        HeaderName::from_static("x-goog-api-key"),
    ])
}

/// The panic's own words stay out of log and answer: they may quote what the request held.
fn on_panic(_panic: Box<dyn Any + Send + 'static>) -> Response {
    tracing::error!("a bug stopped a request; the client got status 500");
    Refusal::Panicked.answer(None)
}
