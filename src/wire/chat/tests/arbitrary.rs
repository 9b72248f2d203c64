use bytes::Bytes;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::{edit, whole};
use crate::model::{EditSet, ItemKind};
use crate::wire::chat::Chat;
use crate::wire::{Codec, Decoded};

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "[a-c\"\\\\\n/é😀 ]{0,12}", Just("u\\ud83d".to_owned())]
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let name = prop_oneof![
            select(vec!["role", "content", "type", "text", "tool_calls", "function", "id"])
                .prop_map(String::from),
            any_text(),
        ];
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((name, inner), 0..4).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn content() -> impl Strategy<Value = Value> {
    let text = (any_text(), option::of(any_json())).prop_map(|(text, more)| match more {
        Some(more) => json!({"type": "text", "text": text, "more": more}),
        None => json!({"text": text, "type": "text"}),
    });
    let image = option::of(any_json()).prop_map(|more| match more {
        Some(more) => json!({"type": "image_url", "image_url": {"url": "u"}, "more": more}),
        None => json!({"type": "image_url", "image_url": {"url": "u"}}),
    });
    let element = prop_oneof![4 => text, 2 => image, 1 => any_json()];
    prop_oneof![any_text().prop_map(Value::from), vec(element, 0..6).prop_map(Value::from), any_json()]
}

fn call() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => ("[ab]", any_text())
            .prop_map(|(id, text)| json!({"id": id, "function": {"name": "f", "arguments": text}})),
        1 => any_json(),
    ]
}

fn message() -> impl Strategy<Value = Value> {
    let spoken = (select(vec!["system", "user", "assistant", "critic"]), content())
        .prop_map(|(role, content)| json!({"role": role, "content": content}));
    let calls = (content(), vec(call(), 0..3)).prop_map(|(content, calls)| {
        json!({"role": "assistant", "content": content, "tool_calls": calls, "reasoning": "r"})
    });
    let result = ("[ab]", content())
        .prop_map(|(id, content)| json!({"content": content, "role": "tool", "tool_call_id": id}));
    prop_oneof![3 => spoken, 2 => calls, 3 => result, 1 => any_json()]
}

fn request() -> impl Strategy<Value = Value> {
    (vec(message(), 0..8), any_json())
        .prop_map(|(messages, x)| json!({"model": "m", "x": x, "messages": messages, "max_tokens": 7}))
}

fn body(request: &Value, pretty: bool) -> Bytes {
    let write = if pretty { serde_json::to_vec_pretty } else { serde_json::to_vec };
    write(request).unwrap().into()
}

/// What an edit of a message's content is to give, told of parsed values.
fn edited(content: &Value, text: &str) -> Value {
    let Value::Array(elements) = content else { return json!(text) };
    let kind = |element: &Value| match element["type"].as_str() {
        Some("text" | "input_text" | "output_text") if element["text"].is_string() => "text",
        Some("image_url" | "input_image" | "image") => "image",
        _ => "other",
    };
    let wanted = if elements.iter().any(|e| kind(e) == "text") { "text" } else { "image" };
    let Some(keeper) = elements.iter().position(|e| kind(e) == wanted) else { return content.clone() };
    let mut kept = Vec::new();
    for (index, element) in elements.iter().enumerate() {
        let more = element.get("more").is_some();
        match kind(element) {
            "text" if index == keeper => {
                let mut new = element.clone();
                new["text"] = json!(text);
                kept.push(new);
            }
            "text" if more => {
                let mut new = element.clone();
                if element["text"].to_string().len() > "\"…\"".len() {
                    new["text"] = json!("…");
                }
                kept.push(new);
            }
            "image" if index == keeper || more => {
                let mut new = json!({"type": "text", "text": if index == keeper { text } else { "…" }});
                if more {
                    new["more"] = element["more"].clone();
                }
                kept.push(new);
            }
            "text" | "image" => {}
            _ => kept.push(element.clone()),
        }
    }
    Value::Array(kept)
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
                expected["messages"][item.message]["content"] = edited(content, text);
            }
        }
    }
    (set, expected)
}

fn same(one: &Decoded, other: &Decoded) -> Result<(), TestCaseError> {
    let (a, b) = (&one.transcript, &other.transcript);
    prop_assert_eq!(whole(&a.items), whole(&b.items));
    prop_assert_eq!(&one.envelope, &other.envelope);
    prop_assert_eq!((&a.source, a.messages, &a.model), (&b.source, b.messages, &b.model));
    prop_assert_eq!((a.output_limit, a.definition_bytes), (b.output_limit, b.definition_bytes));
    prop_assert_eq!((&a.session_id, a.opening), (&b.session_id, b.opening));
    Ok(())
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
        let decoded = Chat::default().decode(body(&request, pretty)).unwrap();
        let messages: Vec<_> = decoded.transcript.items.iter().map(|item| item.message).collect();
        let mut distinct = messages.clone();
        distinct.dedup();
        let count = request["messages"].as_array().unwrap().len();
        prop_assert_eq!(distinct, (0..count).collect::<Vec<_>>());
        for (span, message) in decoded.envelope.messages.iter().zip(request["messages"].as_array().unwrap()) {
            let there: Value = serde_json::from_slice(span.slice(&decoded.transcript.source)).unwrap();
            prop_assert_eq!(&there, message);
        }
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
        let chat = Chat::default();
        let long = json!({"role": "system", "content": "long text ".repeat(filler * 500)});
        let mut messages = vec![long];
        messages.extend(start);
        for (new, forgotten, volatile) in turns {
            messages.truncate((messages.len() - forgotten.min(messages.len() - 1)).max(1));
            messages.extend(new);
            let mut sent = messages.clone();
            if volatile {
                sent.push(json!({"role": "user", "content": format!("turn {}", messages.len())}));
            }
            let request = if tools_in_front {
                json!({"tools": [1], "messages": sent, "model": "m"})
            } else {
                json!({"messages": sent, "tools": [1], "metadata": {"session_id": "s"}})
            };
            let body = body(&request, false);
            same(&chat.decode(body.clone()).unwrap(), &Chat::default().decode(body).unwrap())?;
        }
    }
}
