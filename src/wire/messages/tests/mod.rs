//! What the codec of Messages promises.

mod arbitrary;
mod decoding;
mod leaving_out;
mod rendering;
mod usage;

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};

use super::Messages;
use crate::model::{Edit, EditSet, Item, ItemKind, Strength};
use crate::wire::{Codec, DecodeError, Decoded};

fn decode(body: &str) -> Result<Decoded, DecodeError> {
    Messages::default().decode(Bytes::copy_from_slice(body.as_bytes()))
}

fn decode_messages(messages: &Value) -> Decoded {
    decode(&json!({"model": "m", "messages": messages}).to_string()).unwrap()
}

fn edit(text: &str) -> Arc<Edit> {
    Arc::new(Edit { text: text.into(), strength: Strength::Hard, tokens_before: 9, tokens_after: 1 })
}

fn edits(texts: &[(usize, &str)]) -> EditSet {
    let mut set = EditSet::default();
    for (index, text) in texts {
        set.set(*index, edit(text));
    }
    set
}

fn rendered(decoded: &Decoded, set: &EditSet) -> Value {
    serde_json::from_slice(&Messages::default().render(decoded, set)).unwrap()
}

fn kinds(decoded: &Decoded) -> Vec<String> {
    let name = |item: &Item| match &item.kind {
        ItemKind::Message { role } => format!("{role:?}"),
        ItemKind::Reasoning => "Reasoning".into(),
        ItemKind::ToolCall(call) => format!("call {} {}", call.id, call.name),
        ItemKind::ToolResult(result) => format!("result of {:?}", result.call),
        ItemKind::Opaque => "Opaque".into(),
    };
    decoded.transcript.items.iter().map(|item| format!("{} {}", item.message, name(item))).collect()
}

/// Everything of an item, to compare.
fn whole(items: &[Item]) -> Vec<String> {
    items.iter().map(|item| format!("{item:?}")).collect()
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn marked(mut block: Value) -> Value {
    block["cache_control"] = json!({"type": "ephemeral"});
    block
}

fn thinking(text: &str) -> Value {
    json!({"type": "thinking", "thinking": text, "signature": format!("of {text}")})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "f", "input": {}})
}

fn result(id: &str, content: &Value) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": content})
}

fn user(blocks: &Value) -> Value {
    json!({"role": "user", "content": blocks})
}

fn reply(blocks: &Value) -> Value {
    json!({"role": "assistant", "content": blocks})
}
