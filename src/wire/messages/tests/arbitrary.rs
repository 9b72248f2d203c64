use bytes::Bytes;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::{edit, thinking, whole};
use crate::model::{EditSet, ItemKind};
use crate::wire::messages::Messages;
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
        let names =
            vec!["role", "content", "type", "text", "tool_use_id", "input", "id", "source", "thinking"];
        let name = prop_oneof![select(names).prop_map(String::from), any_text()];
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((name, inner), 0..4).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn with_more(block: Value, more: Option<Value>) -> Value {
    let mut block = block;
    if let Some(more) = more {
        block["cache_control"] = more;
    }
    block
}

fn text_or_image() -> impl Strategy<Value = Value> {
    prop_oneof![
        2 => (any_text(), option::of(any_json()))
            .prop_map(|(text, more)| with_more(json!({"type": "text", "text": text}), more)),
        1 => option::of(any_json())
            .prop_map(|more| with_more(json!({"type": "image", "source": {"type": "url", "url": "u"}}), more)),
    ]
}

fn output() -> impl Strategy<Value = Value> {
    let element = prop_oneof![6 => text_or_image(), 1 => any_json()];
    prop_oneof![any_text().prop_map(Value::from), vec(element, 0..6).prop_map(Value::from), any_json()]
}

fn block() -> impl Strategy<Value = Value> {
    let result = ("[ab]", option::of(output()), option::of(any_json())).prop_map(|(id, content, more)| {
        let mut block = json!({"type": "tool_result", "tool_use_id": id});
        if let Some(content) = content {
            block["content"] = content;
        }
        with_more(block, more)
    });
    let call = ("[ab]", any_json())
        .prop_map(|(id, input)| json!({"type": "tool_use", "id": id, "name": "f", "input": input}));
    prop_oneof![
        3 => text_or_image(),
        4 => result,
        3 => call,
        1 => any_text().prop_map(|text| thinking(&text)),
        1 => any_json(),
    ]
}

fn message() -> impl Strategy<Value = Value> {
    let content = prop_oneof![
        1 => any_text().prop_map(Value::from),
        4 => vec(block(), 0..5).prop_map(Value::from),
        1 => any_json(),
    ];
    let spoken = (select(vec!["user", "assistant", "system", "critic"]), content)
        .prop_map(|(role, content)| json!({"role": role, "content": content}));
    prop_oneof![9 => spoken, 1 => any_json()]
}

fn request() -> impl Strategy<Value = Value> {
    (vec(message(), 0..8), any_json())
        .prop_map(|(messages, system)| json!({"model": "m", "system": system, "messages": messages}))
}

fn body(request: &Value, pretty: bool) -> Bytes {
    let write = if pretty { serde_json::to_vec_pretty } else { serde_json::to_vec };
    write(request).unwrap().into()
}

/// What an edit of a content is to give, told of parsed values.
fn edited(content: &Value, text: &str) -> Value {
    let Value::Array(elements) = content else { return json!(text) };
    let kind = |element: &Value| match element["type"].as_str() {
        Some("text") if element["text"].is_string() => "text",
        Some("image") => "image",
        _ => "other",
    };
    let wanted = if elements.iter().any(|e| kind(e) == "text") { "text" } else { "image" };
    let Some(keeper) = elements.iter().position(|e| kind(e) == wanted) else { return content.clone() };
    let mut kept = Vec::new();
    for (index, element) in elements.iter().enumerate() {
        let mut new = element.clone();
        let more = element.get("cache_control").is_some();
        match kind(element) {
            "text" | "image" if index != keeper && !more => continue,
            "text" if index == keeper => new["text"] = json!(text),
            "text" if element["text"].to_string().len() > "\"…\"".len() => new["text"] = json!("…"),
            "image" => {
                let text = if index == keeper { text } else { "…" };
                let more = element.get("cache_control").cloned();
                new = with_more(json!({"type": "text", "text": text}), more);
            }
            _ => {}
        }
        kept.push(new);
    }
    Value::Array(kept)
}

