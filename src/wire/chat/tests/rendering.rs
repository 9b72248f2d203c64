use bytes::Bytes;
use serde_json::{Value, json};

use super::{decode, decode_messages, rendered};
use crate::model::EditSet;
use crate::wire::Codec;
use crate::wire::chat::Chat;
use crate::wire::testing::{edits, folded};

fn content(messages: &Value, text: &str) -> Value {
    let decoded = decode_messages(messages);
    rendered(&decoded, &edits(&[(0, text)]))["messages"][0]["content"].take()
}

fn tool(content: &Value) -> Value {
    json!([{"role": "tool", "tool_call_id": "c", "content": content}])
}

#[test]
fn no_edits_give_the_same_buffer() {
    let body = Bytes::from_static(br#"{ "messages" : [ {"role":"user","content":"x"} ] , "n":1.0e5 }"#);
    let chat = Chat::default();
    let sent = chat.render(&chat.decode(body.clone()).unwrap(), &EditSet::default());
    assert_eq!((sent.as_ptr(), sent.len()), (body.as_ptr(), body.len()));
}

#[test]
fn only_the_text_changes() {
    let body = r#"{"a":1.0e5,"messages":[ {"x":123456789012345678901234567890,"content" : "caf\u00e9","role":"user"} ],"z":"\/"}"#;
    let sent = Chat::default().render(&decode(body).unwrap(), &edits(&[(0, "new \"é\"\n")]));
    let expected = body.replace(r#""caf\u00e9""#, r#""new \"é\"\n""#);
    assert_eq!(sent, expected);
}

#[test]
fn several_texts_become_one() {
    let text = |text: &str| json!({"type": "text", "text": text});
    assert_eq!(content(&tool(&json!("old")), "new"), json!("new"));
    assert_eq!(content(&tool(&json!([text("a"), text("b"), text("c")])), "new"), json!([text("new")]));
    assert_eq!(
        content(&tool(&json!([null, text("a"), {"type": "x"}, text("b"), 1])), "new"),
        json!([null, text("new"), {"type": "x"}, 1])
    );
    let marked = |text: &str| json!({"type": "text", "text": text, "cache_control": {"type": "ephemeral"}});
    assert_eq!(
        content(&tool(&json!([marked("first"), text("b"), marked("a long last text")])), "new"),
        json!([marked("new"), marked("…")])
    );
    assert_eq!(content(&tool(&json!([text("a"), marked("")])), "new"), json!([text("new"), marked("")]));
}

#[test]
fn images_go_with_the_text() {
    let text = |text: &str| json!({"type": "text", "text": text});
    let image = json!({"type": "image_url", "image_url": {"url": "data:,"}});
    let marked =
        json!({"type": "image_url", "image_url": {"url": "u"}, "cache_control": {"type": "ephemeral"}});
    assert_eq!(content(&tool(&json!([image, text("a"), image])), "new"), json!([text("new")]));
    assert_eq!(content(&tool(&json!([image, image, 1])), "new"), json!([text("new"), 1]));
    assert_eq!(
        content(&tool(&json!([image, marked])), "new"),
        json!([text("new"), {"type": "text", "text": "…", "cache_control": {"type": "ephemeral"}}])
    );
}

#[test]
fn what_has_no_text_is_not_touched() {
    for odd in [json!(null), json!([]), json!([null, {"type": "text"}]), json!(7), json!({"a": 1})] {
        assert_eq!(content(&tool(&odd), "new"), odd);
    }
    let opaque = json!([{"role": "critic", "content": "text"}]);
    assert_eq!(content(&opaque, "new"), json!("text"));
}

#[test]
fn a_fold_stands_for_whole_messages() {
    let decoded = decode_messages(&json!([
        {"role": "user", "content": "u"},
        {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c", "content": "r"},
        {"role": "user", "content": "v"},
    ]));
    let mut set = edits(&[(2, "inside"), (3, "w")]);
    assert!(set.fold(folded(&decoded, 1..3, "folded \"here\"")));
    let expected = json!([
        {"role": "user", "content": "u"},
        {"role": "assistant", "content": "folded \"here\""},
        {"role": "user", "content": "w"},
    ]);
    assert_eq!(rendered(&decoded, &set)["messages"], expected);
}
