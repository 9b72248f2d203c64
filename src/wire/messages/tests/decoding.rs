use serde_json::json;

use super::{call, decode, decode_messages, kinds, marked, reply, result, text, thinking, user, whole};
use crate::model::{ItemKind, PartKind, Role};
use crate::wire::DecodeError;

#[test]
fn every_kind_of_block_becomes_an_item() {
    let decoded = decode_messages(&json!([
        {"role": "user", "content": "u"},
        reply(&json!([thinking("t"), {"type": "redacted_thinking", "data": "x"}, text("a"), call("c1"), call("c2")])),
        user(&json!([result("c2", &json!("r2")), result("c1", &json!([text("r1")])), text("and"), {"type": "image"}])),
        user(&json!([result("c1", &json!("again")), {"type": "document"}, {"type": "text"}, "bare", null])),
        {"role": "system", "content": [text("s")]},
        reply(&json!([{"type": "server_tool_use", "id": "s1"}, {"type": "tool_use", "id": "no name"}, {"no": "type"}])),
        reply(&json!([])),
        {"role": "assistant"},
        {"role": "critic", "content": "?"},
        null,
    ]));
    let expected = [
        "0 User",
        "1 Reasoning",
        "1 Reasoning",
        "1 Assistant",
        "1 call c1 f",
        "1 call c2 f",
        "2 result of Some(5)",
        "2 result of Some(4)",
        "2 User",
        "2 User",
        "3 result of None",
        "3 Opaque",
        "3 Opaque",
        "3 Opaque",
        "3 Opaque",
        "4 System",
        "5 Opaque",
        "5 Opaque",
        "5 Opaque",
        "6 Opaque",
        "7 Assistant",
        "8 Opaque",
        "9 Opaque",
    ];
    assert_eq!(kinds(&decoded), expected);
}

#[test]
fn an_id_that_comes_again_is_the_newest_call_s() {
    let decoded = decode_messages(&json!([
        reply(&json!([call("c"), call("c")])),
        user(&json!([result("c", &json!("1")), result("c", &json!("2"))])),
        reply(&json!([call("c")])),
        reply(&json!([call("c")])),
        user(&json!([result("c", &json!("3"))])),
    ]));
    let results: Vec<_> = kinds(&decoded).into_iter().filter(|kind| kind.contains("result")).collect();
    assert_eq!(results, ["1 result of Some(0)", "1 result of Some(1)", "4 result of Some(5)"]);
}

#[test]
fn arguments_are_read_as_they_are_written() {
    let body = r#"{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input": {"a" : 1.0, "b":"\u00e9\n"} },
        {"type":"tool_use","id":"d","name":"g","input":"bare \"text\""},{"type":"tool_use","id":"e","name":"h"}]}]}"#;
    let transcript = decode(body).unwrap().transcript;
    assert_eq!(transcript.text(0), r#"{"a" : 1.0, "b":"\u00e9\n"}"#);
    assert_eq!(transcript.items[0].text_bytes(), transcript.text(0).len());
    assert_eq!(transcript.text(1), r#"bare "text""#);
    assert_eq!(transcript.text(2), "");
}

#[test]
fn thinking_counts_by_its_text_or_else_as_it_is() {
    let decoded = decode_messages(&json!([reply(&json!([thinking("why"), thinking("")]))]));
    let items = &decoded.transcript.items;
    assert_eq!(decoded.transcript.text(0), "why");
    assert_eq!((items[1].parts[0].kind, items[1].text_bytes()), (PartKind::Other, 0));
    let block = items[0].parts[0].element.slice(&decoded.transcript.source);
    assert!(block.starts_with(b"{") && block.ends_with(b"}"));
}

#[test]
fn documents_count_as_text_or_as_an_image() {
    let document = |source: serde_json::Value| json!({"type": "document", "source": source});
    let blocks = json!([
        document(json!({"type": "base64", "data": "JVBERi0="})),
        document(json!({"type": "url", "url": "u"})),
        document(json!({"type": "text", "data": "plain"})),
        document(json!({"type": "content", "content": []})),
        document(json!(null)),
    ]);
    let (image, other) = (PartKind::FixedImage, PartKind::Other);
    let decoded = decode_messages(&json!([
        user(&blocks),
        reply(&json!([call("c")])),
        user(&json!([result("c", &blocks)]))
    ]));
    let items = &decoded.transcript.items;
    let outside: Vec<_> = items[..5].iter().map(|item| (item.kind.clone(), item.parts[0].kind)).collect();
    assert_eq!(outside, [image, image, other, other, other].map(|kind| (ItemKind::Opaque, kind)));
    let inside: Vec<_> = items[6].parts.iter().map(|part| part.kind).collect();
    assert_eq!(inside, [image, image, other, other, other]);
}

#[test]
fn errors_are_marked() {
    let error = json!({"type": "tool_result", "tool_use_id": "c", "is_error": true, "content": "e"});
    let decoded = decode_messages(&json!([user(&json!([error, result("d", &json!("r"))]))]));
    let marks = decoded.transcript.items.iter().map(|item| match &item.kind {
        ItemKind::ToolResult(result) => result.is_error,
        other => panic!("{other:?}"),
    });
    assert_eq!(marks.collect::<Vec<_>>(), [true, false]);
}

#[test]
fn a_moving_cache_mark_is_no_part_of_any_identity() {
    let prints = |mark: bool| {
        let mark = |block| if mark { marked(block) } else { block };
        let messages = json!([
            user(&json!([mark(text("u"))])),
            reply(&json!([mark(text("a")), mark(call("c"))])),
            user(&json!([
                mark(result("c", &json!([mark(text("r")), mark(json!({"type": "image", "source": {}}))]))),
                mark(json!({"type": "document", "source": {"type": "text", "data": "d"}})),
            ])),
        ]);
        let items = decode_messages(&messages).transcript.items;
        items.iter().map(|item| (item.fingerprint, item.content)).collect::<Vec<_>>()
    };
    assert_eq!(prints(true), prints(false));
}

#[test]
fn a_bare_text_and_a_block_of_it_are_the_same() {
    let bare = decode_messages(&json!([
        {"role": "user", "content": "u"}, {"role": "assistant", "content": "a"}, user(&json!([result("c", &json!("r"))])),
    ]));
    let blocks = decode_messages(&json!([
        user(&json!([text("u")])),
        reply(&json!([text("a")])),
        user(&json!([result("c", &json!([text("r")]))])),
    ]));
    let prints = |decoded: &crate::wire::Decoded| {
        decoded.transcript.items.iter().map(|item| item.fingerprint).collect::<Vec<_>>()
    };
    assert_eq!(prints(&bare), prints(&blocks));
}

#[test]
fn a_text_with_a_lone_surrogate_is_left_alone() {
    let decoded = decode(
        r#"{"messages":[{"role":"user","content":"\ud83d"},{"role":"user","content":[{"type":"text","text":"\udc00"},
        {"type":"tool_result","tool_use_id":"c","content":"\ud83d"},{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"\ud83d"}]}]}]}"#,
    )
    .unwrap();
    let items = &decoded.transcript.items;
    assert_eq!(items.len(), 4);
    assert!(items.iter().all(|item| item.kind == ItemKind::Opaque || item.is_tool_result()));
    assert!(items.iter().all(|item| item.text_bytes() == 0), "nothing of it can be edited");
}

