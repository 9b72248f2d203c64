use serde_json::Value;
use serde_json::value::RawValue;

use crate::mock::error::Refusal;
use crate::mock::request::Members;

/// Fewest tokens to which an answer may be limited.
const SHORTEST_ANSWER: u64 = 16;

/// What a request body says, apart from what stands in its items.
#[derive(Debug)]
pub(super) struct Request<'a> {
    pub(super) model: String,
    pub(super) input: Input<'a>,
    pub(super) instructions: Option<String>,
    pub(super) tools: Option<&'a RawValue>,
    pub(super) stream: bool,
    /// Whether what is sent goes on from something that the provider keeps.
    pub(super) is_continued: bool,
    /// Tokens the answer may have at most; 0 when the request sets no limit.
    pub(super) output_limit: u64,
}

/// What was said.
#[derive(Debug)]
pub(super) enum Input<'a> {
    Text(String),
    Items(Vec<&'a RawValue>),
}

impl<'a> Request<'a> {
    pub(super) fn read(body: &'a [u8]) -> Result<Self, Refusal> {
        let members = Members::read(body)?;
        let raw =
            members.raw("input").ok_or_else(|| Refusal::invalid("input", "The request has no `input`."))?;
        let input = if raw.get().starts_with('"') {
            let text: Option<String> = members.get("input", "a string")?;
            let text = text.filter(|text| !text.is_empty());
            Input::Text(text.ok_or_else(|| Refusal::invalid("input", "`input` must not be empty."))?)
        } else {
            Input::Items(members.list("input")?)
        };
        let previous: Option<String> = members.get("previous_response_id", "a string")?;
        let conversation: Option<Value> = members.get("conversation", "an id")?;
        if previous.is_some() && conversation.is_some() {
            let message = "`previous_response_id` and `conversation` cannot both be given.";
            return Err(Refusal::invalid("previous_response_id", message));
        }
        Ok(Self {
            model: members.model()?,
            input,
            instructions: members.get("instructions", "a string")?,
            tools: members.tools()?,
            stream: members.stream()?,
            is_continued: previous.is_some() || conversation.is_some(),
            output_limit: members.output_limit("max_output_tokens", SHORTEST_ANSWER)?.unwrap_or(0),
        })
    }
}
