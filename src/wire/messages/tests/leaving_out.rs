use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{call, decode, decode_messages, edits, rendered, reply, result, text, thinking, user};
use crate::model::{EditSet, ItemKind};
use crate::wire::messages::Messages;
use crate::wire::{Codec, Codecs, WireFormat};

/// What is left of a reply's blocks when all its thinking is left out.
fn left(blocks: &Value) -> Value {
    let decoded = decode_messages(&json!([reply(blocks)]));
    let mut set = EditSet::default();
    (0..decoded.transcript.items.len()).for_each(|index| set.leave_out(index));
    rendered(&decoded, &set)["messages"][0]["content"].take()
}

#[test]
fn thinking_goes_and_all_else_stays() {
    let (t, a, c) = (thinking("t"), text("a"), call("c"));
    assert_eq!(left(&json!([t, a, c])), json!([a, c]));
    assert_eq!(left(&json!([a, t])), json!([a]));
    assert_eq!(left(&json!([a, t, t, c, t, t])), json!([a, c]));
    assert_eq!(left(&json!([t, {"type": "redacted_thinking", "data": "x"}, a])), json!([a]));
}

#[test]
fn a_reply_never_becomes_empty() {
    assert_eq!(left(&json!([thinking("t")])), json!([text("…")]));
    assert_eq!(left(&json!([thinking("t"), thinking("u")])), json!([text("…")]));
}

#[test]
fn white_space_goes_with_its_block() {
    let body = r#"{"messages":[{"role":"assistant","content":[ {"type":"thinking","thinking":"t"} ,
        {"type":"text","text":"a"} , {"type":"thinking","thinking":"t"} ]}]}"#;
    let decoded = decode(body).unwrap();
    let mut set = EditSet::default();
    assert_eq!(set.leave_out_reasoning(&decoded.transcript, 0), 1);
    set.leave_out(0);
    let sent = Messages::default().render(&decoded, &set);
    assert_eq!(sent, r#"{"messages":[{"role":"assistant","content":[ {"type":"text","text":"a"}  ]}]}"#);
}

#[test]
fn only_thinking_behind_the_place_is_left_out() {
    let decoded = decode_messages(&json!([
        {"role": "user", "content": "u"},
        reply(&json!([thinking("1"), call("c")])),
        user(&json!([result("c", &json!("r"))])),
        reply(&json!([thinking("2"), text("a")])),
    ]));
    let codec = Messages::default();
    let set = codec.without_reasoning(&decoded, &edits(&[(3, "gone")]), 3).unwrap();
    let sent = rendered(&decoded, &set);
    assert_eq!(sent["messages"][1], reply(&json!([thinking("1"), call("c")])));
    assert_eq!(sent["messages"][2], user(&json!([result("c", &json!("gone"))])));
    assert_eq!(sent["messages"][3], reply(&json!([text("a")])));
    assert!(codec.without_reasoning(&decoded, &set, 3).is_none());
    let all = codec.without_reasoning(&decoded, &set, 0).unwrap();
    assert_eq!(all.left_out().collect::<Vec<_>>(), [1, 4]);
}

#[test]
fn a_format_that_needs_its_reasoning_keeps_it() {
    let body = json!({"messages": [{"role": "user", "content": "u"}, {"role": "assistant", "reasoning": "r", "content": "a"}]});
    let codecs = Codecs::builtin();
    let chat = codecs.all().find(|codec| codec.format() == WireFormat::Chat).unwrap();
    let decoded = chat.decode(body.to_string().into()).unwrap();
    assert!(chat.without_reasoning(&decoded, &EditSet::default(), 0).is_none());
    let mut set = EditSet::default();
    set.leave_out(1);
    assert_eq!(chat.render(&decoded, &set), decoded.transcript.source);
}

proptest! {
    #[test]
    fn whatever_is_left_out_the_rest_stays(
        blocks in vec(prop_oneof![Just(thinking("t")), Just(text("a")), Just(call("c")), Just(json!(null))], 1..9),
        chosen in vec(any::<bool>(), 9),
        pretty: bool,
    ) {
        let request = json!({"messages": [reply(&json!(blocks)), user(&json!([text("u")]))]});
        let body = if pretty { serde_json::to_string_pretty(&request) } else { serde_json::to_string(&request) };
        let decoded = decode(&body.unwrap()).unwrap();
        let mut set = EditSet::default();
        (0..blocks.len()).filter(|index| chosen[*index]).for_each(|index| set.leave_out(index));
        let stays = |index: usize| !chosen[index] || decoded.transcript.items[index].kind != ItemKind::Reasoning;
        let mut kept: Vec<_> = (0..blocks.len()).filter(|index| stays(*index)).map(|i| blocks[i].clone()).collect();
        if kept.is_empty() {
            kept.push(text("…"));
        }
        let mut expected = request.clone();
        expected["messages"][0]["content"] = json!(kept);
        prop_assert_eq!(rendered(&decoded, &set), expected);
    }
}
