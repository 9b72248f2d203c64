use serde_json::{Value, json};

use crate::model::Usage;
use crate::wire::responses::usage::read;

fn usage(document: &Value) -> Usage {
    read(document.to_string().as_bytes())
}

fn figures() -> Value {
    json!({
        "input_tokens": 1200, "output_tokens": 30, "total_tokens": 1230,
        "input_tokens_details": {"cached_tokens": 1024}, "output_tokens_details": {"reasoning_tokens": 20},
    })
}

const EXPECTED: Usage =
    Usage { input: Some(1200), cache_read: Some(1024), cache_write: None, output: Some(30) };

#[test]
fn cached_tokens_are_part_of_the_input() {
    assert_eq!(usage(&json!({"object": "response", "usage": figures()})), EXPECTED);
}

#[test]
fn the_events_that_end_an_answer_hold_it() {
    for kind in ["response.completed", "response.incomplete", "response.failed"] {
        assert_eq!(usage(&json!({"type": kind, "response": {"id": "r", "usage": figures()}})), EXPECTED);
    }
}

#[test]
fn other_events_say_nothing() {
    for event in [
        json!({"type": "response.created", "response": {"usage": null}}),
        json!({"type": "response.output_text.delta", "delta": "usage: {\"input_tokens\": 7}"}),
        json!({"type": "response.failed", "response": {"error": {"code": "server_error"}, "usage": {}}}),
        json!({"type": "error", "response": "usage"}),
        json!({"usage": {"input_tokens": 0}}),
        json!([{"usage": figures()}]),
    ] {
        assert_eq!(usage(&event), Usage::default(), "{event}");
    }
    assert_eq!(read(b"[DONE]"), Usage::default());
}
