use serde_json::{Value, json};

use crate::model::Usage;
use crate::wire::UsageFigures;
use crate::wire::messages::usage::Members;

fn read(documents: &[Value]) -> Usage {
    let mut members = Members::default();
    for document in documents {
        members.read(document.to_string().as_bytes());
    }
    members.usage()
}

fn start(usage: &Value) -> Value {
    json!({"type": "message_start", "message": {"id": "m", "usage": usage}})
}

fn delta(usage: &Value) -> Value {
    json!({"type": "message_delta", "delta": {}, "usage": usage})
}

#[test]
fn cached_tokens_are_extra() {
    let usage = json!({"input_tokens": 12, "cache_read_input_tokens": 50_000, "cache_creation_input_tokens": 1_000, "output_tokens": 40});
    let expected =
        Usage { input: Some(51_012), cache_read: Some(50_000), cache_write: Some(1_000), output: Some(40) };
    assert_eq!(read(&[json!({"type": "message", "usage": usage})]), expected);
    assert_eq!(read(&[start(&usage)]), expected);
}

#[test]
fn each_member_is_the_last_that_is_known() {
    let begun = start(&json!({"input_tokens": 9, "cache_read_input_tokens": 500, "output_tokens": 1}));
    let input = |ends: &[Value]| {
        let documents: Vec<_> = std::iter::once(begun.clone()).chain(ends.iter().map(delta)).collect();
        let usage = read(&documents);
        (usage.input, usage.output)
    };
    assert_eq!(input(&[json!({"output_tokens": 33})]), (Some(509), Some(33)));
    assert_eq!(
        input(&[json!({"input_tokens": 0, "cache_read_input_tokens": null, "output_tokens": 33})]),
        (Some(509), Some(33))
    );
    assert_eq!(
        input(&[json!({"cache_creation_input_tokens": 20}), json!({"input_tokens": 10, "output_tokens": 0})]),
        (Some(530), Some(1))
    );
    assert_eq!(input(&[json!({"cache_read_input_tokens": 700})]), (Some(709), Some(1)));
}

#[test]
fn everything_read_from_the_cache_is_a_size_too() {
    let usage = json!({"input_tokens": 0, "cache_read_input_tokens": 800});
    assert_eq!(read(&[json!({"usage": usage})]).input, Some(800));
}

#[test]
fn null_zero_and_nonsense_are_unknown() {
    for nothing in [
        json!(null),
        json!({}),
        json!({"input_tokens": 0, "output_tokens": 0}),
        json!({"input_tokens": null, "cache_read_input_tokens": null}),
        json!({"cache_read_input_tokens": 5}),
        json!({"input_tokens": 1, "cache_read_input_tokens": 2_000_000}),
        json!({"input_tokens": u64::MAX, "cache_read_input_tokens": 2}),
        json!([1]),
    ] {
        assert_eq!(read(&[start(&nothing), delta(&nothing)]).input, None, "{nothing}");
    }
    let mut members = Members::default();
    for document in ["", "[DONE]", "[1]", "{\"usage\":", "null"] {
        members.read(document.as_bytes());
    }
    assert_eq!(members.usage(), Usage::default());
}

#[test]
fn a_count_is_no_usage() {
    assert_eq!(read(&[json!({"input_tokens": 123})]), Usage::default());
}

#[test]
fn of_several_replies_to_one_request_the_first_measures_it() {
    let reply =
        |tokens: u64| json!({"type": "message", "input_tokens": tokens, "cache_read_input_tokens": 5});
    let of = |iterations: Value| {
        read(&[delta(&json!({"input_tokens": 900, "output_tokens": 7, "iterations": iterations}))]).input
    };
    assert_eq!(of(json!([reply(300), reply(600)])), Some(305));
    assert_eq!(of(json!([{"type": "compaction", "input_tokens": 9_000}, reply(900)])), Some(900));
    assert_eq!(of(json!(null)), Some(900));
}
