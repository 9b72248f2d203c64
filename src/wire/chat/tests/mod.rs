//! What the codec of chat completions promises.

mod arbitrary;
mod decoding;
mod rendering;
mod usage;

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};

use super::Chat;
use crate::model::{Edit, EditSet, Item, Strength};
use crate::wire::{Codec, DecodeError, Decoded};

fn decode(body: &str) -> Result<Decoded, DecodeError> {
    Chat::default().decode(Bytes::copy_from_slice(body.as_bytes()))
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
    serde_json::from_slice(&Chat::default().render(decoded, set)).unwrap()
}

/// Everything of an item, to compare.
fn whole(items: &[Item]) -> Vec<String> {
    items.iter().map(|item| format!("{item:?}")).collect()
}
