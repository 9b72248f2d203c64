use axum::Router;
use axum::body::Body;
use http::{Response, StatusCode};
use serde_json::{Value, json};

use crate::mock::testing::{joined, named_events, post_as, scripted, text, value};
use crate::mock::{MockOptions, router};
use crate::tokens::{Tiktoken, TokenCounter as _};

async fn post(router: &Router, body: &Value) -> Response<Body> {
    post_as(router, "/openai/v1/responses", "one", &body.to_string()).await
}

fn request(input: &Value) -> Value {
    json!({"model": "mock", "input": input})
}

fn with(more: &Value) -> Value {
    let mut body = request(&json!("go"));
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

fn call(id: &str) -> Value {
    json!({"type": "function_call", "call_id": id, "name": "read", "arguments": "{}"})
}

fn output(id: &str) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": "done"})
}

fn reasoning() -> Value {
    json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "opaque", "content": null})
}

#[tokio::test]
async fn what_the_rules_allow_is_answered() {
    let router = router(MockOptions::default());
    let go = json!({"role": "user", "content": "go"});
    let said =
        json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "ok"}]});
    let image = json!({"type": "input_image", "image_url": "data:image/png;base64,AA"});
    let custom = json!({"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": "x"});
    let patched = json!({"type": "custom_tool_call_output", "call_id": "c", "output": [image]});
    let shell = json!({"type": "local_shell_call", "call_id": "s", "action": {"command": ["ls"]}});
    let search = json!({"type": "web_search_call", "id": "ws", "status": "completed"});
    for input in [
        json!("go"),
        json!([go, call("a"), call("b"), output("b"), go, output("a")]),
        json!([go, call("a"), output("a"), call("a"), output("a"), said]),
        json!([go, reasoning(), call("a"), output("a"), reasoning(), reasoning(), said]),
        json!([go, reasoning(), search, custom, patched, shell, output("s")]),
        json!([shell, {"type": "local_shell_call_output", "id": "s", "output": "x"}]),
        json!([{"role": "developer", "content": [{"type": "input_text", "text": ""}]}, {"type": "no one knows"}]),
        json!([{"type": "item_reference", "id": "rs_9"}, {"type": "compaction", "encrypted_content": "x"}, go]),
        json!([{"type": "computer_call", "call_id": "k", "action": {"type": "wait"}}, {"type": "computer_call_output",
            "call_id": "k", "output": {"type": "computer_screenshot", "image_url": "data:,x"}}]),
    ] {
        let response = post(&router, &request(&input)).await;
        let status = response.status();
        assert_eq!(status, StatusCode::OK, "{input}: {}", text(response).await);
    }
    let continued = json!({"previous_response_id": "resp_1", "input": [output("a")]});
    assert_eq!(post(&router, &with(&continued)).await.status(), StatusCode::OK);
}