/// Sets an edit on every item in `chosen` that holds content, and says what is to come of it.
fn choose(decoded: &Decoded, request: &Value, chosen: &[bool], text: &str) -> (EditSet, Value) {
    let (mut set, mut expected) = (EditSet::default(), request.clone());
    let items = &decoded.transcript.items;
    for (index, item) in items.iter().enumerate() {
        if !chosen[index % chosen.len()] {
            continue;
        }
        set.set(index, edit(text));
        let block = index - items.iter().position(|other| other.message == item.message).unwrap();
        let content = format!("/messages/{}/content", item.message);
        let in_blocks = request.pointer(&content).is_some_and(Value::is_array);
        let place = match &item.kind {
            ItemKind::Message { .. } if in_blocks => format!("{content}/{block}/text"),
            ItemKind::Message { .. } => content,
            ItemKind::ToolResult(_) => format!("{content}/{block}/content"),
            _ => continue,
        };
        if let Some(place) =
            expected.pointer_mut(&place).filter(|place| place.is_string() || place.is_array())
        {
            *place = edited(place, text);
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
        drop(Messages::default().decode(body.into()));
    }

    #[test]
    fn a_cut_body_is_refused(request in request(), cut in any::<prop::sample::Index>()) {
        let whole = body(&request, false);
        let cut = cut.index(whole.len());
        prop_assert!(Messages::default().decode(whole.slice(..cut)).is_err());
    }

    #[test]
    fn every_message_has_items_in_order(request in request(), pretty: bool) {
        let decoded = Messages::default().decode(body(&request, pretty)).unwrap();
        let mut messages: Vec<_> = decoded.transcript.items.iter().map(|item| item.message).collect();
        messages.dedup();
        let sent = request["messages"].as_array().unwrap();
        prop_assert_eq!(messages, (0..sent.len()).collect::<Vec<_>>());
        for (span, message) in decoded.envelope.messages.iter().zip(sent) {
            let there: Value = serde_json::from_slice(span.slice(&decoded.transcript.source)).unwrap();
            prop_assert_eq!(&there, message);
        }
    }

    #[test]
    fn results_answer_calls_of_their_id_once(request in request()) {
        let decoded = Messages::default().decode(body(&request, false)).unwrap();
        let items = &decoded.transcript.items;
        let mut answered = Vec::new();
        for (index, item) in items.iter().enumerate() {
            if let ItemKind::ToolResult(result) = &item.kind
                && let Some(call) = result.call
            {
                prop_assert!(call < index && !answered.contains(&call));
                let is_call = matches!(&items[call].kind, ItemKind::ToolCall(call) if call.id == result.id);
                prop_assert!(is_call);
                answered.push(call);
            }
        }
    }

    #[test]
    fn edits_change_the_edited_texts_only(
        request in request(),
        pretty: bool,
        chosen in vec(any::<bool>(), 1..9),
        text in any_text(),
    ) {
        let codec = Messages::default();
        let decoded = codec.decode(body(&request, pretty)).unwrap();
        let (set, expected) = choose(&decoded, &request, &chosen, &text);
        let sent: Value = serde_json::from_slice(&codec.render(&decoded, &set)).unwrap();
        prop_assert_eq!(sent, expected);
    }

    #[test]
    fn leaving_out_reasoning_keeps_the_request_whole(request in request(), pretty: bool, from in 0_usize..6) {
        let codec = Messages::default();
        let decoded = codec.decode(body(&request, pretty)).unwrap();
        let Some(set) = codec.without_reasoning(&decoded, &EditSet::default(), from) else { return Ok(()) };
        let sent = codec.render(&decoded, &set);
        let again = Messages::default().decode(sent).unwrap();
        prop_assert_eq!(again.transcript.messages, decoded.transcript.messages);
        let kept = |decoded: &Decoded| {
            let items = decoded.transcript.items.iter();
            items.filter(|item| item.kind != ItemKind::Reasoning).map(|item| item.fingerprint).collect::<Vec<_>>()
        };
        let added = kept(&again).len() - kept(&decoded).len();
        prop_assert!(kept(&decoded).iter().all(|print| kept(&again).contains(print)) && added <= set.len());
        let empty = |message: &Value| message["content"].as_array().is_some_and(Vec::is_empty);
        let sent: Value = serde_json::from_slice(&again.transcript.source).unwrap();
        for (new, old) in sent["messages"].as_array().unwrap().iter().zip(request["messages"].as_array().unwrap()) {
            prop_assert!(!empty(new) || empty(old));
        }
    }

    #[test]
    fn what_is_known_reads_like_what_is_new(
        start in vec(message(), 0..6),
        turns in vec((vec(message(), 0..4), 0_usize..3, any::<bool>()), 1..6),
        tools_in_front: bool,
        filler in 1_usize..9,
    ) {
        let codec = Messages::default();
        let long = json!({"role": "user", "content": "long text ".repeat(filler * 500)});
        let mut messages = vec![long, json!({"role": "assistant", "content": "a"})];
        messages.extend(start);
        for (new, forgotten, volatile) in turns {
            messages.truncate((messages.len() - forgotten.min(messages.len() - 1)).max(1));
            messages.extend(new);
            let mut sent = messages.clone();
            if volatile {
                sent.push(json!({"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "a", "content": "r"},
                    {"type": "text", "text": format!("turn {}", messages.len())},
                ]}));
            }
            let request = if tools_in_front {
                json!({"tools": [1], "system": "s", "messages": sent, "model": "m"})
            } else {
                json!({"messages": sent, "tools": [1], "system": [{"type": "text", "text": "s"}]})
            };
            let body = body(&request, false);
            same(&codec.decode(body.clone()).unwrap(), &Messages::default().decode(body).unwrap())?;
        }
    }
}
