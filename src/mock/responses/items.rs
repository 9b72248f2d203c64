use serde_json::Value;

use super::facts::is_intact;
use crate::mock::error::Refusal;
use crate::mock::request::{string_member, text_member};

/// Calls that the client answers. An answer's type is that of its call with `_output` behind it.
const CALLS: [&str; 6] = [
    "function_call",
    "custom_tool_call",
    "local_shell_call",
    "shell_call",
    "apply_patch_call",
    "computer_call",
];

/// What an item is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// Said by a person or a program.
    Told,
    /// Said by the model.
    Said,
    Reasoning,
    /// A call that the client answers.
    Call {
        family: &'static str,
        id: String,
    },
    /// The answer to a call.
    Output {
        family: &'static str,
        id: String,
    },
    /// Anything else, whatever it may be.
    Other,
}

/// What an item says.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) kind: Kind,
    pub(super) texts: Vec<String>,
    pub(super) images: u64,
}

/// Holds one item to the rules; `place` is where it stands.
pub(super) fn check(item: &Value, place: &str) -> Result<Said, Refusal> {
    if !item.is_object() {
        return Err(Refusal::invalid(place, format!("`{place}` must be an object.")));
    }
    let mut said = Said { kind: Kind::Other, texts: Vec::new(), images: 0 };
    if item["type"].is_null() {
        if item["role"].is_null() {
            let message =
                format!("`{place}` has neither a `type` nor a `role`: it cannot be told what it is.");
            return Err(Refusal::invalid(format!("{place}.type"), message));
        }
        message(item, &mut said, place)?;
        return Ok(said);
    }
    let kind = text_member(item, "type", place)?;
    let output = kind.strip_suffix("_output").unwrap_or_default();
    if let Some(family) = CALLS.into_iter().find(|family| *family == kind) {
        call(item, family, &mut said, place)?;
    } else if let Some(family) = CALLS.into_iter().find(|family| *family == output) {
        answer(item, family, &mut said, place)?;
    } else {
        match kind {
            "message" => message(item, &mut said, place)?,
            "reasoning" => reasoning(item, &mut said, place)?,
            "item_reference" => drop(text_member(item, "id", place)?),
            _ => said.texts.push(item.to_string()),
        }
    }
    Ok(said)
}

/// Holds the tool definitions to the rules.
pub(super) fn check_tools(tools: &Value) -> Result<(), Refusal> {
    let list = tools.as_array().ok_or_else(|| Refusal::invalid("tools", "`tools` must be an array."))?;
    for (at, tool) in list.iter().enumerate() {
        let place = format!("tools[{at}]");
        if matches!(text_member(tool, "type", &place)?, "function" | "custom") {
            text_member(tool, "name", &place)?;
        }
    }
    Ok(())
}

fn message(item: &Value, said: &mut Said, place: &str) -> Result<(), Refusal> {
    said.kind = match text_member(item, "role", place)? {
        "user" | "system" | "developer" => Kind::Told,
        "assistant" => Kind::Said,
        other => {
            let message =
                format!("`{other}` is no role: `{place}.role` must be user, assistant, system or developer.");
            return Err(Refusal::invalid(format!("{place}.role"), message));
        }
    };
    content(&item["content"], said, &format!("{place}.content"))
}

/// A string, or a list of parts.
fn content(content: &Value, said: &mut Said, place: &str) -> Result<(), Refusal> {
    match content {
        Value::String(text) => said.texts.push(text.clone()),
        Value::Array(parts) => {
            for (at, item) in parts.iter().enumerate() {
                part(item, said, &format!("{place}[{at}]"))?;
            }
        }
        Value::Null => return Err(Refusal::invalid(place, format!("`{place}` is missing."))),
        _ => {
            let message = format!("`{place}` must be a string or a list of parts.");
            return Err(Refusal::invalid(place, message));
        }
    }
    Ok(())
}

fn part(part: &Value, said: &mut Said, place: &str) -> Result<(), Refusal> {
    if !part.is_object() {
        return Err(Refusal::invalid(place, format!("`{place}` must be an object with a `type`.")));
    }
    let is_models = said.kind == Kind::Said;
    match text_member(part, "type", place)? {
        "input_text" if !is_models => said.texts.push(string_member(part, "text", place)?.to_owned()),
        "input_image" if !is_models => {
            if part["image_url"].is_null() {
                text_member(part, "file_id", place)?;
            }
            said.images += 1;
        }
        "input_file" if !is_models => {}
        "output_text" if is_models => said.texts.push(string_member(part, "text", place)?.to_owned()),
        "refusal" if is_models => said.texts.push(string_member(part, "refusal", place)?.to_owned()),
        kind => {
            let message =
                format!("`{place}` is of type `{kind}`, which is not allowed in an item of this kind.");
            return Err(Refusal::invalid(format!("{place}.type"), message));
        }
    }
    Ok(())
}

fn reasoning(item: &Value, said: &mut Said, place: &str) -> Result<(), Refusal> {
    said.kind = Kind::Reasoning;
    for name in ["summary", "content"] {
        match &item[name] {
            Value::Null if name == "content" => {}
            Value::Array(parts) => {
                for (at, part) in parts.iter().enumerate() {
                    said.texts
                        .push(string_member(part, "text", &format!("{place}.{name}[{at}]"))?.to_owned());
                }
            }
            _ => {
                let message = format!("`{place}.{name}` must be a list.");
                return Err(Refusal::invalid(format!("{place}.{name}"), message));
            }
        }
    }
    if item["encrypted_content"].is_null() {
        return Ok(());
    }
    if is_intact(text_member(item, "encrypted_content", place)?) {
        return Ok(());
    }
    let message = format!("The encrypted content of `{place}` cannot be read: it is not as it was sent out.");
    let place = format!("{place}.encrypted_content");
    Err(Refusal { code: Some("invalid_encrypted_content"), ..Refusal::invalid(place, message) })
}

fn call(item: &Value, family: &'static str, said: &mut Said, place: &str) -> Result<(), Refusal> {
    let id = text_member(item, "call_id", place)?.to_owned();
    let input = match family {
        "function_call" => Some("arguments"),
        "custom_tool_call" => Some("input"),
        _ => None,
    };
    if let Some(input) = input {
        said.texts.push(text_member(item, "name", place)?.to_owned());
        said.texts.push(string_member(item, input, place)?.to_owned());
    } else {
        let actions = ["action", "actions", "operation"].map(|name| &item[name]);
        said.texts.extend(actions.iter().filter(|action| !action.is_null()).map(ToString::to_string));
    }
    said.kind = Kind::Call { family, id };
    Ok(())
}

fn answer(item: &Value, family: &'static str, said: &mut Said, place: &str) -> Result<(), Refusal> {
    // One for the local shell may name its call as `id`.
    let by_id = family == "local_shell_call" && item["call_id"].is_null();
    let id = text_member(item, if by_id { "id" } else { "call_id" }, place)?.to_owned();
    let place = format!("{place}.output");
    match &item["output"] {
        Value::Null if family == "apply_patch_call" => {}
        Value::Null => return Err(Refusal::invalid(&*place, format!("`{place}` is missing."))),
        Value::Object(_) if family == "computer_call" => said.images += 1,
        output @ Value::Array(_) if family == "shell_call" => said.texts.push(output.to_string()),
        output => content(output, said, &place)?,
    }
    said.kind = Kind::Output { family, id };
    Ok(())
}