#[tokio::test]
async fn each_broken_rule_is_a_400_that_names_the_place() {
    let router = router(MockOptions::default());
    let go = json!({"role": "user", "content": "go"});
    let told = |part: Value| json!([{"role": "user", "content": [part]}]);
    let encrypted = |text: &str| {
        let mut item = reasoning();
        item["encrypted_content"] = text.into();
        json!([item, call("a"), output("a")])
    };
    for (input, place) in [
        (json!(""), "input"),
        (json!([]), "input"),
        (json!({}), "input"),
        (json!(["x"]), "input[0]"),
        (json!([{"content": "x"}]), "input[0].type"),
        (json!([{"type": 7}]), "input[0].type"),
        (json!([{"role": "tool", "content": "x"}]), "input[0].role"),
        (json!([{"type": "message", "content": "x"}]), "input[0].role"),
        (json!([{"role": "user"}]), "input[0].content"),
        (json!([{"role": "user", "content": 7}]), "input[0].content"),
        (told(json!("x")), "input[0].content[0]"),
        (told(json!({"type": "input_text"})), "input[0].content[0].text"),
        (told(json!({"type": "output_text", "text": "x"})), "input[0].content[0].type"),
        (told(json!({"type": "input_image"})), "input[0].content[0].file_id"),
        (
            json!([{"role": "assistant", "content": [{"type": "input_text", "text": "x"}]}]),
            "input[0].content[0].type",
        ),
        (json!([{"type": "function_call", "name": "f", "arguments": "{}"}]), "input[0].call_id"),
        (json!([{"type": "function_call", "call_id": "a", "arguments": "{}"}]), "input[0].name"),
        (
            json!([{"type": "function_call", "call_id": "a", "name": "f", "arguments": {}}]),
            "input[0].arguments",
        ),
        (json!([call("a"), {"type": "function_call_output", "call_id": "a"}]), "input[1].output"),
        (
            json!([call("a"), {"type": "function_call_output", "call_id": "a", "output": 7}]),
            "input[1].output",
        ),
        (json!([{"type": "item_reference"}]), "input[0].id"),
        (json!([go, call("a")]), "input"),
        (json!([go, output("a")]), "input"),
        (json!([output("a"), call("a")]), "input"),
        (json!([call("a"), output("a"), output("a")]), "input[2].call_id"),
        (json!([call("a"), call("a"), output("a"), output("a")]), "input[1].call_id"),
        (json!([call("a"), {"type": "custom_tool_call_output", "call_id": "a", "output": "x"}]), "input"),
        (json!([go, reasoning()]), "input"),
        (json!([go, reasoning(), go]), "input"),
        (json!([call("a"), reasoning(), output("a")]), "input"),
        (json!([{"type": "reasoning", "id": "rs"}, call("a"), output("a")]), "input[0].summary"),
        (encrypted(""), "input[0].encrypted_content"),
        (encrypted("mock.rs_mock_1.00"), "input[0].encrypted_content"),
    ] {
        let response = post(&router, &request(&input)).await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{input}");
        let error = value(response).await;
        assert_eq!(error["error"]["param"], place, "{input}: {error}");
        assert_eq!(error["error"]["type"], "invalid_request_error");
    }
}

#[tokio::test]
async fn the_rest_of_the_request_has_rules_too() {
    let router = router(MockOptions::default());
    for (more, place) in [
        (json!({"model": null}), "model"),
        (json!({"input": null}), "input"),
        (json!({"instructions": []}), "instructions"),
        (json!({"stream": 1}), "stream"),
        (json!({"max_output_tokens": 15}), "max_output_tokens"),
        (json!({"tools": [{"type": "function"}]}), "tools[0].name"),
        (json!({"tool_choice": "required"}), "tool_choice"),
        (json!({"previous_response_id": "a", "conversation": "b"}), "previous_response_id"),
        (json!({"previous_response_id": "a", "input": [call("a")]}), "input"),
    ] {
        let response = post(&router, &with(&more)).await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{more}");
        assert_eq!(value(response).await["error"]["param"], place, "{more}");
    }
}

