use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::model::{EditSet, ItemKind};
use crate::wire::chat::Chat;
use crate::wire::testing::{
    any_json, any_text, body, content, edit, edited, known_reads_like_new, messages_are_in_order,
};
use crate::wire::{Codec, Decoded};

fn anything() -> impl Strategy<Value = Value> + Clone {
    any_json(vec!["role", "content", "type", "text", "tool_calls", "function", "id"]).boxed()
}

fn said() -> impl Strategy<Value = Value> {
    content("text", json!({"type": "image_url", "image_url": {"url": "u"}}), anything())
}

fn call() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => ("[ab]", any_text())
            .prop_map(|(id, text)| json!({"id": id, "function": {"name": "f", "arguments": text}})),
        1 => anything(),
    ]
}

fn message() -> impl Strategy<Value = Value> {
    let spoken = (select(vec!["system", "user", "assistant", "critic"]), said())
        .prop_map(|(role, content)| json!({"role": role, "content": content}));
    let calls = (said(), vec(call(), 0..3)).prop_map(|(content, calls)| {
        json!({"role": "assistant", "content": content, "tool_calls": calls, "reasoning": "r"})
    });
    let result = ("[ab]", said())
        .prop_map(|(id, content)| json!({"content": content, "role": "tool", "tool_call_id": id}));
    prop_oneof![3 => spoken, 2 => calls, 3 => result, 1 => anything()]
}

fn request() -> impl Strategy<Value = Value> {
    (vec(message(), 0..8), anything())
        .prop_map(|(messages, x)| json!({"model": "m", "x": x, "messages": messages, "max_tokens": 7}))
}

/// Sets an edit on every item in `chosen` that holds content, and says what is to come of it.
fn choose(decoded: &Decoded, request: &Value, chosen: &[bool], text: &str) -> (EditSet, Value) {
    let (mut set, mut expected) = (EditSet::default(), request.clone());
    for (index, item) in decoded.transcript.items.iter().enumerate() {
        let editable = matches!(item.kind, ItemKind::Message { .. } | ItemKind::ToolResult(_));
        let content = &request["messages"][item.message]["content"];
        if editable && chosen[index % chosen.len()] {
            set.set(index, edit(text));
            if content.is_string() || content.is_array() {
                expected["messages"][item.message]["content"] = edited(content, text, "text");
            }
        }
    }
    (set, expected)
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(body: Vec<u8>) {
        drop(Chat::default().decode(body.into()));
    }

    #[test]
    fn a_cut_body_is_refused(request in request(), cut in any::<prop::sample::Index>()) {
        let whole = body(&request, false);
        let cut = cut.index(whole.len());
        prop_assert!(Chat::default().decode(whole.slice(..cut)).is_err());
    }

    #[test]
    fn every_message_has_items_in_order(request in request(), pretty: bool) {
        messages_are_in_order(&Chat::default(), &request, "messages", pretty)?;
    }

    #[test]
    fn edits_change_the_edited_texts_only(
        request in request(),
        pretty: bool,
        chosen in vec(any::<bool>(), 1..9),
        text in any_text(),
    ) {
        let chat = Chat::default();
        let decoded = chat.decode(body(&request, pretty)).unwrap();
        let (set, expected) = choose(&decoded, &request, &chosen, &text);
        let sent: Value = serde_json::from_slice(&chat.render(&decoded, &set)).unwrap();
        prop_assert_eq!(sent, expected);
    }

    #[test]
    fn what_is_known_reads_like_what_is_new(
        start in vec(message(), 0..6),
        turns in vec((vec(message(), 0..4), 0_usize..3, any::<bool>()), 1..6),
        tools_in_front: bool,
        filler in 1_usize..9,
    ) {
        let mut messages = vec![json!({"role": "system", "content": "long text ".repeat(filler * 500)})];
        messages.extend(start);
        known_reads_like_new::<Chat>(messages, turns, |sent| if tools_in_front {
            json!({"tools": [1], "messages": sent, "model": "m"})
        } else {
            json!({"messages": sent, "tools": [1], "metadata": {"session_id": "s"}})
        })?;
    }
}
