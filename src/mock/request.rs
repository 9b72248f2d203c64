use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::error::Refusal;

/// The members of a request body.
#[derive(Debug)]
pub(super) struct Members<'a>(HashMap<String, &'a RawValue>);

impl<'a> Members<'a> {
    pub(super) fn read(body: &'a [u8]) -> Result<Self, Refusal> {
        serde_json::from_slice(body).map(Self).map_err(|error| {
            let place = format!("line {}, column {}", error.line(), error.column());
            let status = http::StatusCode::BAD_REQUEST;
            Refusal::with_status(status, format!("The request body is not a JSON object ({place})."))
        })
    }

    /// A member as it stands; `None` when it is absent or null.
    pub(super) fn raw(&self, name: &str) -> Option<&'a RawValue> {
        self.0.get(name).copied().filter(|raw| raw.get() != "null")
    }

    /// A member; `None` when it is absent or null.
    pub(super) fn get<T: Deserialize<'a>>(&self, name: &str, expected: &str) -> Result<Option<T>, Refusal> {
        let Some(raw) = self.raw(name) else { return Ok(None) };
        serde_json::from_str(raw.get()).map(Some).map_err(|_| {
            Refusal::invalid(name, format!("`{name}` has the wrong type: {expected} is expected."))
        })
    }

    /// The model that is asked.
    pub(super) fn model(&self) -> Result<String, Refusal> {
        self.get("model", "a string")?
            .ok_or_else(|| Refusal::invalid("model", "The request names no model: give `model`."))
    }

    /// Whether the answer is to be a stream.
    pub(super) fn stream(&self) -> Result<bool, Refusal> {
        Ok(self.get("stream", "a boolean")?.unwrap_or(false))
    }

    /// The list of what was said, which must be there and hold something.
    pub(super) fn list(&self, name: &str) -> Result<Vec<&'a RawValue>, Refusal> {
        let list: Vec<&RawValue> = self
            .get(name, "an array")?
            .ok_or_else(|| Refusal::invalid(name, format!("The request has no `{name}`.")))?;
        if list.is_empty() {
            return Err(Refusal::invalid(name, format!("`{name}` is empty: at least one is needed.")));
        }
        Ok(list)
    }

    /// The most tokens that the answer may have, from `least` on; `None` when the request sets no limit.
    pub(super) fn output_limit(&self, name: &str, least: u64) -> Result<Option<u64>, Refusal> {
        match self.get::<u64>(name, "a whole number of tokens")? {
            Some(limit) if limit < least => {
                Err(Refusal::invalid(name, format!("`{name}` must be at least {least}.")))
            }
            limit => Ok(limit),
        }
    }

    /// The tool definitions. To choose a tool, there must be some.
    pub(super) fn tools(&self) -> Result<Option<&'a RawValue>, Refusal> {
        let tools = self.raw("tools");
        let chooses = match self.get::<Value>("tool_choice", "a choice")? {
            None => false,
            Some(choice) => choice != "none" && choice["type"] != "none",
        };
        if chooses && tools.is_none() {
            let message = "`tool_choice` is only allowed together with `tools`.";
            return Err(Refusal::invalid("tool_choice", message));
        }
        Ok(tools)
    }
}

/// A member that must be there as a string that is not empty.
pub(super) fn text_member<'a>(object: &'a Value, name: &str, place: &str) -> Result<&'a str, Refusal> {
    let place = format!("{place}.{name}");
    match &object[name] {
        Value::Null => Err(Refusal::invalid(&*place, format!("`{place}` is missing."))),
        Value::String(text) if text.is_empty() => {
            Err(Refusal::invalid(&*place, format!("`{place}` must not be empty.")))
        }
        Value::String(text) => Ok(text),
        _ => Err(Refusal::invalid(&*place, format!("`{place}` must be a string."))),
    }
}

/// A member that must be there as a string, which may be empty.
pub(super) fn string_member<'a>(object: &'a Value, name: &str, place: &str) -> Result<&'a str, Refusal> {
    object[name].as_str().ok_or_else(|| {
        let place = format!("{place}.{name}");
        let message = format!("`{place}` must be a string.");
        Refusal::invalid(place, message)
    })
}
