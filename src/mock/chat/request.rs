use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::mock::error::Refusal;

/// What a request body says, apart from what stands in its messages.
#[derive(Debug)]
pub(super) struct Chat<'a> {
    pub(super) model: String,
    pub(super) messages: Vec<&'a RawValue>,
    pub(super) tools: Option<&'a RawValue>,
    pub(super) stream: bool,
    pub(super) include_usage: bool,
    /// Tokens the answer may have at most; 0 when the request sets no limit.
    pub(super) output_limit: u64,
}

type Members<'a> = HashMap<String, &'a RawValue>;

impl<'a> Chat<'a> {
    pub(super) fn read(body: &'a [u8]) -> Result<Self, Refusal> {
        let members: Members<'a> = serde_json::from_slice(body).map_err(|error| {
            let place = format!("line {}, column {}", error.line(), error.column());
            let status = http::StatusCode::BAD_REQUEST;
            Refusal::with_status(status, format!("The request body is not a JSON object ({place})."))
        })?;
        let model: String = member(&members, "model", "a string")?
            .ok_or_else(|| Refusal::invalid("model", "The request names no model: give `model`."))?;
        let messages: Vec<&RawValue> = member(&members, "messages", "an array")?
            .ok_or_else(|| Refusal::invalid("messages", "The request has no `messages`."))?;
        if messages.is_empty() {
            return Err(Refusal::invalid("messages", "`messages` is empty: at least one message is needed."));
        }
        let stream = member(&members, "stream", "a boolean")?.unwrap_or(false);
        let tools = members.get("tools").copied().filter(|raw| raw.get() != "null");
        let choice = members.get("tool_choice").is_some_and(|raw| !matches!(raw.get(), "null" | "\"none\""));
        if choice && tools.is_none() {
            return Err(Refusal::invalid(
                "tool_choice",
                "`tool_choice` is only allowed together with `tools`.",
            ));
        }
        Ok(Self {
            model,
            messages,
            tools,
            stream,
            include_usage: include_usage(&members, stream)?,
            output_limit: output_limit(&members)?,
        })
    }
}

/// A member of the request; `None` when it is absent or null.
fn member<'a, T: Deserialize<'a>>(
    members: &Members<'a>,
    name: &str,
    expected: &str,
) -> Result<Option<T>, Refusal> {
    let Some(raw) = members.get(name) else { return Ok(None) };
    serde_json::from_str(raw.get())
        .map_err(|_| Refusal::invalid(name, format!("`{name}` has the wrong type: {expected} is expected.")))
}

fn include_usage(members: &Members<'_>, stream: bool) -> Result<bool, Refusal> {
    let Some(options) = member::<Value>(members, "stream_options", "an object")? else { return Ok(false) };
    if !stream {
        let message = "`stream_options` is only allowed when `stream` is true.";
        return Err(Refusal::invalid("stream_options", message));
    }
    Ok(options.get("include_usage").and_then(Value::as_bool).unwrap_or(false))
}

fn output_limit(members: &Members<'_>) -> Result<u64, Refusal> {
    for name in ["max_completion_tokens", "max_tokens"] {
        match member::<u64>(members, name, "a whole number of tokens")? {
            Some(0) => return Err(Refusal::invalid(name, format!("`{name}` must be at least 1."))),
            Some(limit) => return Ok(limit),
            None => {}
        }
    }
    Ok(0)
}
