use serde_json::json;

use super::{decode, decode_messages};
use crate::model::{ItemKind, PartKind, Role};
use crate::wire::chat::Chat;
use crate::wire::testing::whole;
use crate::wire::{Codec, DecodeError};

fn kinds(messages: &serde_json::Value) -> Vec<String> {
    let decoded = decode_messages(messages);
    let transcript = &decoded.transcript;
    let name = |index: usize| match &transcript.items[index].kind {
        ItemKind::Message { role } => format!("{role:?}"),
        ItemKind::Reasoning => "Reasoning".into(),
        ItemKind::ToolCall(call) => format!("call {} {}", call.id, call.name),
        ItemKind::ToolResult(result) => format!("result of {:?}", result.call),
        ItemKind::Opaque => "Opaque".into(),
    };
    (0..transcript.items.len()).map(|i| format!("{} {}", transcript.items[i].message, name(i))).collect()
}

fn call(id: &str, name: &str) -> serde_json::Value {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}})
}

#[test]
fn every_kind_of_message_becomes_items() {
    let found = kinds(&json!([
        {"role": "developer", "content": "s"},
        {"role": "user", "content": [{"type": "text", "text": "u"}]},
        {"role": "assistant", "content": "a", "reasoning_content": "why", "tool_calls": [
            call("c1", "f"),
            {"id": "c2", "type": "custom", "custom": {"name": "g", "input": "x"}},
            {"id": "c3", "type": "new kind"},
        ]},
        {"role": "tool", "tool_call_id": "c2", "content": "r2"},
        {"role": "tool", "tool_call_id": "c1", "content": "r1"},
        {"role": "tool", "tool_call_id": "c9", "content": "lone"},
        {"role": "assistant", "content": null},
        {"role": "assistant"},
        {"role": "critic", "content": "?"},
        {"content": "no role"},
        "no object",
        null,
    ]));
    let expected = [
        "0 System",
        "1 User",
        "2 Reasoning",
        "2 Assistant",
        "2 call c1 f",
        "2 call c2 g",
        "2 Opaque",
        "3 result of Some(5)",
        "4 result of Some(4)",
        "5 result of None",
        "6 Assistant",
        "7 Assistant",
        "8 Opaque",
        "9 Opaque",
        "10 Opaque",
        "11 Opaque",
    ];
    assert_eq!(found, expected);
}

#[test]
fn results_pair_with_the_nearest_open_call_of_their_id() {
    let found = kinds(&json!([
        {"role": "assistant", "tool_calls": [call("c", "f"), call("c", "g")]},
        {"role": "tool", "tool_call_id": "c", "content": "1"},
        {"role": "tool", "tool_call_id": "c", "content": "2"},
        {"role": "assistant", "tool_calls": [call("c", "f"), call("d", "f")]},
        {"role": "assistant", "tool_calls": [call("c", "h")]},
        {"role": "tool", "tool_call_id": "c", "content": "3"},
        {"role": "tool", "tool_call_id": "d", "content": "4"},
        {"role": "tool", "tool_call_id": "c", "content": "5"},
    ]));
    let results: Vec<_> = found.iter().filter(|kind| kind.contains("result")).collect();
    let expected = [
        "1 result of Some(0)",
        "2 result of Some(1)",
        "5 result of Some(6)",
        "6 result of Some(5)",
        "7 result of None",
    ];
    assert_eq!(results, expected.iter().collect::<Vec<_>>());
}

#[test]
fn old_style_functions_pair_by_name_and_order() {
    let found = kinds(&json!([
        {"role": "assistant", "content": null, "function_call": {"name": "price", "arguments": "{}"}},
        {"role": "function", "name": "price", "content": "12"},
        {"role": "assistant", "content": null, "function_call": {"name": "price", "arguments": "{}"}},
        {"role": "function", "name": "price", "content": "13"},
        {"role": "function", "name": "other", "content": "14"},
    ]));
    let expected =
        ["0 call  price", "1 result of Some(0)", "2 call  price", "3 result of Some(2)", "4 result of None"];
    assert_eq!(found, expected);
}

