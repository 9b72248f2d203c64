use bytes::Bytes;
use serde_json::{Value, json};

use super::{decode, decode_input, rendered};
use crate::model::EditSet;
use crate::wire::Codec;
use crate::wire::responses::Responses;
use crate::wire::testing::{edits, folded};

/// The item that an edit makes of one.
fn edited(item: &Value) -> Value {
    let decoded = decode_input(&json!([item]));
    rendered(&decoded, &edits(&[(0, "new")]))["input"][0].take()
}

fn output(output: &Value) -> Value {
    let item = json!({"type": "function_call_output", "id": "fco_1", "call_id": "c", "output": output});
    edited(&item)["output"].take()
}

#[test]
fn no_edits_give_the_same_buffer() {
    let body = Bytes::from_static(br#"{ "input" : [ {"role":"user","content":"x"} ] , "n":1.0e5 }"#);
    let codec = Responses::default();
    let sent = codec.render(&codec.decode(body.clone()).unwrap(), &EditSet::default());
    assert_eq!((sent.as_ptr(), sent.len()), (body.as_ptr(), body.len()));
}

#[test]
fn only_the_text_changes() {
    let body = r#"{"a":1.0e5,"input":[ {"x":123456789012345678901234567890,"output" : "caf\u00e9","call_id":"c", "type":"custom_tool_call_output"} ],"z":"\/"}"#;
    let sent = Responses::default().render(&decode(body).unwrap(), &edits(&[(0, "new \"é\"\n")]));
    let expected = body.replace(r#""caf\u00e9""#, r#""new \"é\"\n""#);
    assert_eq!(sent, expected);
}

#[test]
fn a_list_of_parts_stays_a_list() {
    let text = |text: &str| json!({"type": "input_text", "text": text});
    let image = json!({"type": "input_image", "image_url": "data:,", "detail": "high"});
    let file = json!({"type": "input_file", "file_id": "f"});
    assert_eq!(output(&json!([text("a"), image, text("b"), file])), json!([text("new"), file]));
    assert_eq!(output(&json!([image, file, image])), json!([text("new"), file]));
    assert_eq!(output(&json!([file])), json!([file]));
    assert_eq!(output(&json!([])), json!([]));
    assert_eq!(output(&Value::Null), Value::Null);
}

#[test]
fn what_commands_wrote_goes_and_how_they_ended_stays() {
    let streams = |stdout: &str, stderr: &str, code: u8| json!({"stdout": stdout, "stderr": stderr, "outcome": {"exit_code": code}});
    let item = |output: Value| json!({"type": "shell_call_output", "call_id": "c", "output": output, "max_output_length": 9});
    assert_eq!(
        edited(&item(json!([streams("long output", "", 0), streams("more", "a warning", 1)]))),
        item(json!([streams("new", "", 0), streams("…", "…", 1)]))
    );
}

#[test]
fn nothing_but_an_image_stands_for_a_screenshot() {
    let item = json!({
        "type": "computer_call_output", "call_id": "c", "output": {"type": "computer_screenshot", "image_url": "data:,"},
    });
    assert_eq!(edited(&item), item);
}

#[test]
fn reasoning_calls_and_the_unknown_are_not_edited() {
    for item in [
        json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": "s"}], "encrypted_content": "e"}),
        json!({"type": "item_reference", "id": "rs_1"}),
        json!({"type": "mcp_call", "output": "long"}),
        json!({"type": "image_generation_call", "result": "aW1hZ2U="}),
    ] {
        assert_eq!(edited(&item), item);
    }
}

#[test]
fn a_fold_stands_for_whole_items() {
    let decoded = decode_input(&json!([
        {"role": "user", "content": "u"},
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "r"},
        {"role": "user", "content": "v"},
    ]));
    let mut set = edits(&[(3, "inside"), (4, "w")]);
    assert!(set.fold(folded(&decoded, 1..4, "folded \"here\"")));
    let expected = json!([
        {"role": "user", "content": "u"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "folded \"here\""}]},
        {"role": "user", "content": "w"},
    ]);
    assert_eq!(rendered(&decoded, &set)["input"], expected);
}
