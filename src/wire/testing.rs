//! What the tests of all codecs share: arbitrary values, and what every codec promises of them.

use std::sync::Arc;

use bytes::Bytes;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::{Codec, Decoded};
use crate::model::{Edit, EditSet, Fold, FoldedRange, Item, Strength};

pub(super) fn edit(text: &str) -> Arc<Edit> {
    Arc::new(Edit { text: text.into(), strength: Strength::Hard, tokens_before: 9, tokens_after: 1 })
}

pub(super) fn edits(texts: &[(usize, &str)]) -> EditSet {
    let mut set = EditSet::default();
    for (index, text) in texts {
        set.set(*index, edit(text));
    }
    set
}

/// A fold of whole messages into `text`.
pub(super) fn folded(decoded: &Decoded, messages: std::ops::Range<usize>, text: &str) -> FoldedRange {
    let items = &decoded.transcript.items;
    let at = |message| items.partition_point(|item| item.message < message);
    let range = at(messages.start)..at(messages.end);
    let prints = items[range.clone()].iter().map(|item| item.fingerprint);
    let fold = Fold {
        first: items[range.start].fingerprint,
        items: range.len(),
        chain: prints.reduce(crate::model::Fingerprint::then).unwrap(),
        text: text.into(),
        tokens_before: 9,
        tokens_after: 1,
    };
    FoldedRange { messages, items: range, fold: Arc::new(fold) }
}

/// Everything of an item, to compare.
pub(super) fn whole(items: &[Item]) -> Vec<String> {
    items.iter().map(|item| format!("{item:?}")).collect()
}

pub(super) fn body(request: &Value, pretty: bool) -> Bytes {
    let write = if pretty { serde_json::to_vec_pretty } else { serde_json::to_vec };
    write(request).unwrap().into()
}

pub(super) fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "[a-c\"\\\\\n/é😀 ]{0,12}", Just("u\\ud83d".to_owned())]
}

/// Any JSON, whose objects have some of the members that a format reads.
pub(super) fn any_json(names: Vec<&'static str>) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let name = prop_oneof![select(names.clone()).prop_map(String::from), any_text()];
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((name, inner), 0..4).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// What an item may hold: a text, a list of parts of which the texts are of the type `text`, or anything.
pub(super) fn content(
    text: &'static str,
    image: Value,
    anything: impl Strategy<Value = Value> + Clone,
) -> impl Strategy<Value = Value> {
    let with = |element: Value, more: Option<Value>| {
        let mut element = element;
        if let Some(more) = more {
            element["more"] = more;
        }
        element
    };
    let texts = (any_text(), option::of(anything.clone()))
        .prop_map(move |(words, more)| with(json!({"type": text, "text": words}), more));
    let images = option::of(anything.clone()).prop_map(move |more| with(image.clone(), more));
    let element = prop_oneof![4 => texts, 2 => images, 1 => anything.clone()];
    prop_oneof![any_text().prop_map(Value::from), vec(element, 0..6).prop_map(Value::from), anything]
}

/// What an edit of `content` is to give, told of parsed values; `text_type` is that of a text in place of an image.
pub(super) fn edited(content: &Value, text: &str, text_type: &str) -> Value {
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
                let mut new = json!({"type": text_type, "text": if index == keeper { text } else { "…" }});
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

/// Every message has items, in order, and the envelope tells where it stands.
pub(super) fn messages_are_in_order(
    codec: &impl Codec,
    request: &Value,
    list: &str,
    pretty: bool,
) -> Result<(), TestCaseError> {
    let decoded = codec.decode(body(request, pretty)).unwrap();
    let mut distinct: Vec<_> = decoded.transcript.items.iter().map(|item| item.message).collect();
    distinct.dedup();
    let messages = request[list].as_array().unwrap();
    prop_assert_eq!(distinct, (0..messages.len()).collect::<Vec<_>>());
    for (span, message) in decoded.envelope.messages.iter().zip(messages) {
        let there: Value = serde_json::from_slice(span.slice(&decoded.transcript.source)).unwrap();
        prop_assert_eq!(&there, message);
    }
    Ok(())
}

/// One turn of a conversation: what is added, how many messages are taken back before, and whether a user message
/// follows that is gone in the next turn.
pub(super) type TurnTaken = (Vec<Value>, usize, bool);

/// A codec that read the turns before reads a turn like one that reads for the first time.
pub(super) fn known_reads_like_new<C: Codec + Default>(
    start: Vec<Value>,
    turns: Vec<TurnTaken>,
    request: impl Fn(Vec<Value>) -> Value,
) -> Result<(), TestCaseError> {
    let codec = C::default();
    let mut messages = start;
    for (new, forgotten, volatile) in turns {
        messages.truncate((messages.len() - forgotten.min(messages.len() - 1)).max(1));
        messages.extend(new);
        let mut sent = messages.clone();
        if volatile {
            sent.push(json!({"role": "user", "content": format!("turn {}", messages.len())}));
        }
        let body = body(&request(sent), false);
        same(&codec.decode(body.clone()).unwrap(), &C::default().decode(body).unwrap())?;
    }
    Ok(())
}

fn same(one: &Decoded, other: &Decoded) -> Result<(), TestCaseError> {
    let (a, b) = (&one.transcript, &other.transcript);
    prop_assert_eq!(whole(&a.items), whole(&b.items));
    prop_assert_eq!(&one.envelope, &other.envelope);
    prop_assert_eq!((&a.source, a.messages, &a.model), (&b.source, b.messages, &b.model));
    prop_assert_eq!((a.output_limit, a.definition_bytes), (b.output_limit, b.definition_bytes));
    prop_assert_eq!((&a.session_id, a.opening), (&b.session_id, b.opening));
    prop_assert_eq!(a.is_continued, b.is_continued);
    Ok(())
}
