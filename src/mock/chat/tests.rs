use axum::Router;
use axum::body::{Body, to_bytes};
use http::{Request, Response, StatusCode};
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::mock::testing::{self, scripted, text, value};
use crate::mock::{MockOptions, router};
use crate::tokens::{Tiktoken, TokenCounter as _};

async fn post(router: &Router, body: &str) -> Response<Body> {
    post_as(router, "Bearer one", body).await
}

async fn post_as(router: &Router, credential: &str, body: &str) -> Response<Body> {
    testing::post_as(router, "/api/v1/chat/completions", credential, body).await
}

fn request(messages: &Value) -> String {
    json!({"model": "mock", "messages": messages}).to_string()
}

fn call(id: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "read", "arguments": "{}"}})
}

fn calling(ids: &[&str]) -> Value {
    json!({"role": "assistant", "content": null, "tool_calls": ids.iter().map(|id| call(id)).collect::<Vec<_>>()})
}

fn result(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": "done"})
}

#[tokio::test]
async fn what_the_rules_allow_is_answered() {
    let router = router(MockOptions::default());
    let user = json!({"role": "user", "content": "go"});
    let image = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}});
    for messages in [
        json!([user]),
        json!([user, calling(&["a", "b"]), result("b"), result("a"), {"role": "assistant", "content": "ok"}]),
        json!([user, calling(&["a"]), result("a"), calling(&["a"]), result("a")]),
        json!([user, calling(&["a"]), {"role": "tool", "tool_call_id": "a", "content": "", "name": "read"}]),
        json!([user, calling(&["a"]), {"role": "tool", "tool_call_id": "a", "content": [image]}]),
        json!([{"role": "developer", "content": [{"type": "text", "text": "x"}]}, {"role": "user", "content": ""}]),
        json!([user, {"role": "assistant", "content": "", "tool_calls": [call("a")]}, result("a")]),
        json!([user, {"role": "assistant", "function_call": {"name": "f", "arguments": ""}},
            {"role": "function", "name": "f", "content": null}]),
        json!([user, {"role": "assistant", "content": "x", "tool_calls": null, "reasoning_content": "y"}]),
    ] {
        let response = post(&router, &request(&messages)).await;
        let status = response.status();
        assert_eq!(status, StatusCode::OK, "{messages}: {}", text(response).await);
    }
}

#[tokio::test]
async fn each_broken_rule_is_a_400_that_names_the_place() {
    let router = router(MockOptions::default());
    let user = json!({"role": "user", "content": "go"});
    let typed = |part: Value| json!([{"role": "user", "content": [part]}]);
    let bad_call = |call: Value| json!([user, {"role": "assistant", "tool_calls": [call]}, result("a")]);
    for (messages, place) in [
        (json!([]), "messages"),
        (json!("x"), "messages"),
        (json!([1]), "messages[0]"),
        (json!([{"content": "x"}]), "messages[0].role"),
        (json!([{"role": 7, "content": "x"}]), "messages[0].role"),
        (json!([{"role": "robot", "content": "x"}]), "messages[0].role"),
        (json!([{"role": "user"}]), "messages[0].content"),
        (json!([{"role": "user", "content": null}]), "messages[0].content"),
        (json!([{"role": "user", "content": 5}]), "messages[0].content"),
        (json!([{"role": "user", "content": []}]), "messages[0].content"),
        (json!([{"role": "system", "content": {"text": "x"}}]), "messages[0].content"),
        (typed(json!("x")), "messages[0].content[0]"),
        (typed(json!({"text": "x"})), "messages[0].content[0].type"),
        (typed(json!({"type": "text"})), "messages[0].content[0].text"),
        (typed(json!({"type": "text", "text": ""})), "messages[0].content[0].text"),
        (typed(json!({"type": "video", "text": "x"})), "messages[0].content[0].type"),
        (typed(json!({"type": "image_url", "image_url": {}})), "messages[0].content[0].image_url.url"),
        (json!([user, {"role": "assistant"}]), "messages[1].content"),
        (json!([user, {"role": "assistant", "content": ""}]), "messages[1].content"),
        (json!([user, {"role": "assistant", "content": "x", "tool_calls": []}]), "messages[1].tool_calls"),
        (json!([user, {"role": "assistant", "content": "x", "tool_calls": {}}]), "messages[1].tool_calls"),
        (bad_call(json!({"type": "function", "function": {}})), "messages[1].tool_calls[0].id"),
        (bad_call(json!({"id": "a", "function": {}})), "messages[1].tool_calls[0].type"),
        (bad_call(json!({"id": "a", "type": "x"})), "messages[1].tool_calls[0].type"),
        (bad_call(json!({"id": "a", "type": "function"})), "messages[1].tool_calls[0].function.name"),
        (
            bad_call(json!({"id": "a", "type": "function", "function": {"name": "f", "arguments": {}}})),
            "messages[1].tool_calls[0].function.arguments",
        ),
        (json!([user, calling(&["a", "a"]), result("a")]), "messages[1].tool_calls[1].id"),
        (json!([user, calling(&["a"]), {"role": "tool", "content": "x"}]), "messages[2].tool_call_id"),
        (
            json!([user, calling(&["a"]), {"role": "tool", "tool_call_id": "a", "content": null}]),
            "messages[2].content",
        ),
        (json!([user, result("a")]), "messages[1].tool_call_id"),
        (json!([user, calling(&["a"]), result("b")]), "messages[2].tool_call_id"),
        (json!([user, calling(&["a"]), result("a"), result("a")]), "messages[3].tool_call_id"),
        (json!([user, calling(&["a", "b"]), result("a"), user, result("b")]), "messages[1].tool_calls"),
        (json!([user, calling(&["a"]), result("a"), user, result("a")]), "messages[4].tool_call_id"),
        (json!([user, calling(&["a"])]), "messages[1].tool_calls"),
        (json!([user, calling(&["a"]), calling(&["b"]), result("a"), result("b")]), "messages[1].tool_calls"),
    ] {
        let response = post(&router, &request(&messages)).await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{messages}");
        let error = value(response).await;
        assert_eq!(error["error"]["param"], place, "{messages}: {error}");
        assert_eq!(error["error"]["type"], "invalid_request_error");
        assert!(error["error"]["message"].as_str().unwrap().contains(place.split('.').next().unwrap()));
    }
}