#[test]
fn facts_around_the_messages_are_read() {
    let decoded = decode(
        r#"{"max_tokens":70,"system":[{"type":"text","text":"s"}],"messages":[],"tools":[1,2],"model":"c\u002d4",
        "metadata":{"user_id":"user_1_account_2_session_abc"}}"#,
    )
    .unwrap();
    let transcript = decoded.transcript;
    assert_eq!((transcript.model.as_str(), transcript.output_limit), ("c-4", Some(70)));
    assert_eq!(transcript.definition_bytes, r#"[{"type":"text","text":"s"}][1,2]"#.len());
    assert_eq!(transcript.session_id.as_deref(), Some("abc"));
    let nested = r#"{"messages":[],"metadata":{"user_id":"{\"device_id\":\"x\",\"session_id\":\"c\"}"}}"#;
    assert_eq!(decode(nested).unwrap().transcript.session_id.as_deref(), Some("c"));
}

#[test]
fn the_opening_is_the_system_text_and_all_text_of_the_first_user() {
    let opening = |system: serde_json::Value, messages: serde_json::Value| {
        decode(&json!({"system": system, "messages": messages}).to_string()).unwrap().transcript.opening
    };
    let asked = |words: &str| user(&json!([text("<reminder>"), text(words)]));
    let base = opening(json!("s"), json!([asked("u")]));
    assert!(base.is_some());
    assert_eq!(
        base,
        opening(json!([marked(text("s"))]), json!([asked("u"), reply(&json!([text("a")])), asked("v")]))
    );
    assert_ne!(base, opening(json!("s"), json!([asked("v")])));
    assert_ne!(base, opening(json!("t"), json!([asked("u")])));
    assert_ne!(base, opening(json!(null), json!([asked("u")])));
    assert_eq!(opening(json!("s"), json!([reply(&json!([text("a")]))])), None);
}

#[test]
fn what_is_no_request_is_refused() {
    for body in [
        "not json",
        r#"{"messages":[1,]}"#,
        r#"{"messages":[],"model":"a","model":"a"}"#,
        r#"{"messages":[],"system":"a","system":"a"}"#,
        r#"{"messages":[{"role":"user","content":"a","content":"b"}]}"#,
        r#"{"messages":[{"role":"user","content":[{"type":"text","type":"text","text":"a"}]}]}"#,
        r#"{"messages":[{"role":"user","content":[{"type":"tool_result","content":"a","content":"b"}]}]}"#,
    ] {
        assert!(matches!(decode(body), Err(DecodeError::Json { .. })), "{body}");
    }
    for body in ["{}", r#"{"messages":"a"}"#, r#"{"role":"user","content":"a message of a thread"}"#] {
        assert!(matches!(decode(body), Err(DecodeError::NoMessages)), "{body}");
    }
}

#[test]
fn depth_costs_neither_stack_nor_time() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let body = format!(
        r#"{{"system":{deep},"messages":[{deep},{{"role":"user","content":{deep}}},{{"role":"user","content":[{{"type":"tool_result","content":{deep}}},{{"type":"tool_use","name":"f","input":{deep}}}]}}]}}"#
    );
    assert_eq!(decode(&body).unwrap().transcript.items.len(), 4);
}

#[test]
fn reading_twice_gives_the_same() {
    let messages = json!([user(&json!([text("u")])), reply(&json!([thinking("t"), call("c")]))]);
    let (one, two) = (decode_messages(&messages), decode_messages(&messages));
    assert_eq!(whole(&one.transcript.items), whole(&two.transcript.items));
    assert_eq!(one.transcript.items[0].kind, ItemKind::Message { role: Role::User });
}
