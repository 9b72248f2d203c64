//! Anthropic's Messages, and all that copies it.

mod message;
mod usage;

use serde_json::Error;
use serde_json::value::RawValue;

use super::entry::Entry;
use super::json::{self, Object, Shape};
use super::list::{Dialect, Facts, ListCodec};
use super::members::Around;
use super::{Purpose, UsageFigures, WireFormat};

/// The codec of Messages.
pub(super) type Messages = ListCodec<Blocks>;

/// How Messages are written.
pub(super) struct Blocks;

impl Dialect for Blocks {
    const FORMAT: WireFormat = WireFormat::Messages;
    const ENDINGS: &'static [(&'static str, Purpose)] =
        &[("/messages", Purpose::Generate), ("/messages/count_tokens", Purpose::Count)];
    const LIST: &'static str = "messages";
    const MEMBERS: &'static [&'static str] =
        &["model", "max_tokens", "system", "tools", "session_id", "metadata"];
    const TEXT: &'static str = "text";
    const LEAVES_OUT_REASONING: bool = true;

    fn read(entry: &mut Entry<'_, '_>, object: &Object<'_>) -> Result<bool, Error> {
        message::read(entry, object)
    }

    fn facts<'a>(around: &Around<'a>) -> Facts<'a> {
        Facts {
            output_limit: around.number("max_tokens"),
            definition_bytes: around.bytes(&["system", "tools"]),
            session_id: around.session_id(&["metadata"]),
            system: around.raw("system").map(texts).unwrap_or_default(),
            ..Facts::default()
        }
    }

    /// Said by the user, not the assistant: then it may stand anywhere, also in front of a reply that must begin with
    /// its thinking, and behind it a system message.
    fn says(text: &str) -> String {
        format!(r#"{{"role":"user","content":[{{"type":"text","text":{text}}}]}}"#)
    }

    fn usage_figures() -> Box<dyn UsageFigures> {
        Box::<usage::Members>::default()
    }
}

/// The literals of a text that is bare or in a list of blocks. Where else a block says something does not count: cache
/// marks move.
fn texts(system: &RawValue) -> Vec<&[u8]> {
    if Shape::of(system) != Shape::List {
        return vec![system.get().as_bytes()];
    }
    let blocks = json::elements(system).unwrap_or_default();
    let objects = blocks.into_iter().filter_map(|block| Object::read(block).ok());
    objects.filter_map(|block| block.get("text").ok()?).map(|text| text.get().as_bytes()).collect()
}

#[cfg(test)]
mod tests;
