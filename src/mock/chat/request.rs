use serde_json::Value;
use serde_json::value::RawValue;

use crate::mock::error::Refusal;
use crate::mock::request::Members;

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

impl<'a> Chat<'a> {
    pub(super) fn read(body: &'a [u8]) -> Result<Self, Refusal> {
        let members = Members::read(body)?;
        let stream = members.stream()?;
        let limit = match members.output_limit("max_completion_tokens", 1)? {
            None => members.output_limit("max_tokens", 1)?,
            limit => limit,
        };
        Ok(Self {
            model: members.model()?,
            messages: members.list("messages")?,
            tools: members.tools()?,
            stream,
            include_usage: include_usage(&members, stream)?,
            output_limit: limit.unwrap_or(0),
        })
    }
}

fn include_usage(members: &Members<'_>, stream: bool) -> Result<bool, Refusal> {
    let Some(options) = members.get::<Value>("stream_options", "an object")? else { return Ok(false) };
    if !stream {
        let message = "`stream_options` is only allowed when `stream` is true.";
        return Err(Refusal::invalid("stream_options", message));
    }
    Ok(options.get("include_usage").and_then(Value::as_bool).unwrap_or(false))
}
