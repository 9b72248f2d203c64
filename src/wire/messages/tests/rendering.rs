use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};

use super::{call, decode, decode_messages, edits, marked, rendered, reply, result, text, thinking, user};
use crate::model::{EditSet, Fingerprint, Fold, FoldedRange};
use crate::wire::Codec;
use crate::wire::messages::Messages;

/// What becomes of a result's content.
fn content(old: &Value) -> Value {
    let decoded = decode_messages(&json!([user(&json!([result("c", old), text("and")]))]));
    let mut sent = rendered(&decoded, &edits(&[(0, "new")]));
    assert_eq!(sent["messages"][0]["content"][1], text("and"));
    sent["messages"][0]["content"][0]["content"].take()
}

#[test]
fn no_edits_give_the_same_buffer() {
    let body = Bytes::from_static(br#"{ "messages" : [ {"role":"user","content":[ ]} ] , "n":1.0e5 }"#);
    let codec = Messages::default();
    let sent = codec.render(&codec.decode(body.clone()).unwrap(), &EditSet::default());
    assert_eq!((sent.as_ptr(), sent.len()), (body.as_ptr(), body.len()));
}

#[test]
fn only_the_text_changes() {
    let body = r#"{"a":1.0e5,"messages":[ {"role":"user","content":[ {"cache_control":{"type":"ephemeral"},"content" : "caf\u00e9","x":-0,"type":"tool_result","tool_use_id":"c"} ]} ],"z":"\/"}"#;
    let sent = Messages::default().render(&decode(body).unwrap(), &edits(&[(0, "new \"é\"\n")]));
    assert_eq!(sent, body.replace(r#""caf\u00e9""#, r#""new \"é\"\n""#));
}

#[test]
fn a_result_keeps_its_form_and_its_marks() {
    let image = json!({"type": "image", "source": {"type": "base64", "data": "A"}});
    let found = json!({"type": "search_result", "source": "s", "title": "t", "content": [text("x")]});
    assert_eq!(content(&json!("old")), json!("new"));
    assert_eq!(content(&json!([text("a"), text("b")])), json!([text("new")]));
    assert_eq!(
        content(&json!([text("a"), marked(text("a long last text"))])),
        json!([text("new"), marked(text("…"))])
    );
    assert_eq!(content(&json!([marked(text("a")), text("b")])), json!([marked(text("new"))]));
    assert_eq!(content(&json!([image, text("a"), found])), json!([text("new"), found]));
    assert_eq!(content(&json!([marked(image)])), json!([marked(text("new"))]));
    for odd in [json!(null), json!([]), json!([found]), json!({"a": 1})] {
        assert_eq!(content(&odd), odd);
    }
}

#[test]
fn what_has_no_content_is_not_touched() {
    let decoded = decode_messages(&json!([user(&json!([{"type": "tool_result", "tool_use_id": "c"}]))]));
    assert_eq!(Messages::default().render(&decoded, &edits(&[(0, "new")])), decoded.transcript.source);
}

#[test]
fn calls_and_thinking_are_not_touched() {
    let decoded = decode_messages(&json!([reply(&json!([thinking("t"), call("c"), {"type": "new"}]))]));
    let sent = Messages::default().render(&decoded, &edits(&[(0, "new"), (1, "new"), (2, "new")]));
    assert_eq!(sent, decoded.transcript.source);
}

#[test]
fn a_fold_stands_for_whole_messages() {
    let decoded = decode_messages(&json!([
        {"role": "user", "content": "u"},
        reply(&json!([thinking("t"), call("c")])),
        user(&json!([result("c", &json!("r"))])),
        reply(&json!([thinking("t2"), call("d")])),
        user(&json!([result("d", &json!("s"))])),
    ]));
    let items = &decoded.transcript.items;
    let fold = Fold {
        first: items[1].fingerprint,
        items: 3,
        chain: items[1..4].iter().map(|item| item.fingerprint).reduce(Fingerprint::then).unwrap(),
        text: "folded \"here\"".into(),
        tokens_before: 9,
        tokens_after: 1,
    };
    let mut set = edits(&[(3, "inside"), (6, "new")]);
    set.leave_out(1);
    assert!(set.fold(FoldedRange { messages: 1..3, items: 1..4, fold: Arc::new(fold) }));
    let expected = json!([
        {"role": "user", "content": "u"},
        user(&json!([text("folded \"here\"")])),
        reply(&json!([thinking("t2"), call("d")])),
        user(&json!([result("d", &json!("new"))])),
    ]);
    assert_eq!(rendered(&decoded, &set)["messages"], expected);
}
