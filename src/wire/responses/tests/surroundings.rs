//! The body around the items.

use bytes::Bytes;
use serde_json::{Value, json};

use super::{decode, decode_input, rendered};
use crate::model::{EditSet, Role};
use crate::wire::responses::Responses;
use crate::wire::testing::{edits, whole};
use crate::wire::{Codec, Codecs, DecodeError, WireFormat};

#[test]
fn the_path_ends_in_its_name() {
    let format = |path: &str| Codecs::builtin().for_path(path).map(|(codec, _)| codec.format());
    for path in ["/v1/responses", "/responses", "/openai/deployments/d/responses/", "/x/v1/responses"] {
        assert_eq!(format(path), Some(WireFormat::Responses), "{path}");
    }
    for path in
        ["/v1/responses/compact", "/v1/responses/input_tokens", "/v1/responses/resp_1", "/v1/my_responses"]
    {
        assert_eq!(format(path), None, "{path}");
    }
}

#[test]
fn a_prompt_alone_is_a_user_message() {
    let body = Bytes::from_static(br#"{"input" : "caf\u00e9", "model":"m"}"#);
    let codec = Responses::default();
    let decoded = codec.decode(body.clone()).unwrap();
    let transcript = &decoded.transcript;
    assert_eq!(transcript.items[0].kind, crate::model::ItemKind::Message { role: Role::User });
    assert_eq!((transcript.messages, transcript.text(0).as_ref()), (1, "café"));
    assert!(transcript.opening.is_some());
    assert_eq!(codec.render(&decoded, &EditSet::default()).as_ptr(), body.as_ptr());
    assert_eq!(rendered(&decoded, &edits(&[(0, "new")])), json!({"input": "new", "model": "m"}));
    assert!(decode(r#"{"input":"\ud83d"}"#).unwrap().transcript.opening.is_none());
}

#[test]
fn a_long_prompt_alone_is_read_like_new_each_time() {
    let prompt = "long prompt ".repeat(5_000);
    let codec = Responses::default();
    for more in ["", ",\"x\":1", ",\"model\":\"m\",\"tools\":[1]"] {
        let body = Bytes::from(format!(r#"{{"input":"{prompt}"{more}}}"#));
        let (known, new) = (codec.decode(body.clone()).unwrap(), Responses::default().decode(body).unwrap());
        assert_eq!(whole(&known.transcript.items), whole(&new.transcript.items));
        assert_eq!(known.transcript.definition_bytes, new.transcript.definition_bytes);
    }
}

#[test]
fn facts_around_the_items_are_read_wherever_they_stand() {
    let transcript = decode(
        r#" {"max_output_tokens":70,"x":[{"input":1}],"input":[],"model":"gpt\u002d5","tools":[1,2],
        "instructions":"Be brief.","metadata":{"session_id":"abc"},"max_tokens":5} "#,
    )
    .unwrap()
    .transcript;
    assert_eq!((transcript.model.as_str(), transcript.output_limit), ("gpt-5", Some(70)));
    assert_eq!(transcript.definition_bytes, "[1,2]".len() + "\"Be brief.\"".len());
    assert_eq!(transcript.session_id.as_deref(), Some("abc"));
    assert!(!transcript.is_continued);
}

#[test]
fn session_ids_are_found_in_order_of_trust() {
    let id = |members: Value| {
        let mut body = json!({"input": []});
        body.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        decode(&body.to_string()).unwrap().transcript.session_id
    };
    let all = json!({
        "session_id": "a", "metadata": {"session_id": "b"}, "client_metadata": {"session_id": "c"}, "conversation": "d",
    });
    let mut left = all.as_object().unwrap().clone();
    for expected in ["a", "b", "c", "d"] {
        assert_eq!(id(Value::Object(left.clone())).as_deref(), Some(expected));
        let first = left.keys().next().unwrap().clone();
        left.shift_remove(&first);
    }
    assert_eq!(id(json!({"conversation": {"id": "e"}})).as_deref(), Some("e"));
    assert_eq!(id(json!({"prompt_cache_key": "p", "user": "u", "safety_identifier": "s"})), None);
    assert_eq!(id(json!({"client_metadata": {"turn": "1"}, "metadata": null, "conversation": ""})), None);
}

#[test]
fn the_opening_is_all_system_text_and_the_first_user_text() {
    let opening = |instructions: Value, input: Value| {
        decode(&json!({"instructions": instructions, "input": input}).to_string()).unwrap().transcript.opening
    };
    let developer = json!({"role": "developer", "content": "d"});
    let user = json!({"role": "user", "content": "u"});
    let base = opening(json!("i"), json!([developer, user]));
    let more = json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"});
    assert!(base.is_some());
    assert_eq!(base, opening(json!("i"), json!([developer, user, more, developer])));
    assert_ne!(base, opening(json!("j"), json!([developer, user])));
    assert_ne!(base, opening(Value::Null, json!([developer, user])));
    assert_ne!(base, opening(json!("i"), json!([user])));
    assert_eq!(opening(json!("i"), json!("u")), opening(json!("i"), json!([user])));
    assert_eq!(opening(json!("i"), json!([developer])), None);
}

#[test]
fn what_the_provider_keeps_is_known_to_be_missing() {
    for (member, value, continued) in [
        ("previous_response_id", json!("resp_1"), true),
        ("previous_response_id", Value::Null, false),
        ("conversation", json!({"id": "conv_1"}), true),
        ("store", json!(true), false),
    ] {
        let lone = json!({"type": "function_call_output", "call_id": "c", "output": "x"});
        let transcript = decode(&json!({"input": [lone], member: value}).to_string()).unwrap().transcript;
        assert_eq!(transcript.is_continued, continued, "{member} {value}");
        assert!(transcript.items[0].is_tool_result());
    }
}

#[test]
fn what_is_no_request_is_refused() {
    for body in [
        "",
        "[]",
        r#"{"input":[}"#,
        r#"{"input":[1] x"#,
        r#"{"input":[],"input":[]}"#,
        r#"{"input":"a","input":"b"}"#,
        r#"{"input":[],"instructions":"a","instructions":"b"}"#,
        r#"{"input":[{"type":"message","type":"message"}]}"#,
        r#"{"input":[{"type":"function_call","call_id":"a","call_id":"b","name":"f"}]}"#,
        r#"{"input":[{"type":"function_call_output","output":"a","output":"b"}]}"#,
    ] {
        assert!(matches!(decode(body), Err(DecodeError::Json { .. })), "{body}");
    }
    for body in ["{}", r#"{"input":null}"#, r#"{"input":{}}"#, r#"{"messages":[]}"#] {
        assert!(matches!(decode(body), Err(DecodeError::NoMessages)), "{body}");
    }
}

#[test]
fn depth_costs_neither_stack_nor_time() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let objects = format!("{}1{}", r#"{"output":"#.repeat(100_000), "}".repeat(100_000));
    for nested in [deep, objects] {
        let typed = |kind: &str, member: &str| format!(r#"{{"type":"{kind}","{member}":{nested}}}"#);
        let items = [
            nested.clone(),
            typed("message", "content"),
            typed("reasoning", "summary"),
            typed("local_shell_call", "action"),
            typed("function_call_output", "output"),
            typed("shell_call_output", "output"),
        ];
        let body = format!(r#"{{"x":{nested},"input":[{}],"metadata":{nested}}}"#, items.join(","));
        assert_eq!(decode(&body).unwrap().transcript.items.len(), items.len());
    }
    assert!(decode(&format!(r#"{{"input":{}"#, "[".repeat(100_000))).is_err());
    assert_eq!(decode_input(&json!([])).transcript.items.len(), 0);
}
