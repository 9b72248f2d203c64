use axum::Router;
use axum::body::Body;
use http::{Request, Response, StatusCode};
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::mock::testing::{joined, named_events, post_as, scripted, text, value};
use crate::mock::{MockOptions, router};
use crate::tokens::{Tiktoken, TokenCounter as _};

const PATH: &str = "/anthropic/v1/messages";

async fn post(router: &Router, body: &Value) -> Response<Body> {
    post_as(router, PATH, "one", &body.to_string()).await
}

fn request(messages: &Value) -> Value {
    json!({"model": "mock", "max_tokens": 100, "messages": messages})
}

fn with(more: &Value) -> Value {
    let mut body = request(&json!([{"role": "user", "content": "go"}]));
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

fn user(blocks: &Value) -> Value {
    json!({"role": "user", "content": blocks})
}

fn assistant(blocks: &Value) -> Value {
    json!({"role": "assistant", "content": blocks})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "read", "input": {}})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "done"})
}

fn thinking(signature: &str) -> Value {
    json!({"type": "thinking", "thinking": "so", "signature": signature})
}

#[tokio::test]
async fn what_the_rules_allow_is_answered() {
    let router = router(MockOptions::default());
    let go = user(&json!("go"));
    let words = json!({"type": "text", "text": "and?"});
    let image =
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA"}});
    let nested =
        json!({"type": "tool_result", "tool_use_id": "a", "is_error": true, "content": [words, image]});
    let bare = json!({"type": "tool_result", "tool_use_id": "a"});
    for messages in [
        json!([go]),
        json!([go, user(&json!([words, image]))]),
        json!([
            go,
            assistant(&json!([call("a"), call("b")])),
            user(&json!([result("b"), result("a"), words]))
        ]),
        json!([go, assistant(&json!([call("a")])), user(&json!([nested])), assistant(&json!("ok"))]),
        json!([go, assistant(&json!([call("a")])), user(&json!([bare])), go]),
        json!([
            go,
            assistant(&json!([call("a")])),
            user(&json!([result("a")])),
            assistant(&json!([call("a")])),
            user(&json!([result("a")]))
        ]),
        json!([
            go,
            assistant(&json!([thinking("x"), words, thinking("x"), call("a")])),
            user(&json!([bare]))
        ]),
        json!([go, assistant(&json!([{"type": "redacted_thinking", "data": "x"}, words])), go]),
        json!([
            go,
            assistant(&json!([{"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
            {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}, thinking("x")])),
            go
        ]),
        json!([go, assistant(&json!(""))]),
    ] {
        let response = post(&router, &request(&messages)).await;
        let status = response.status();
        assert_eq!(status, StatusCode::OK, "{messages}: {}", text(response).await);
    }
}

#[tokio::test]
async fn each_broken_rule_is_a_400_that_names_the_place() {
    let router = router(MockOptions::default());
    let go = user(&json!("go"));
    let words = json!({"type": "text", "text": "and?"});
    let said = |block: Value| json!([go, assistant(&json!([block])), go]);
    let told = |block: Value| json!([user(&json!([block]))]);
    let answered = |blocks: Value| json!([go, assistant(&json!([call("a")])), user(&blocks)]);
    let content = |content: Value| json!([{"type": "tool_result", "tool_use_id": "a", "content": content}]);
    for (messages, place) in [
        (json!([]), "messages"),
        (json!([1]), "messages.0.role"),
        (json!([{"role": "system", "content": "x"}]), "messages.0.role"),
        (json!([assistant(&json!("x")), go]), "messages"),
        (json!([{"role": "user"}]), "messages.0.content"),
        (json!([user(&json!(5))]), "messages.0.content"),
        (json!([user(&json!(""))]), "messages.0"),
        (json!([user(&json!([]))]), "messages.0"),
        (json!([go, assistant(&json!([])), go]), "messages.1"),
        (json!([go, assistant(&json!("well "))]), "messages.1"),
        (json!([user(&json!(" \n"))]), "messages.0.content"),
        (told(json!({"text": "x"})), "messages.0.content.0.type"),
        (told(json!({"type": "text"})), "messages.0.content.0.text"),
        (told(json!({"type": "text", "text": ""})), "messages.0.content.0"),
        (told(json!({"type": "video"})), "messages.0.content.0.type"),
        (told(json!({"type": "image"})), "messages.0.content.0.source.type"),
        (told(call("a")), "messages.0.content.0.type"),
        (told(thinking("x")), "messages.0.content.0.type"),
        (told(result("a")), "messages.0.content.0"),
        (said(result("a")), "messages.1.content.0.type"),
        (said(call("a")), "messages.1"),
        (said(call("a b")), "messages.1.content.0.id"),
        (
            said(json!({"type": "tool_use", "id": "a", "name": "f", "input": "{}"})),
            "messages.1.content.0.input",
        ),
        (said(json!({"type": "thinking", "thinking": "x"})), "messages.1.content.0.signature"),
        (said(json!({"type": "redacted_thinking"})), "messages.1.content.0.data"),
        (json!([go, assistant(&json!([call("a")]))]), "messages.1"),
        (
            json!([go, assistant(&json!([call("a"), call("a")])), user(&json!([result("a")]))]),
            "messages.1.content.1.id",
        ),
        (json!([go, assistant(&json!([call("a"), call("b")])), user(&json!([result("a")]))]), "messages.1"),
        (json!([go, assistant(&json!([call("a")])), go, user(&json!([result("a")]))]), "messages.1"),
        (answered(json!([words, result("a")])), "messages.2.content.1"),
        (answered(json!([result("a"), result("a")])), "messages.2.content.1"),
        (answered(json!([result("a"), result("b")])), "messages.2.content.1"),
        (answered(content(json!(7))), "messages.2.content.0.content"),
        (answered(content(json!([{"type": "text", "text": ""}]))), "messages.2.content.0.content.0"),
        (answered(content(json!([{"type": "tool_use"}]))), "messages.2.content.0.content.0.type"),
        (
            json!([
                go,
                assistant(&json!([call("a")])),
                user(&json!([result("a")])),
                user(&json!([result("a")]))
            ]),
            "messages.3.content.0",
        ),
    ] {
        let response = post(&router, &request(&messages)).await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{messages}");
        let error = value(response).await;
        assert_eq!(
            (&error["type"], &error["error"]["type"]),
            (&json!("error"), &json!("invalid_request_error"))
        );
        assert!(error["request_id"].as_str().is_some());
        let message = error["error"]["message"].as_str().unwrap();
        assert_eq!(message.split(':').next(), Some(place), "{messages}: {message}");
    }
}

#[tokio::test]
async fn the_rest_of_the_request_has_rules_too() {
    let router = router(MockOptions::default());
    let tool = |more: Value| json!({"tools": [more]});
    let late = json!([{"role": "user", "content": "go"},
        assistant(&json!([{"type": "text", "text": "x"}, thinking("x")])), {"role": "user", "content": "go"}]);
    for (more, place) in [
        (json!({"model": null}), "model"),
        (json!({"max_tokens": null}), "max_tokens"),
        (json!({"max_tokens": 0}), "max_tokens"),
        (json!({"stream": 1}), "stream"),
        (json!({"system": [{"type": "image"}]}), "system.0.type"),
        (tool(json!({"input_schema": {}})), "tools.0.name"),
        (tool(json!({"name": "read"})), "tools.0.input_schema"),
        (json!({"tool_choice": {"type": "auto"}}), "tool_choice"),
        (json!({"thinking": {"type": "on"}}), "thinking.type"),
        (json!({"thinking": {"type": "enabled"}}), "thinking.budget_tokens"),
        (json!({"thinking": {"type": "enabled", "budget_tokens": 1023}}), "thinking.budget_tokens"),
        (json!({"thinking": {"type": "enabled", "budget_tokens": 2000}}), "thinking.budget_tokens"),
        (json!({"thinking": {"type": "adaptive"}, "messages": late}), "messages.1.content.1.type"),
        (json!({"cache_control": {"type": "for good"}}), "cache_control.type"),
    ] {
        let response = post(&router, &with(&more)).await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{more}");
        let error = value(response).await;
        let message = error["error"]["message"].as_str().unwrap();
        assert!(message.starts_with(&format!("{place}: ")), "{more}: {message}");
    }
    assert_eq!(post(&router, &with(&json!({"messages": late}))).await.status(), 200, "it does not think now");
    let unversioned = Request::post(PATH).body(Body::from(with(&json!({})).to_string())).unwrap();
    let response = router.clone().oneshot(unversioned).await.unwrap();
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    assert_eq!(value(response).await["error"]["message"], "anthropic-version: header is required");
}

#[tokio::test]
async fn tokens_are_counted_with_and_without_an_answer() {
    let router = router(MockOptions::default());
    let tool = json!({"name": "read", "description": "Reads a file.", "input_schema": {"type": "object"}});
    let mut body = json!({"model": "mock", "system": "be brief", "tools": [tool], "messages": [
        user(&json!("read the file")), assistant(&json!([call("a")])), user(&json!([result("a")]))]});
    let count = |text: &str| u64::from(Tiktoken::o200k().count(text));
    let texts = [
        tool.to_string(),
        "be brief".into(),
        "read the file".into(),
        "read".into(),
        "{}".into(),
        "done".into(),
    ];
    let expected = texts.iter().map(|text| count(text)).sum::<u64>() + 12;
    let counted = post_as(&router, "/v1/messages/count_tokens", "one", &body.to_string()).await;
    assert_eq!(value(counted).await, json!({"input_tokens": expected}));
    body["max_tokens"] = 10.into();
    let answer = value(post(&router, &body).await).await;
    let said = answer["content"][0]["text"].as_str().unwrap();
    assert_eq!(
        answer["usage"],
        json!({"input_tokens": expected, "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0, "output_tokens": count(said)})
    );
    assert_eq!(answer["id"], "msg_mock_1", "what is only counted has no number");
    body["messages"].as_array_mut().unwrap().pop();
    let refused = post_as(&router, "/v1/messages/count_tokens", "one", &body.to_string()).await;
    assert_eq!(refused.status(), StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn only_what_is_marked_is_cached() {
    let router = router(MockOptions::default());
    let long = "word ".repeat(2000);
    let marked = |text: &str| json!({"type": "text", "text": text, "cache_control": {"type": "ephemeral"}});
    let usage = async |messages: Value| {
        let usage = value(post(&router, &request(&messages)).await).await["usage"].clone();
        ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"]
            .map(|name| usage[name].as_u64().unwrap())
    };
    let plain = json!([user(&json!(long))]);
    let all = usage(plain.clone()).await[0];
    assert_eq!(usage(plain).await, [all, 0, 0], "nothing is marked");
    assert_eq!(usage(json!([user(&json!([marked(&long)]))])).await, [0, all, 0]);
    let moved = json!([user(&json!(long)), assistant(&json!("ok")), user(&json!([marked("more")]))]);
    let [uncached, written, read] = usage(moved).await;
    assert_eq!((uncached, read), (0, all), "the mark is no part of what is cached");
    assert!((1..30).contains(&written));
    let five = json!([user(&Value::Array(vec![marked("x"); 5]))]);
    let response = post(&router, &request(&five)).await;
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    assert!(text(response).await.contains("at most 4"));
}

#[tokio::test]
async fn too_large_for_the_window_is_told_with_both_numbers() {
    let router = router(MockOptions { window: 500, models: [].into(), ..MockOptions::default() });
    let message = async |words: usize| {
        let response = post(&router, &request(&json!([user(&json!("word ".repeat(words)))]))).await;
        (
            response.status().as_u16(),
            value(response).await["error"]["message"].as_str().unwrap_or("").to_owned(),
        )
    };
    assert_eq!(message(600).await, (400, "prompt is too long: 605 tokens > 500 maximum".to_owned()));
    let (status, told) = message(450).await;
    assert!(status == 400 && told.contains("455 + 100 > 500"), "{told}");
    assert_eq!(message(300).await.0, 200);
}

#[tokio::test]
async fn a_stream_tells_the_same_as_a_whole_answer() {
    let call = r#"{"name": "read", "arguments": {"path": "a b c d e"}}"#;
    let router =
        scripted(&format!("{{\"thinking\": true, \"text\": \"well then\", \"tool_calls\": [{call}]}}"));
    let whole = value(post(&router, &with(&json!({}))).await).await;
    assert_eq!(whole["stop_reason"], "tool_use");
    assert_eq!(whole["content"][2]["input"], json!({"path": "a b c d e"}));
    let stream = text(post(&router, &with(&json!({"stream": true}))).await).await;
    let events = named_events(&stream);
    let kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds[..3], ["message_start", "ping", "content_block_start"]);
    assert_eq!(kinds[kinds.len() - 3..], ["content_block_stop", "message_delta", "message_stop"]);
    let starts = events.iter().filter(|event| event["type"] == "content_block_start");
    let types: Vec<_> = starts.map(|event| event["content_block"]["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["thinking", "text", "tool_use"]);
    let of = |pointer: &str| joined(&events, "content_block_delta", pointer);
    assert_eq!(of("/delta/text"), "well then");
    assert_eq!(of("/delta/partial_json"), "{\"path\":\"a b c d e\"}");
    assert_eq!(of("/delta/signature"), whole["content"][0]["signature"]);
    let end = &events[events.len() - 2];
    assert_eq!((&end["usage"], &end["delta"]["stop_reason"]), (&whole["usage"], &json!("tool_use")));
    let begun = &events[0]["message"]["usage"];
    assert_eq!(
        (&begun["input_tokens"], &begun["output_tokens"]),
        (&whole["usage"]["input_tokens"], &json!(1))
    );
}

#[tokio::test]
async fn bound_thinking_belongs_to_what_stands_in_front() {
    let router = scripted(
        r#"{"contains": "unbound", "bind_thinking": false}
           {"thinking": true, "bind_thinking": true, "tool_calls": [{"name": "read"}]}"#,
    );
    let mut messages = vec![user(&json!("go"))];
    for _ in 0..3 {
        let answer = value(post(&router, &request(&json!(messages))).await).await;
        assert_eq!(answer["content"][0]["type"], "thinking", "{answer}");
        let id = answer["content"][1]["id"].as_str().unwrap();
        let told = user(&json!([{"type": "tool_result", "tool_use_id": id, "content": "a long story"}]));
        messages.extend([assistant(&answer["content"]), told]);
    }
    let fares = async |messages: &[Value], more: Value| {
        let mut body = request(&json!(messages));
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let response = post(&router, &body).await;
        (
            response.status().as_u16(),
            value(response).await["error"]["message"].as_str().unwrap_or("").to_owned(),
        )
    };
    let invalid = |place: &str| (400, format!("{place}: Invalid `signature` in `thinking` block"));
    let fine = (200, String::new());
    assert_eq!(fares(&messages, json!({})).await, fine);
    let mut marked = messages.clone();
    marked[4]["content"][0]["cache_control"] = json!({"type": "ephemeral"});
    assert_eq!(fares(&marked, json!({})).await, fine, "a mark for the cache is no change");
    assert_eq!(fares(&messages, json!({"system": "new"})).await, invalid("messages.1.content.0"));

    let mut edited = messages.clone();
    edited[2]["content"][0]["content"] = "cleared".into();
    assert_eq!(fares(&edited, json!({})).await, invalid("messages.3.content.0"));
    assert_eq!(fares(&edited, json!({"metadata": {"user_id": "unbound"}})).await, fine);
    let mut foreign = edited.clone();
    for at in [3, 5] {
        foreign[at]["content"][0]["signature"] = "of another".into();
    }
    assert_eq!(fares(&foreign, json!({})).await, fine, "only the mock's own are known");
    let mut left_out = edited;
    for at in [3, 5] {
        left_out[at]["content"].as_array_mut().unwrap().remove(0);
    }
    assert_eq!(fares(&left_out, json!({})).await, fine);
    let mut rewritten = messages.clone();
    rewritten[1]["content"][0]["thinking"] = "something else".into();
    assert_eq!(fares(&rewritten, json!({})).await, invalid("messages.1.content.0"));
}

#[tokio::test]
async fn the_script_fails_in_the_shape_of_the_api() {
    let router = scripted(
        "{\"request\": 1, \"status\": 529, \"retry_after\": 7}\n{\"request\": 2, \"status\": 429, \"message\": \"slow\"}\n\
         {\"request\": 3, \"window\": 3}\n{\"request\": 4, \"usage\": false}\n{\"request\": 5, \"cut_after_chunks\": 2}\n\
         {\"request\": 6, \"usage\": false}",
    );
    let (body, stream) = (with(&json!({})), with(&json!({"stream": true})));
    let response = post(&router, &body).await;
    assert_eq!((response.status().as_u16(), response.headers()["retry-after"].as_bytes()), (529, &b"7"[..]));
    assert_eq!(value(response).await["error"]["type"], "overloaded_error");
    let limited = value(post(&router, &body).await).await;
    assert_eq!(limited["error"], json!({"type": "rate_limit_error", "message": "slow"}));
    let large = value(post(&router, &body).await).await;
    assert_eq!(large["error"]["message"], "prompt is too long: 5 tokens > 3 maximum");
    assert!(value(post(&router, &body).await).await.get("usage").is_none());
    assert!(axum::body::to_bytes(post(&router, &stream).await.into_body(), usize::MAX).await.is_err());
    assert!(!text(post(&router, &stream).await).await.contains("usage"));
}