#[test]
fn parts_tell_where_the_text_stands() {
    let decoded = decode_messages(&json!([{"role": "tool", "tool_call_id": "c", "content": [
        null,
        {"type": "text"},
        {"type": "text", "text": "a\"b"},
        {"type": "input_text", "text": "é", "cache_control": {"type": "ephemeral"}},
        {"type": "image_url", "image_url": {"url": "data:,"}},
        {"type": "audio"},
    ]}]));
    let item = &decoded.transcript.items[0];
    let kinds: Vec<_> = item.parts.iter().map(|part| (part.kind, part.carries_more)).collect();
    let (text, image, other) = (PartKind::Text, PartKind::Image, PartKind::Other);
    let expected =
        [(other, false), (other, false), (text, false), (text, true), (image, false), (other, false)];
    assert_eq!(kinds, expected);
    assert_eq!(decoded.transcript.text(0), "a\"b\né");
    let body = &decoded.transcript.source;
    assert_eq!(item.parts[2].element.slice(body), br#"{"type":"text","text":"a\"b"}"#);
    assert_eq!(decoded.envelope.messages[0].slice(body).last(), Some(&b'}'));
}

#[test]
fn equal_results_differ_in_their_fingerprint_only() {
    let decoded = decode_messages(&json!([
        {"role": "assistant", "tool_calls": [call("c", "f")]},
        {"role": "tool", "tool_call_id": "c", "content": "same"},
        {"role": "assistant", "tool_calls": [call("c", "f")]},
        {"role": "tool", "tool_call_id": "c", "content": "same"},
        {"role": "user", "content": "same"},
    ]));
    let items = &decoded.transcript.items;
    assert_ne!(items[1].fingerprint, items[3].fingerprint);
    assert_eq!(items[1].content, items[3].content);
    assert_eq!(items[1].content, items[4].content);
    assert_ne!(items[0].fingerprint, items[2].fingerprint);
}

#[test]
fn a_text_with_a_lone_surrogate_is_left_alone() {
    let decoded = decode(
        r#"{"messages":[{"role":"user","content":"a \ud83d b"},{"role":"tool","content":[{"type":"text","text":"\udc00"}]},{"role":"user","content":"fine \\ud83d"}]}"#,
    )
    .unwrap();
    let items = &decoded.transcript.items;
    assert_eq!(items[0].kind, ItemKind::Opaque);
    assert!(items[1].is_tool_result());
    assert_eq!(items[2].kind, ItemKind::Message { role: Role::User });
    assert!(items[..2].iter().all(|item| item.text_bytes() == 0));
}

#[test]
fn facts_around_the_messages_are_read_wherever_they_stand() {
    let decoded = decode(
        r#" {"max_tokens":5,"x":[{"messages":1}],"messages":[],"model":"gpt\u002d4","max_completion_tokens":70,
        "tools":[1,2],"functions":[ ],"metadata":{"user_id":"user_1_account__session_abc"}} "#,
    )
    .unwrap();
    let transcript = decoded.transcript;
    assert_eq!((transcript.model.as_str(), transcript.output_limit), ("gpt-4", Some(70)));
    assert_eq!(transcript.definition_bytes, 8);
    assert_eq!(transcript.session_id.as_deref(), Some("abc"));
    assert_eq!(transcript.messages, 0);
}

