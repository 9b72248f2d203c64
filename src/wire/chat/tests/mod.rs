//! What the codec of chat completions promises.

mod arbitrary;
mod decoding;
mod rendering;
mod usage;

use bytes::Bytes;
use serde_json::{Value, json};

use super::Chat;
use crate::model::EditSet;
use crate::wire::{Codec, DecodeError, Decoded};

fn decode(body: &str) -> Result<Decoded, DecodeError> {
    Chat::default().decode(Bytes::copy_from_slice(body.as_bytes()))
}

fn decode_messages(messages: &Value) -> Decoded {
    decode(&json!({"model": "m", "messages": messages}).to_string()).unwrap()
}

fn rendered(decoded: &Decoded, set: &EditSet) -> Value {
    serde_json::from_slice(&Chat::default().render(decoded, set)).unwrap()
}
