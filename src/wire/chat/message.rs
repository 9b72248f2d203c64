use std::sync::Arc;

use serde_json::Error;
use serde_json::value::RawValue;

use crate::model::{Fingerprint, Parts, Role};
use crate::wire::entry::{CallRef, Content, Entry, Turn};
use crate::wire::json::{self, Object, Shape};

/// Adds the items of a message, or none if it is not understood. Answers whether a user says it.
///
/// # Errors
/// When it repeats a member that is read.
pub(super) fn read(entry: &mut Entry<'_, '_>, message: &Object<'_>) -> Result<bool, Error> {
    let role = message.get("role")?.and_then(json::text);
    match role.as_deref() {
        Some("system" | "developer") => plain(entry, message, Role::System)?,
        Some("user") => {
            plain(entry, message, Role::User)?;
            return Ok(true);
        }
        Some("assistant") => assistant(entry, message)?,
        Some("tool") => {
            let id = message.get("tool_call_id")?.and_then(json::text).unwrap_or_default();
            result(entry, message, CallRef::Id(&id))?;
        }
        Some("function") => {
            let name = message.get("name")?.and_then(json::text).unwrap_or_default();
            result(entry, message, CallRef::Name(&name))?;
        }
        _ => {}
    }
    Ok(false)
}

fn plain(entry: &mut Entry<'_, '_>, message: &Object<'_>, role: Role) -> Result<(), Error> {
    let content = entry.content(message.get("content")?)?;
    entry.message(role, content);
    Ok(())
}

fn result(entry: &mut Entry<'_, '_>, message: &Object<'_>, of: CallRef<'_>) -> Result<(), Error> {
    let content = entry.content(message.get("content")?)?;
    let is_error = message.get("is_error")?.is_some_and(|raw| raw.get() == "true");
    entry.result(of, content, is_error);
    Ok(())
}

fn assistant(entry: &mut Entry<'_, '_>, message: &Object<'_>) -> Result<(), Error> {
    reasoning(entry, message)?;
    let content = message.get("content")?;
    if content.is_some_and(|raw| Shape::of(raw) != Shape::Null) {
        plain(entry, message, Role::Assistant)?;
    }
    if let Some(calls) = message.get("tool_calls")? {
        match Shape::of(calls) {
            Shape::Null => {}
            Shape::List => json::elements(calls)?.into_iter().try_for_each(|raw| call(entry, raw))?,
            _ => entry.opaque(calls),
        }
    }
    if let Some(raw) = message.get("function_call")?
        && Shape::of(raw) != Shape::Null
        && !called(entry, raw, "arguments", None)?
    {
        entry.opaque(raw);
    }
    if entry.is_silent() {
        plain(entry, message, Role::Assistant)?;
    }
    Ok(())
}

fn reasoning(entry: &mut Entry<'_, '_>, message: &Object<'_>) -> Result<(), Error> {
    let mut parts = Parts::new();
    let mut bytes: Vec<&[u8]> = vec![b"reasoning"];
    for member in ["reasoning", "reasoning_content", "reasoning_details"] {
        let Some(raw) = message.get(member)?.filter(|raw| Shape::of(raw) != Shape::Null) else { continue };
        parts.push(entry.text_or_other(raw));
        bytes.push(raw.get().as_bytes());
    }
    if !parts.is_empty() {
        entry.reasoning(Content { parts, print: Fingerprint::of(&bytes), broken: false });
    }
    Ok(())
}

fn call(entry: &mut Entry<'_, '_>, raw: &RawValue) -> Result<(), Error> {
    if Shape::of(raw) == Shape::Object {
        let call = Object::read(raw)?;
        let id: Arc<str> = call.get("id")?.and_then(json::text).unwrap_or_default().into();
        for (kind, input) in [("function", "arguments"), ("custom", "input")] {
            if let Some(function) = call.get(kind)?
                && called(entry, function, input, Some(&id))?
            {
                return Ok(());
            }
        }
    }
    entry.opaque(raw);
    Ok(())
}

/// Adds a call, known to its result by `id` or, in the old style without ids, by name. `false` when it is not
/// understood.
fn called(
    entry: &mut Entry<'_, '_>,
    function: &RawValue,
    input: &str,
    id: Option<&Arc<str>>,
) -> Result<bool, Error> {
    if Shape::of(function) != Shape::Object {
        return Ok(false);
    }
    let function = Object::read(function)?;
    let Some(name) = function.get("name")?.and_then(json::text) else { return Ok(false) };
    let arguments = entry.value(function.get(input)?);
    entry.call(id.cloned(), name.into(), arguments, Turn::Entry);
    Ok(true)
}