#[tokio::test]
async fn the_rest_of_the_request_has_rules_too() {
    let router = router(MockOptions::default());
    let messages = json!([{"role": "user", "content": "go"}]);
    for (more, place) in [
        (json!({"model": null}), "model"),
        (json!({"model": 3}), "model"),
        (json!({"stream": "yes"}), "stream"),
        (json!({"stream_options": {"include_usage": true}}), "stream_options"),
        (json!({"max_tokens": 0}), "max_tokens"),
        (json!({"max_completion_tokens": -1}), "max_completion_tokens"),
        (json!({"tools": []}), "tools"),
        (json!({"tools": [{"type": "function", "function": {}}]}), "tools[0].function.name"),
        (json!({"tool_choice": "auto"}), "tool_choice"),
    ] {
        let mut body = json!({"model": "mock", "messages": messages});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let response = post(&router, &body.to_string()).await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{more}");
        assert_eq!(value(response).await["error"]["param"], place, "{more}");
    }
    for body in ["", "[]", "{\"model\":"] {
        assert_eq!(post(&router, body).await.status(), StatusCode::BAD_REQUEST);
    }
}

#[tokio::test]
async fn usage_is_the_tokens_of_the_messages_and_tools() {
    let router = router(MockOptions::default());
    let tools = json!([{"type": "function", "function": {"name": "read", "description": "Reads a file."}}]);
    let messages = json!([
        {"role": "user", "content": [{"type": "text", "text": "read the file"}]},
        calling(&["a"]),
        result("a"),
    ]);
    let body = json!({"model": "mock", "tools": tools, "messages": messages}).to_string();
    let count = |text: &str| u64::from(Tiktoken::o200k().count(text));
    let expected =
        count(&tools.to_string()) + count("read the file") + count("read") + count("{}") + count("done") + 12;
    for _ in 0..2 {
        let answer = value(post(&router, &body).await).await;
        assert_eq!(answer["usage"]["prompt_tokens"], expected);
        assert_eq!(answer["usage"]["prompt_tokens_details"]["cached_tokens"], 0, "too short for the cache");
        let said = answer["choices"][0]["message"]["content"].as_str().unwrap();
        assert_eq!(answer["usage"]["completion_tokens"], count(said));
        assert_eq!(answer["usage"]["total_tokens"], expected + count(said));
    }
}

#[tokio::test]
async fn the_prefix_is_cached_by_credential_and_model() {
    let router = router(MockOptions::default());
    let long = "word ".repeat(2000);
    let first = json!([{"role": "user", "content": long}]);
    let second = json!([{"role": "user", "content": long}, {"role": "user", "content": "more"}]);
    let cached = async |credential: &str, model: &str, messages: &Value| {
        let body = json!({"model": model, "messages": messages}).to_string();
        let answer = value(post_as(&router, credential, &body).await).await;
        answer["usage"]["prompt_tokens_details"]["cached_tokens"].as_u64().unwrap()
    };
    assert_eq!(cached("a", "mock", &first).await, 0);
    assert_eq!(cached("a", "mock", &second).await, 1920, "2,005 in steps of 128");
    assert_eq!(cached("b", "mock", &second).await, 0);
    assert_eq!(cached("a", "mock-large", &second).await, 0);
}

#[tokio::test]
async fn too_large_for_the_window_is_an_overflow_with_both_numbers() {
    let router = router(MockOptions { window: 500, ..MockOptions::default() });
    let body = json!({"model": "x", "max_tokens": 100, "messages": [{"role": "user", "content": "word ".repeat(396)}]});
    let response = post(&router, &body.to_string()).await;
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    let error = value(response).await;
    assert_eq!(error["error"]["code"], "context_length_exceeded");
    let message = error["error"]["message"].as_str().unwrap();
    assert!(message.contains("500 tokens") && message.contains("501 tokens"), "{message}");
}

