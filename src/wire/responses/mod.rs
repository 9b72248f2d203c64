//! OpenAI's Responses API, with full histories and with histories that the provider keeps.
//!
//! `instructions` stand outside the list, as tool definitions do: their bytes are counted with those, and they are
//! part of what a conversation opens with.

mod item;
mod usage;

use serde_json::Error;
use serde_json::value::RawValue;

use super::entry::Entry;

use super::json::{self, Object, Shape};
use super::list::{Dialect, Facts, ListCodec};
use super::members::Around;
use super::usage::Whole;
use super::{Purpose, UsageFigures, WireFormat};
use crate::model::Role;

/// The codec of the Responses API.
pub(super) type Responses = ListCodec<Items>;

/// How the Responses API is written: as a list of items.
pub(super) struct Items;

impl Dialect for Items {
    const FORMAT: WireFormat = WireFormat::Responses;
    const ENDINGS: &'static [(&'static str, Purpose)] = &[("/responses", Purpose::Generate)];
    const LIST: &'static str = "input";
    const MEMBERS: &'static [&'static str] = &[
        "model",
        "instructions",
        "max_output_tokens",
        "tools",
        "previous_response_id",
        "conversation",
        "session_id",
        "metadata",
        "client_metadata",
    ];
    const TEXT: &'static str = "input_text";

    fn read(entry: &mut Entry<'_, '_>, object: &Object<'_>) -> Result<bool, Error> {
        item::read(entry, object)
    }

    fn read_alone(entry: &mut Entry<'_, '_>, value: &RawValue) -> Result<bool, Error> {
        let is_prompt = Shape::of(value) == Shape::Text;
        if is_prompt {
            let content = entry.content(Some(value))?;
            entry.message(Role::User, content);
        }
        Ok(is_prompt)
    }

    fn facts<'a>(around: &Around<'a>) -> Facts<'a> {
        let is_there = |name| around.raw(name).is_some();
        Facts {
            output_limit: around.number("max_output_tokens"),
            definition_bytes: around.bytes(&["tools", "instructions"]),
            session_id: around
                .session_id(&["metadata", "client_metadata"])
                .or_else(|| conversation_id(around.raw("conversation")?)),
            system: around.raw("instructions").map(|raw| raw.get().as_bytes()).into_iter().collect(),
            is_continued: is_there("previous_response_id") || is_there("conversation"),
        }
    }

    fn says(text: &str) -> String {
        format!(
            r#"{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":{text}}}]}}"#
        )
    }

    fn usage_figures() -> Box<dyn UsageFigures> {
        Box::new(Whole::new(usage::read))
    }
}

/// The id of a conversation that the provider keeps: a string, or an object with an `id`.
fn conversation_id(raw: &RawValue) -> Option<String> {
    let id = match Shape::of(raw) {
        Shape::Object => json::text(Object::read(raw).ok()?.get("id").ok()??)?,
        _ => json::text(raw)?,
    };
    (!id.is_empty()).then(|| id.into_owned())
}

#[cfg(test)]
mod tests;