#[tokio::test]
async fn usage_is_the_tokens_of_everything_and_what_was_cached() {
    let router = router(MockOptions::default());
    let tools = json!([{"type": "function", "name": "read", "parameters": {}}]);
    let body = json!({"model": "mock", "instructions": "be brief", "tools": tools, "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "read the file"}]}, call("a"), output("a")]});
    let count = |text: &str| u64::from(Tiktoken::o200k().count(text));
    let texts = [&tools.to_string(), "be brief", "read the file", "read", "{}", "done"];
    let expected = texts.iter().map(|text| count(text)).sum::<u64>() + 16;
    let answer = value(post(&router, &body).await).await;
    let said = count(answer["output"][0]["content"][0]["text"].as_str().unwrap());
    assert_eq!(
        answer["usage"],
        json!({"input_tokens": expected, "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": said, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": expected + said})
    );
    let long = json!({"role": "user", "content": "word ".repeat(2000)});
    let cached = async |input: Value| {
        let answer = value(post(&router, &request(&input)).await).await;
        answer["usage"]["input_tokens_details"]["cached_tokens"].as_u64().unwrap()
    };
    assert_eq!(cached(json!([long])).await, 0);
    assert_eq!(cached(json!([long, {"role": "user", "content": "more"}])).await, 1920);
}

#[tokio::test]
async fn a_stream_tells_the_same_as_a_whole_answer() {
    let call = r#"{"name": "read", "arguments": {"path": "a b c d e"}}"#;
    let router =
        scripted(&format!("{{\"thinking\": true, \"text\": \"well then\", \"tool_calls\": [{call}]}}"));
    let body = with(&json!({"input": [{"role": "user", "content": "go"}]}));
    let whole = value(post(&router, &body).await).await;
    let types = |items: &Value| -> Vec<String> {
        items.as_array().unwrap().iter().map(|item| item["type"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(types(&whole["output"]), ["reasoning", "message", "function_call"]);
    assert!(whole["usage"]["output_tokens_details"]["reasoning_tokens"].as_u64().unwrap() > 0);

    let mut again = body["input"].as_array().unwrap().clone();
    again.extend(whole["output"].as_array().unwrap().clone());
    again.push(
        json!({"type": "function_call_output", "call_id": whole["output"][2]["call_id"], "output": "x"}),
    );
    assert_eq!(
        post(&router, &request(&json!(again))).await.status(),
        StatusCode::OK,
        "an answer may be sent back"
    );

    let mut streamed = body.clone();
    streamed["stream"] = true.into();
    let stream = text(post(&router, &streamed).await).await;
    let events = named_events(&stream);
    assert!(events.iter().enumerate().all(|(at, event)| event["sequence_number"] == at));
    let of = |kind: &str| joined(&events, &format!("response.{kind}"), "/delta");
    assert_eq!(of("output_text.delta"), "well then");
    assert_eq!(of("function_call_arguments.delta"), "{\"path\":\"a b c d e\"}");
    assert!(of("reasoning_summary_text.delta").ends_with("before the answer."));
    assert_eq!([&events[0]["type"], &events[1]["type"]], ["response.created", "response.in_progress"]);
    let last = &events[events.len() - 1];
    assert_eq!(last["type"], "response.completed");
    assert_eq!(types(&last["response"]["output"]), types(&whole["output"]));
    assert_eq!(last["response"]["usage"], whole["usage"]);
    for index in 0..3 {
        let own: Vec<_> = events.iter().filter(|event| event["output_index"] == index).collect();
        assert_eq!(own[0]["type"], "response.output_item.added");
        assert_eq!(own[own.len() - 1]["type"], "response.output_item.done");
        assert_eq!(own[own.len() - 1]["item"], last["response"]["output"][index]);
        assert!(own[1..own.len() - 1].iter().all(|event| event["item_id"] == own[0]["item"]["id"]));
    }
}

#[tokio::test]
async fn the_script_fails_in_the_shape_of_the_api() {
    let router = scripted(
        "{\"request\": 1, \"status\": 429, \"retry_after\": 7, \"message\": \"slow\"}\n{\"request\": 2, \"window\": 3}\n\
         {\"request\": 3, \"usage\": false}\n{\"request\": 4, \"cut_after_chunks\": 2}",
    );
    let response = post(&router, &with(&json!({}))).await;
    assert_eq!((response.status().as_u16(), response.headers()["retry-after"].as_bytes()), (429, &b"7"[..]));
    let error = value(response).await;
    assert_eq!(
        error,
        json!({"error": {"message": "slow", "type": "rate_limit_error", "param": null, "code": null}})
    );
    let error = value(post(&router, &with(&json!({}))).await).await;
    assert_eq!(error["error"]["code"], "context_length_exceeded");
    assert_eq!(error["error"]["param"], "input");
    let message = error["error"]["message"].as_str().unwrap();
    assert!(message.contains("3 tokens") && message.contains("5 tokens"), "{message}");
    assert!(value(post(&router, &with(&json!({}))).await).await["usage"].is_null());
    let cut = post(&router, &with(&json!({"stream": true}))).await;
    assert!(axum::body::to_bytes(cut.into_body(), usize::MAX).await.is_err());
}
