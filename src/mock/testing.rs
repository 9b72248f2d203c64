//! What the tests of all the APIs ask with.

use axum::Router;
use axum::body::{Body, to_bytes};
use http::{Request, Response};
use serde_json::Value;
use tower::ServiceExt as _;

use super::{MockOptions, Script, router};

/// A mock upstream with a script.
pub(super) fn scripted(script: &str) -> Router {
    router(MockOptions { script: Script::parse(script).unwrap(), ..MockOptions::default() })
}

/// Posts a body with a credential.
pub(super) async fn post_as(router: &Router, path: &str, credential: &str, body: &str) -> Response<Body> {
    let request = Request::post(path)
        .header("authorization", credential)
        .header("anthropic-version", "2023-06-01")
        .body(Body::from(body.to_owned()));
    router.clone().oneshot(request.unwrap()).await.unwrap()
}

/// The whole of an answer.
pub(super) async fn text(response: Response<Body>) -> String {
    String::from_utf8(to_bytes(response.into_body(), usize::MAX).await.unwrap().to_vec()).unwrap()
}

/// An answer in JSON.
pub(super) async fn value(response: Response<Body>) -> Value {
    serde_json::from_str(&text(response).await).unwrap()
}

/// The data of the events of a stream, whose names must be their types.
pub(super) fn named_events(stream: &str) -> Vec<Value> {
    let event = |event: &str| {
        let (name, data) = event.split_once('\n').unwrap();
        let data: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
        assert_eq!(Some(name.strip_prefix("event: ").unwrap()), data["type"].as_str());
        data
    };
    stream.split_terminator("\n\n").map(event).collect()
}

/// A member that many events have, put together.
pub(super) fn joined(events: &[Value], kind: &str, pointer: &str) -> String {
    let of_kind = events.iter().filter(|event| event["type"] == kind);
    of_kind.filter_map(|event| event.pointer(pointer)?.as_str()).collect()
}
