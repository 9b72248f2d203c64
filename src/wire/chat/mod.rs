//! OpenAI's chat completions, and all that copies it.

mod message;
mod usage;

use serde_json::Error;

use super::entry::Entry;
use super::json::Object;
use super::list::{Dialect, Facts, ListCodec};
use super::members::Around;
use super::usage::Whole;
use super::{Purpose, UsageFigures, WireFormat};

/// The codec of chat completions.
pub(super) type Chat = ListCodec<Completions>;

/// How chat completions are written.
pub(super) struct Completions;

impl Dialect for Completions {
    const FORMAT: WireFormat = WireFormat::Chat;
    const ENDINGS: &'static [(&'static str, Purpose)] = &[("/chat/completions", Purpose::Generate)];
    const LIST: &'static str = "messages";
    const MEMBERS: &'static [&'static str] =
        &["model", "max_tokens", "max_completion_tokens", "tools", "functions", "session_id", "metadata"];
    const TEXT: &'static str = "text";

    fn read(entry: &mut Entry<'_, '_>, object: &Object<'_>) -> Result<bool, Error> {
        message::read(entry, object)
    }

    fn facts<'a>(around: &Around<'a>) -> Facts<'a> {
        Facts {
            output_limit: around.number("max_completion_tokens").or_else(|| around.number("max_tokens")),
            definition_bytes: around.bytes(&["tools", "functions"]),
            session_id: around.session_id(&["metadata"]),
            ..Facts::default()
        }
    }

    fn says(text: &str) -> String {
        format!(r#"{{"role":"assistant","content":{text}}}"#)
    }

    fn usage_figures() -> Box<dyn UsageFigures> {
        Box::new(Whole::new(usage::read))
    }
}

#[cfg(test)]
mod tests;
