use serde_json::Value;

use super::facts::{Kind, Speaker};
use crate::mock::error::Refusal;

/// What a content block says.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) kind: Kind,
    pub(super) texts: Vec<String>,
    pub(super) images: u64,
    /// Marks for the cache, on the block and within it.
    pub(super) marks: usize,
}

/// Holds one content block to the rules; `place` is where it stands.
pub(super) fn check(block: &Value, speaker: Speaker, place: &str) -> Result<Said, Refusal> {
    let kind = field(block, "type", place)?;
    let marks = usize::from(mark(&block["cache_control"], &format!("{place}.cache_control"))?);
    let mut said = Said { kind: Kind::Other, texts: Vec::new(), images: 0, marks };
    match (kind, speaker) {
        ("text" | "image", Speaker::User) | ("text", Speaker::Assistant | Speaker::System) => {
            inner(block, &mut said, place)?;
        }
        ("thinking", Speaker::Assistant) => {
            let text = string(block, "thinking", place)?.to_owned();
            let signature = string(block, "signature", place)?.to_owned();
            unmarked(&said, place)?;
            said.texts.push(text.clone());
            said.kind = Kind::Thinking(Some((text, signature)));
        }
        ("redacted_thinking", Speaker::Assistant) => {
            field(block, "data", place)?;
            unmarked(&said, place)?;
            said.kind = Kind::Thinking(None);
        }
        ("tool_use", Speaker::Assistant) => {
            let id = id(block, "id", place)?;
            said.texts.push(field(block, "name", place)?.to_owned());
            if !block["input"].is_object() {
                return Err(Refusal::invalid(format!("{place}.input"), "Input should be an object"));
            }
            said.texts.push(block["input"].to_string());
            said.kind = Kind::Call(id);
        }
        ("tool_result", Speaker::User) => result(block, &mut said, place)?,
        ("document" | "search_result" | "container_upload", Speaker::User) => {
            said.texts.extend(block["source"]["data"].as_str().map(str::to_owned));
        }
        ("server_tool_use" | "mcp_tool_use" | "compaction", Speaker::Assistant) => {
            said.kind = Kind::Server;
        }
        (kind, Speaker::Assistant) if kind.ends_with("_tool_result") => said.kind = Kind::Server,
        (kind, _) => {
            let message = format!("A block of the type `{kind}` is not known in a message of this role");
            return Err(Refusal::invalid(format!("{place}.type"), message));
        }
    }
    Ok(said)
}

fn result(block: &Value, said: &mut Said, place: &str) -> Result<(), Refusal> {
    said.kind = Kind::Result(id(block, "tool_use_id", place)?);
    if !matches!(&block["is_error"], Value::Null | Value::Bool(_)) {
        return Err(Refusal::invalid(format!("{place}.is_error"), "Input should be a boolean"));
    }
    match &block["content"] {
        Value::Null => {}
        Value::String(text) => said.texts.push(text.clone()),
        Value::Array(parts) => {
            for (at, part) in parts.iter().enumerate() {
                let place = format!("{place}.content.{at}");
                said.marks += usize::from(mark(&part["cache_control"], &format!("{place}.cache_control"))?);
                inner(part, said, &place)?;
            }
        }
        _ => {
            let message = "Input should be a string or a list of blocks";
            return Err(Refusal::invalid(format!("{place}.content"), message));
        }
    }
    Ok(())
}

/// A block that may also stand within a tool's result.
fn inner(block: &Value, said: &mut Said, place: &str) -> Result<(), Refusal> {
    match field(block, "type", place)? {
        "text" => {
            let text = string(block, "text", place)?;
            if text.trim().is_empty() {
                let wrong = if text.is_empty() { "is empty" } else { "is nothing but white space" };
                return Err(Refusal::invalid(place, format!("The text of this block {wrong}")));
            }
            said.texts.push(text.to_owned());
        }
        "image" => {
            field(&block["source"], "type", &format!("{place}.source"))?;
            said.images += 1;
        }
        "document" | "search_result" | "tool_reference" => {}
        kind => {
            let message = format!("A block of the type `{kind}` is not known in a tool's result");
            return Err(Refusal::invalid(format!("{place}.type"), message));
        }
    }
    Ok(())
}

/// Whether a `cache_control` marks its block.
pub(super) fn mark(mark: &Value, place: &str) -> Result<bool, Refusal> {
    if mark.is_null() {
        return Ok(false);
    }
    if field(mark, "type", place)? != "ephemeral" {
        return Err(Refusal::invalid(format!("{place}.type"), "Only `ephemeral` is known"));
    }
    if !(mark["ttl"].is_null() || mark["ttl"] == "5m" || mark["ttl"] == "1h") {
        return Err(Refusal::invalid(format!("{place}.ttl"), "Only `5m` and `1h` are known"));
    }
    Ok(true)
}

fn unmarked(said: &Said, place: &str) -> Result<(), Refusal> {
    if said.marks == 0 {
        return Ok(());
    }
    Err(Refusal::invalid(format!("{place}.cache_control"), "Thinking cannot be marked for the cache"))
}

/// A member that must be there as a string that is not empty.
pub(super) fn field<'a>(object: &'a Value, name: &str, place: &str) -> Result<&'a str, Refusal> {
    let text = string(object, name, place)?;
    if text.is_empty() {
        return Err(Refusal::invalid(format!("{place}.{name}"), "Should have at least 1 character"));
    }
    Ok(text)
}

fn string<'a>(object: &'a Value, name: &str, place: &str) -> Result<&'a str, Refusal> {
    match &object[name] {
        Value::String(text) => Ok(text),
        Value::Null => Err(Refusal::invalid(format!("{place}.{name}"), "Field required")),
        _ => Err(Refusal::invalid(format!("{place}.{name}"), "Input should be a string")),
    }
}

fn id(object: &Value, name: &str, place: &str) -> Result<String, Refusal> {
    let id = field(object, name, place)?;
    if !id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-') {
        let message = "An id may only have letters, digits, `_` and `-`";
        return Err(Refusal::invalid(format!("{place}.{name}"), message));
    }
    Ok(id.to_owned())
}
