use serde_json::Value;
use serde_json::value::RawValue;

use super::blocks;
use crate::mock::error::Refusal;
use crate::mock::request::Members;

/// Smallest number of tokens that may be given for thinking.
const SMALLEST_BUDGET: u64 = 1024;

/// What a request body says, apart from what stands in its messages.
#[derive(Debug)]
pub(super) struct Request<'a> {
    pub(super) model: String,
    pub(super) messages: Vec<&'a RawValue>,
    pub(super) system: Option<&'a RawValue>,
    pub(super) tools: Option<&'a RawValue>,
    pub(super) stream: bool,
    /// Whether the model may think.
    pub(super) thinks: bool,
    /// Whether all is to be cached, whatever is marked.
    pub(super) marks_last: bool,
    /// Tokens the answer may have at most; 0 when nothing is answered.
    pub(super) output_limit: u64,
}

impl<'a> Request<'a> {
    pub(super) fn read(body: &'a [u8], is_answered: bool) -> Result<Self, Refusal> {
        let members = Members::read(body)?;
        let limit = members.output_limit("max_tokens", 1)?;
        if is_answered && limit.is_none() {
            return Err(Refusal::invalid("max_tokens", "Field required"));
        }
        let mark: Value = members.get("cache_control", "an object")?.unwrap_or_default();
        Ok(Self {
            model: members.model()?,
            messages: members.list("messages")?,
            system: members.raw("system"),
            tools: members.tools()?.filter(|raw| raw.get() != "[]"),
            stream: members.stream()?,
            thinks: thinks(&members, limit)?,
            marks_last: blocks::mark(&mark, "cache_control")?,
            output_limit: limit.filter(|_| is_answered).unwrap_or(0),
        })
    }
}

fn thinks(members: &Members<'_>, limit: Option<u64>) -> Result<bool, Refusal> {
    let Some(thinking) = members.get::<Value>("thinking", "an object")? else { return Ok(false) };
    match blocks::field(&thinking, "type", "thinking")? {
        "disabled" => Ok(false),
        "adaptive" => Ok(true),
        "enabled" => {
            let place = "thinking.budget_tokens";
            let budget = thinking["budget_tokens"]
                .as_u64()
                .ok_or_else(|| Refusal::invalid(place, "Field required, as a whole number of tokens"))?;
            if budget < SMALLEST_BUDGET {
                return Err(Refusal::invalid(place, format!("Should be at least {SMALLEST_BUDGET}")));
            }
            if limit.is_some_and(|limit| budget >= limit) {
                return Err(Refusal::invalid(place, "Should be less than `max_tokens`"));
            }
            Ok(true)
        }
        other => {
            let message = format!("`{other}` is not one of `enabled`, `adaptive` and `disabled`");
            Err(Refusal::invalid("thinking.type", message))
        }
    }
}
