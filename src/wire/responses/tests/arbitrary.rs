use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::model::{EditSet, ItemKind};
use crate::wire::responses::Responses;
use crate::wire::testing::{
    any_json, any_text, body, content, edit, edited, known_reads_like_new, messages_are_in_order,
};
use crate::wire::{Codec, Decoded};

const TYPES: [&str; 12] = [
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "local_shell_call",
    "local_shell_call_output",
    "shell_call_output",
    "computer_call_output",
    "item_reference",
    "image_generation_call",
    "web_search_call",
];

fn anything() -> impl Strategy<Value = Value> + Clone {
    any_json(vec!["role", "content", "type", "text", "output", "call_id", "action", "stdout"]).boxed()
}

fn held() -> impl Strategy<Value = Value> {
    content("input_text", json!({"type": "input_image", "image_url": "u"}), anything())
}

/// An item of some type, all of whose members may hold anything.
fn odd() -> impl Strategy<Value = Value> {
    (select(TYPES.to_vec()), vec(anything(), 6)).prop_map(|(kind, mut any)| {
        let mut next = || any.pop().unwrap();
        json!({
            "type": kind, "role": "user", "name": "f", "call_id": "a", "output": next(), "content": next(),
            "action": next(), "summary": next(), "result": next(), "id": next(),
        })
    })
}

fn item() -> impl Strategy<Value = Value> {
    let spoken = (select(vec!["developer", "user", "assistant", "critic"]), held())
        .prop_map(|(role, content)| json!({"role": role, "content": content}));
    let call = ("[ab]", any_text(), anything()).prop_map(|(id, text, more)| {
        json!({"type": "function_call", "call_id": id, "name": "f", "arguments": text, "more": more})
    });
    let output = ("[ab]", held()).prop_map(
        |(id, output)| json!({"output": output, "type": "function_call_output", "call_id": id, "id": "fco"}),
    );
    let thought = any_text()
        .prop_map(|text| json!({"type": "reasoning", "summary": [{"text": text}], "encrypted_content": "e"}));
    prop_oneof![3 => spoken, 2 => call, 3 => output, 1 => thought, 2 => odd(), 1 => anything()]
}

fn request() -> impl Strategy<Value = Value> {
    (vec(item(), 0..8), anything()).prop_map(
        |(input, x)| json!({"model": "m", "x": x, "input": input, "instructions": "i", "max_output_tokens": 7}),
    )
}

/// Sets an edit on every item in `chosen` that holds content, and says what is to come of it.
fn choose(decoded: &Decoded, request: &Value, chosen: &[bool], text: &str) -> (EditSet, Value) {
    let (mut set, mut expected) = (EditSet::default(), request.clone());
    for (index, item) in decoded.transcript.items.iter().enumerate() {
        let entry = &request["input"][item.message];
        let member = match &item.kind {
            ItemKind::Message { .. } => "content",
            ItemKind::ToolResult(_) if entry["type"] == "function_call_output" => "output",
            _ => continue,
        };
        let is_shell =
            entry[member].as_array().is_some_and(|of| of.iter().any(|e| e.get("stdout").is_some()));
        if chosen[index % chosen.len()] && !is_shell && entry.get("summary").is_none() {
            set.set(index, edit(text));
            if entry[member].is_string() || entry[member].is_array() {
                expected["input"][item.message][member] = edited(&entry[member], text, "input_text");
            }
        }
    }
    (set, expected)
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(body: Vec<u8>) {
        drop(Responses::default().decode(body.into()));
    }

    #[test]
    fn a_cut_body_is_refused(request in request(), cut in any::<prop::sample::Index>()) {
        let whole = body(&request, false);
        let cut = cut.index(whole.len());
        prop_assert!(Responses::default().decode(whole.slice(..cut)).is_err());
    }

    #[test]
    fn every_entry_has_items_in_order(request in request(), pretty: bool) {
        messages_are_in_order(&Responses::default(), &request, "input", pretty)?;
    }

    #[test]
    fn edits_change_the_edited_texts_only(
        request in request(),
        pretty: bool,
        chosen in vec(any::<bool>(), 1..9),
        text in any_text(),
    ) {
        let codec = Responses::default();
        let decoded = codec.decode(body(&request, pretty)).unwrap();
        let (set, expected) = choose(&decoded, &request, &chosen, &text);
        let sent: Value = serde_json::from_slice(&codec.render(&decoded, &set)).unwrap();
        prop_assert_eq!(sent, expected);
    }

    #[test]
    fn any_edits_leave_the_entries_and_what_names_them(request in request(), text in any_text()) {
        let codec = Responses::default();
        let decoded = codec.decode(body(&request, false)).unwrap();
        let mut set = EditSet::default();
        (0..decoded.transcript.items.len()).for_each(|index| set.set(index, edit(&text)));
        let sent: Value = serde_json::from_slice(&codec.render(&decoded, &set)).unwrap();
        let (before, after) = (request["input"].as_array().unwrap(), sent["input"].as_array().unwrap());
        prop_assert_eq!(before.len(), after.len());
        for (before, after) in before.iter().zip(after) {
            for member in ["type", "call_id", "id", "role", "summary", "encrypted_content", "more", "name", "result"] {
                prop_assert_eq!(before.get(member), after.get(member));
            }
        }
    }

    #[test]
    fn what_is_known_reads_like_what_is_new(
        start in vec(item(), 0..6),
        turns in vec((vec(item(), 0..4), 0_usize..3, any::<bool>()), 1..6),
        tools_in_front: bool,
        filler in 1_usize..9,
    ) {
        let mut items = vec![json!({"role": "developer", "content": "long text ".repeat(filler * 500)})];
        items.extend(start);
        known_reads_like_new::<Responses>(items, turns, |sent| if tools_in_front {
            json!({"tools": [1], "instructions": "i", "input": sent, "model": "m"})
        } else {
            json!({"input": sent, "instructions": "i", "previous_response_id": "r", "metadata": {"session_id": "s"}})
        })?;
    }
}