#[test]
fn session_ids_are_found_in_order_of_trust() {
    let id = |body: &str| decode(body).unwrap().transcript.session_id;
    assert_eq!(id(r#"{"messages":[],"session_id":"a","metadata":{"session_id":"b"}}"#).as_deref(), Some("a"));
    assert_eq!(id(r#"{"messages":[],"session_id":"","metadata":{"session_id":"b"}}"#).as_deref(), Some("b"));
    let nested = r#"{"messages":[],"metadata":{"user_id":"{\"device_id\":\"x\",\"session_id\":\"c\"}"}}"#;
    assert_eq!(id(nested).as_deref(), Some("c"));
    assert_eq!(
        id(r#"{"messages":[],"metadata":{"user_id":"someone"},"user":"u","prompt_cache_key":"p"}"#),
        None
    );
    assert_eq!(id(r#"{"messages":[],"metadata":null,"session_id":7}"#), None);
}

#[test]
fn the_opening_is_the_system_text_in_front_and_the_first_user_text() {
    let system = json!({"role": "system", "content": "s"});
    let user = |text: &str| json!({"role": "user", "content": text});
    let opening = |messages: serde_json::Value| decode_messages(&messages).transcript.opening;
    let base = opening(json!([system, user("u")]));
    assert!(base.is_some());
    assert_eq!(
        base,
        opening(json!([system, user("u"), {"role": "assistant", "content": "a"}, system, user("v")]))
    );
    assert_eq!(base, opening(json!([system, {"role": "user", "content": [{"type": "text", "text": "u"}]}])));
    assert_ne!(base, opening(json!([system, user("v")])));
    assert_ne!(base, opening(json!([user("u")])));
    assert_eq!(opening(json!([system])), None);
    assert_eq!(opening(json!([system, {"role": "user", "content": null}])), None);
}

#[test]
fn what_is_no_request_is_refused() {
    for body in [
        "",
        "[]",
        "7",
        "not json",
        "{",
        r#"{"messages":[}"#,
        r#"{"messages":[1,]}"#,
        r#"{"messages":[1 2]}"#,
        r#"{"messages":[1],}"#,
        r#"{"messages":[1]} x"#,
        r#"{"messages":[1]"#,
        r#"{"messages":[{"role":"user","role":"user"}]}"#,
        r#"{"messages":[{"role":"user","content":"a","content":"b"}]}"#,
        r#"{"messages":[{"role":"user","content":[{"type":"text","text":"a","text":"b"}]}]}"#,
        r#"{"messages":[],"messages":[]}"#,
        r#"{"messages":[],"model":"a","model":"a"}"#,
        r#"{"messages":[],"x":01}"#,
        r#"{"messages":[],"x":"\x"}"#,
        "{\"messages\":[],\"x\":\"\n\"}",
        "\u{feff}{\"messages\":[]}",
    ] {
        assert!(matches!(decode(body), Err(DecodeError::Json { .. })), "{body}");
    }
    for body in ["{}", r#"{"messages":null}"#, r#"{"messages":{}}"#] {
        assert!(matches!(decode(body), Err(DecodeError::NoMessages)), "{body}");
    }
    let bytes = b"{\"messages\":[],\"x\":\"\xff\"}";
    assert!(Chat::default().decode(bytes.as_slice().into()).is_err());
}

#[test]
fn members_that_are_not_read_may_be_repeated() {
    assert!(decode(r#"{"x":1,"x":2,"messages":[{"role":"user","content":"a","y":1,"y":2}]}"#).is_ok());
}

#[test]
fn depth_costs_neither_stack_nor_time() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let objects = format!("{}1{}", r#"{"content":"#.repeat(100_000), "}".repeat(100_000));
    for nested in [deep, objects] {
        let body = format!(
            r#"{{"x":{nested},"messages":[{nested},{{"role":"user","content":{nested},"y":{nested}}},{{"role":"user","content":[{nested}]}},{{"role":"assistant","tool_calls":[{nested},{{"function":{{"name":"f","arguments":{nested}}}}}]}}],"metadata":{nested}}}"#
        );
        assert_eq!(decode(&body).unwrap().transcript.items.len(), 5);
    }
    assert!(decode(&"[".repeat(100_000)).is_err());
    assert!(decode(&format!(r#"{{"messages":{}"#, "[".repeat(100_000))).is_err());
}

#[test]
fn reading_twice_gives_the_same() {
    let messages = json!([{"role": "user", "content": "u"}, {"role": "assistant", "content": "a"}]);
    let (one, two) = (decode_messages(&messages), decode_messages(&messages));
    assert_eq!(whole(&one.transcript.items), whole(&two.transcript.items));
}
