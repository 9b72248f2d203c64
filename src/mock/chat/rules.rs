use serde_json::Value;

use crate::mock::error::Refusal;
use crate::mock::request::{string_member, text_member};

/// Who speaks in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    System,
    User,
    Assistant,
    Tool,
    Function,
}

/// What a message says.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) speaker: Speaker,
    pub(super) texts: Vec<String>,
    pub(super) images: u64,
    pub(super) calls: Vec<String>,
    pub(super) answers: Option<String>,
}

/// Holds one message to the rules; `place` is where it stands.
pub(super) fn check(message: &Value, place: &str) -> Result<Said, Refusal> {
    if !message.is_object() {
        return Err(Refusal::invalid(place, format!("`{place}` must be an object.")));
    }
    let speaker = speaker(message, place)?;
    let mut said = Said { speaker, texts: Vec::new(), images: 0, calls: Vec::new(), answers: None };
    content(message, &mut said, &format!("{place}.content"))?;
    match speaker {
        Speaker::Assistant => calls(message, &mut said, place)?,
        Speaker::Tool => said.answers = Some(text_member(message, "tool_call_id", place)?.to_owned()),
        Speaker::Function => said.texts.push(text_member(message, "name", place)?.to_owned()),
        Speaker::System | Speaker::User => {}
    }
    Ok(said)
}

/// Holds the tool definitions to the rules.
pub(super) fn check_tools(tools: &Value) -> Result<(), Refusal> {
    let list = tools.as_array().ok_or_else(|| Refusal::invalid("tools", "`tools` must be an array."))?;
    if list.is_empty() {
        return Err(Refusal::invalid(
            "tools",
            "`tools` is empty: leave it out, or define at least one tool.",
        ));
    }
    for (at, tool) in list.iter().enumerate() {
        let place = format!("tools[{at}]");
        if text_member(tool, "type", &place)? == "function" {
            let function = &tool["function"];
            text_member(function, "name", &format!("{place}.function"))?;
        }
    }
    Ok(())
}

fn speaker(message: &Value, place: &str) -> Result<Speaker, Refusal> {
    match text_member(message, "role", place)? {
        "system" | "developer" => Ok(Speaker::System),
        "user" => Ok(Speaker::User),
        "assistant" => Ok(Speaker::Assistant),
        "tool" => Ok(Speaker::Tool),
        "function" => Ok(Speaker::Function),
        other => Err(Refusal::invalid(
            format!("{place}.role"),
            format!(
                "`{other}` is no role: `{place}.role` must be system, developer, user, assistant, tool or function."
            ),
        )),
    }
}

fn content(message: &Value, said: &mut Said, place: &str) -> Result<(), Refusal> {
    let speaker = said.speaker;
    let member = |name: &str| message.get(name).is_some_and(|value| !value.is_null());
    // Without content an assistant still does something when it calls, or refuses.
    let may_lack = match speaker {
        Speaker::Assistant => member("tool_calls") || member("function_call") || member("refusal"),
        Speaker::Function => true,
        Speaker::System | Speaker::User | Speaker::Tool => false,
    };
    match &message["content"] {
        Value::Null if may_lack => Ok(()),
        Value::Null => Err(Refusal::invalid(
            place,
            format!("`{place}` is missing: a string or a list of parts is expected."),
        )),
        Value::String(text) if text.is_empty() && speaker == Speaker::Assistant && !may_lack => {
            Err(Refusal::invalid(
                place,
                format!("`{place}` is empty: an assistant message needs text or tool calls."),
            ))
        }
        Value::String(text) => {
            said.texts.push(text.clone());
            Ok(())
        }
        Value::Array(parts) if parts.is_empty() => Err(Refusal::invalid(
            place,
            format!("`{place}` is an empty list: at least one part is expected."),
        )),
        Value::Array(parts) => {
            parts.iter().enumerate().try_for_each(|(at, item)| part(item, said, &format!("{place}[{at}]")))
        }
        _ => Err(Refusal::invalid(place, format!("`{place}` must be a string or a list of parts."))),
    }
}

fn part(part: &Value, said: &mut Said, place: &str) -> Result<(), Refusal> {
    if !part.is_object() {
        return Err(Refusal::invalid(place, format!("`{place}` must be an object with a `type`.")));
    }
    match (text_member(part, "type", place)?, said.speaker) {
        ("text", _) => said.texts.push(text_member(part, "text", place)?.to_owned()),
        ("refusal", Speaker::Assistant) => {
            said.texts.push(text_member(part, "refusal", place)?.to_owned());
        }
        ("image_url", Speaker::User | Speaker::Tool) => {
            text_member(&part["image_url"], "url", &format!("{place}.image_url"))?;
            said.images += 1;
        }
        ("input_audio" | "file", Speaker::User) => {}
        (kind, _) => {
            let message =
                format!("`{place}` is of type `{kind}`, which is not allowed in a message of this role.");
            return Err(Refusal::invalid(format!("{place}.type"), message));
        }
    }
    Ok(())
}

fn calls(message: &Value, said: &mut Said, place: &str) -> Result<(), Refusal> {
    if let Some(call) = message.get("function_call").filter(|value| !value.is_null()) {
        let place = format!("{place}.function_call");
        said.texts.push(text_member(call, "name", &place)?.to_owned());
        said.texts.push(string_member(call, "arguments", &place)?.to_owned());
    }
    let place = format!("{place}.tool_calls");
    let list = match &message["tool_calls"] {
        Value::Null => return Ok(()),
        Value::Array(list) if list.is_empty() => {
            let message = format!("`{place}` is empty: leave it out when no tool is called.");
            return Err(Refusal::invalid(place, message));
        }
        Value::Array(list) => list,
        _ => {
            let message = format!("`{place}` must be a list.");
            return Err(Refusal::invalid(place, message));
        }
    };
    list.iter().enumerate().try_for_each(|(at, item)| call(item, said, &format!("{place}[{at}]")))
}

fn call(call: &Value, said: &mut Said, place: &str) -> Result<(), Refusal> {
    let id = text_member(call, "id", place)?;
    if said.calls.iter().any(|other| other == id) {
        let message = format!("`{place}.id` repeats the id {id} of another call in the same message.");
        return Err(Refusal::invalid(format!("{place}.id"), message));
    }
    said.calls.push(id.to_owned());
    let (kind, input) = match text_member(call, "type", place)? {
        "function" => ("function", "arguments"),
        "custom" => ("custom", "input"),
        other => {
            let message = format!("`{place}.type` is `{other}`, but `function` or `custom` is expected.");
            return Err(Refusal::invalid(format!("{place}.type"), message));
        }
    };
    let place = format!("{place}.{kind}");
    said.texts.push(text_member(&call[kind], "name", &place)?.to_owned());
    said.texts.push(string_member(&call[kind], input, &place)?.to_owned());
    Ok(())
}