#[tokio::test]
async fn a_stream_ends_with_its_usage_when_asked() {
    let router = router(MockOptions::default());
    let mut body = json!({"model": "mock", "stream": true, "messages": [{"role": "user", "content": "go"}]});
    let plain = text(post(&router, &body.to_string()).await).await;
    assert!(!plain.contains("usage") && plain.ends_with("data: [DONE]\n\n"), "{plain}");
    body["stream_options"] = json!({"include_usage": true});
    let response = post(&router, &body.to_string()).await;
    assert!(response.headers()["content-type"].to_str().unwrap().starts_with("text/event-stream"));
    let stream = text(response).await;
    let events: Vec<Value> = stream
        .split("\n\n")
        .filter_map(|event| event.strip_prefix("data: ").filter(|data| *data != "[DONE]"))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect();
    let (last, others) = events.split_last().unwrap();
    assert_eq!(last["usage"]["prompt_tokens"], 5);
    assert_eq!(last["choices"], json!([]));
    assert!(others.iter().all(|chunk| chunk["usage"].is_null() && chunk.get("usage").is_some()));
    assert_eq!(others.last().unwrap()["choices"][0]["finish_reason"], "stop");
    let said: String = others.iter().filter_map(|c| c["choices"][0]["delta"]["content"].as_str()).collect();
    assert!(said.starts_with("The mock upstream has read 5 tokens"), "{said}");
}

#[tokio::test]
async fn the_script_decides() {
    let router = scripted(
        "{\"request\": 1, \"status\": 429, \"retry_after\": 7, \"message\": \"slow down\"}\n\
         {\"request\": 2, \"window\": 3}\n\
         {\"request\": 3, \"text\": \"hello\", \"tool_calls\": [{\"name\": \"read\", \"arguments\": {\"path\": \"a b c d e\"}}]}\n\
         {\"request\": 4, \"usage\": false}\n\
         {\"request\": 5, \"cut_after_chunks\": 2}\n\
         {\"request\": 6, \"cut_after_chunks\": 0}\n\
         {\"request\": 7, \"tool_calls\": [{\"name\": \"read\", \"arguments\": {\"path\": \"a b c d e\"}}]}",
    );
    let plain = request(&json!([{"role": "user", "content": "go"}]));
    let stream = plain.replacen('{', "{\"stream\":true,", 1);

    let response = post(&router, &plain).await;
    assert_eq!(
        (response.status(), response.headers()["retry-after"].as_bytes()),
        (StatusCode::TOO_MANY_REQUESTS, &b"7"[..])
    );
    assert_eq!(value(response).await["error"]["message"], "slow down");

    assert_eq!(value(post(&router, &plain).await).await["error"]["code"], "context_length_exceeded");

    let answer = value(post(&router, &plain).await).await;
    let message = &answer["choices"][0]["message"];
    assert_eq!(message["content"], "hello");
    assert_eq!(
        message["tool_calls"][0]["function"],
        json!({"name": "read", "arguments": "{\"path\":\"a b c d e\"}"})
    );
    assert_eq!(answer["choices"][0]["finish_reason"], "tool_calls");

    assert!(value(post(&router, &plain).await).await.get("usage").is_none());

    let mut body = post(&router, &stream).await.into_body();
    let mut frames = Vec::new();
    while let Some(frame) = http_body_util::BodyExt::frame(&mut body).await {
        frames.push(frame);
    }
    assert_eq!(frames.len(), 3);
    assert!(frames[..2].iter().all(Result::is_ok) && frames[2].is_err());

    let cut = to_bytes(post(&router, &plain).await.into_body(), usize::MAX).await;
    assert!(cut.is_err());

    let answer = text(post(&router, &stream).await).await;
    let arguments: String = answer
        .split("\n\n")
        .filter_map(|event| serde_json::from_str::<Value>(event.strip_prefix("data: ")?).ok())
        .filter_map(|c| {
            Some(c["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"].as_str()?.to_owned())
        })
        .collect();
    assert_eq!(arguments, "{\"path\":\"a b c d e\"}");
}

#[tokio::test]
async fn other_paths_and_methods_are_told_what_to_use() {
    let router = router(MockOptions::default());
    let get = async |path: &str| {
        let request = Request::get(path).body(Body::empty()).unwrap();
        router.clone().oneshot(request).await.unwrap()
    };
    let models = value(get("/v1/models").await).await;
    let mock = models["data"].as_array().unwrap().iter().find(|model| model["id"] == "mock").unwrap();
    assert_eq!(mock["context_length"], 128_000);
    assert_eq!(get("/v1/chat/completions").await.status(), StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(get("/v1/else").await.status(), StatusCode::NOT_FOUND);
}
