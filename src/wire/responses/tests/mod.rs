//! What the codec of the Responses API promises.

mod arbitrary;
mod decoding;
mod rendering;
mod surroundings;
mod usage;

use bytes::Bytes;
use serde_json::{Value, json};

use super::Responses;
use crate::model::{EditSet, ItemKind};
use crate::wire::{Codec, DecodeError, Decoded};

fn decode(body: &str) -> Result<Decoded, DecodeError> {
    Responses::default().decode(Bytes::copy_from_slice(body.as_bytes()))
}

fn decode_input(input: &Value) -> Decoded {
    decode(&json!({"model": "m", "input": input}).to_string()).unwrap()
}

fn rendered(decoded: &Decoded, set: &EditSet) -> Value {
    serde_json::from_slice(&Responses::default().render(decoded, set)).unwrap()
}

/// What was read of each entry: its kind, with the text of calls and reasoning.
fn kinds(input: &Value) -> Vec<String> {
    let decoded = decode_input(input);
    let transcript = &decoded.transcript;
    let name = |index: usize| {
        let text = transcript.text(index);
        match &transcript.items[index].kind {
            ItemKind::Message { role } => format!("{role:?} {text}"),
            ItemKind::Reasoning => format!("Reasoning {text}"),
            ItemKind::ToolCall(call) => format!("call {} {} {text}", call.id, call.name),
            ItemKind::ToolResult(result) => {
                let error = if result.is_error { " error" } else { "" };
                format!("result of {:?}{error} {text}", result.call)
            }
            ItemKind::Opaque => "Opaque".into(),
        }
    };
    assert!(transcript.items.iter().enumerate().all(|(index, item)| item.message == index));
    (0..transcript.items.len()).map(|index| name(index).trim_end().replace('\n', "|")).collect()
}
