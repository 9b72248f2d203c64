use serde_json::Error;
use serde_json::value::RawValue;
use smallvec::smallvec;

use crate::model::{Fingerprint, Part, PartKind, Parts, Role};
use crate::wire::entry::{CallRef, Content, Entry, Turn};
use crate::wire::json::{self, Object, Shape};

/// How the ids of reasoning items begin.
const REASONING_ID: &str = "rs_";
/// How deep the texts of a call's action are looked for: the action, its list of words, a word.
const DEEPEST: usize = 3;

/// Adds the one item of an entry, or none if it is not understood. Answers whether a user says it.
///
/// # Errors
/// When it repeats a member that is read.
pub(super) fn read(entry: &mut Entry<'_, '_>, object: &Object<'_>) -> Result<bool, Error> {
    let kind = object.get("type")?.filter(|raw| Shape::of(raw) != Shape::Null);
    let Some(kind) = kind else { return untyped(entry, object) };
    match json::text(kind).as_deref() {
        Some("message") => return message(entry, object),
        Some("reasoning") => reasoning(entry, object)?,
        Some("item_reference") => reference(entry, object)?,
        Some("function_call") => tool_call(entry, object, "arguments")?,
        Some("custom_tool_call") => tool_call(entry, object, "input")?,
        Some("local_shell_call") => action_call(entry, object, "local_shell", &["action"])?,
        Some("shell_call") => action_call(entry, object, "shell", &["action"])?,
        Some("apply_patch_call") => action_call(entry, object, "apply_patch", &["operation"])?,
        Some("computer_call") => action_call(entry, object, "computer", &["action", "actions"])?,
        Some(
            "function_call_output"
            | "custom_tool_call_output"
            | "local_shell_call_output"
            | "shell_call_output"
            | "apply_patch_call_output"
            | "computer_call_output",
        ) => output(entry, object)?,
        Some("image_generation_call") => generated_image(entry, object)?,
        _ => {}
    }
    Ok(false)
}

/// An entry without a type: a message, or a reference.
fn untyped(entry: &mut Entry<'_, '_>, object: &Object<'_>) -> Result<bool, Error> {
    if object.get("role")?.is_some() {
        return message(entry, object);
    }
    reference(entry, object)?;
    Ok(false)
}

fn message(entry: &mut Entry<'_, '_>, object: &Object<'_>) -> Result<bool, Error> {
    let role = match object.get("role")?.and_then(json::text).as_deref() {
        Some("system" | "developer") => Role::System,
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        _ => return Ok(false),
    };
    let content = entry.content(object.get("content")?)?;
    entry.message(role, content);
    Ok(role == Role::User)
}

fn reasoning(entry: &mut Entry<'_, '_>, object: &Object<'_>) -> Result<(), Error> {
    let mut parts = Parts::new();
    let mut bytes: Vec<&[u8]> = vec![b"reasoning"];
    for member in ["summary", "content", "encrypted_content"] {
        let Some(raw) = object.get(member)?.filter(|raw| Shape::of(raw) != Shape::Null) else { continue };
        bytes.extend([member.as_bytes(), raw.get().as_bytes()]);
        match Shape::of(raw) {
            Shape::List => texts(entry, raw, DEEPEST, &mut parts)?,
            _ => parts.push(entry.whole(PartKind::Other, raw)),
        }
    }
    entry.reasoning(Content { parts, print: Fingerprint::of(&bytes), broken: false });
    Ok(())
}

/// A reference to an item that the provider keeps. One to reasoning goes with what follows it, as reasoning does.
fn reference(entry: &mut Entry<'_, '_>, object: &Object<'_>) -> Result<(), Error> {
    if let Some(raw) = object.get("id")?
        && json::text(raw).is_some_and(|id| id.starts_with(REASONING_ID))
    {
        let parts = smallvec![entry.whole(PartKind::Other, raw)];
        entry.reasoning(Content { parts, ..Content::of(Some(raw)) });
    }
    Ok(())
}

fn tool_call(entry: &mut Entry<'_, '_>, object: &Object<'_>, input: &str) -> Result<(), Error> {
    let Some(name) = object.get("name")?.and_then(json::text) else { return Ok(()) };
    let name = match object.get("namespace")?.and_then(json::text).as_deref() {
        None | Some("") => name.into_owned(),
        Some(space) if space.ends_with(|c: char| !c.is_alphanumeric()) => format!("{space}{name}"),
        Some(space) => format!("{space}.{name}"),
    };
    let arguments = entry.value(object.get(input)?);
    call(entry, object, &name, arguments)
}

/// A call of a tool that the API itself defines: its arguments are the texts in one of the `actions` members.
fn action_call(
    entry: &mut Entry<'_, '_>,
    object: &Object<'_>,
    name: &str,
    actions: &[&str],
) -> Result<(), Error> {
    let mut action = None;
    for member in actions {
        action = action.or(object.get(member)?);
    }
    let mut arguments = Content::of(action);
    if let Some(raw) = action {
        texts(entry, raw, DEEPEST, &mut arguments.parts)?;
    }
    call(entry, object, name, arguments)
}

fn call(entry: &mut Entry<'_, '_>, object: &Object<'_>, name: &str, arguments: Content) -> Result<(), Error> {
    let id = object.get("call_id")?.and_then(json::text).unwrap_or_default();
    entry.call(Some(id.into()), name.into(), arguments, Turn::Run);
    Ok(())
}

fn output(entry: &mut Entry<'_, '_>, object: &Object<'_>) -> Result<(), Error> {
    let id = object.get("call_id")?.and_then(json::text).unwrap_or_default();
    let raw = object.get("output")?;
    let content = match raw {
        Some(raw) if Shape::of(raw) == Shape::Object => screenshot(entry, raw),
        Some(raw) if is_of_streams(raw)? => streams(entry, raw)?,
        raw => entry.content(raw)?,
    };
    let says = |member, value| Ok::<_, Error>(object.get(member)?.is_some_and(|raw| raw.get() == value));
    let is_error = says("is_error", "true")? || says("status", "\"failed\"")?;
    entry.result(CallRef::Id(&id), content, is_error);
    Ok(())
}

/// An output that is one object: a screenshot, in place of which nothing else may stand.
fn screenshot(entry: &Entry<'_, '_>, raw: &RawValue) -> Content {
    let kind = Object::read(raw).ok().and_then(|object| object.get("type").ok()?.and_then(json::text));
    let kind = match kind.as_deref() {
        Some("computer_screenshot" | "input_image") => PartKind::FixedImage,
        _ => PartKind::Other,
    };
    Content { parts: smallvec![entry.whole(kind, raw)], ..Content::of(Some(raw)) }
}

/// Whether an output is a list of what commands wrote to their streams.
fn is_of_streams(raw: &RawValue) -> Result<bool, Error> {
    if Shape::of(raw) != Shape::List {
        return Ok(false);
    }
    let Some(first) = json::elements(raw)?.into_iter().find(|raw| Shape::of(raw) == Shape::Object) else {
        return Ok(false);
    };
    let first = Object::read(first)?;
    Ok(first.get("type")?.is_none() && (first.get("stdout")?.is_some() || first.get("stderr")?.is_some()))
}

/// What commands wrote to their streams: a list of objects, of which each stays, with its other members.
fn streams(entry: &Entry<'_, '_>, raw: &RawValue) -> Result<Content, Error> {
    let mut content = Content::of(Some(raw));
    for element in json::elements(raw)? {
        let before = content.parts.len();
        if Shape::of(element) == Shape::Object {
            let object = Object::read(element)?;
            for member in ["stdout", "stderr"] {
                let Some(text) = object.get(member)?.filter(|raw| Shape::of(raw) == Shape::Text) else {
                    continue;
                };
                content.broken |= !json::is_text(text);
                content.parts.push(Part {
                    element: entry.span(element),
                    carries_more: true,
                    ..entry.whole(PartKind::Text, text)
                });
            }
        }
        if content.parts.len() == before {
            content.parts.push(entry.whole(PartKind::Other, element));
        }
    }
    Ok(content)
}

/// An image that the provider made: it counts as one, whatever the length of its bytes.
fn generated_image(entry: &mut Entry<'_, '_>, object: &Object<'_>) -> Result<(), Error> {
    if let Some(raw) = object.get("result")?.filter(|raw| Shape::of(raw) == Shape::Text) {
        let parts = smallvec![entry.whole(PartKind::FixedImage, raw)];
        entry.opaque_parts(Content { parts, ..Content::of(Some(raw)) });
    }
    Ok(())
}

/// Adds the texts in a value, and in what it holds down to `depth`.
fn texts(entry: &Entry<'_, '_>, raw: &RawValue, depth: usize, parts: &mut Parts) -> Result<(), Error> {
    match Shape::of(raw) {
        Shape::Text => parts.push(entry.text_or_other(raw)),
        Shape::List if depth > 0 => {
            json::elements(raw)?.into_iter().try_for_each(|raw| texts(entry, raw, depth - 1, parts))?;
        }
        Shape::Object if depth > 0 => {
            let object = Object::read(raw)?;
            let values = object.members().filter(|(name, _)| *name != "type").map(|(_, value)| value);
            values.into_iter().try_for_each(|raw| texts(entry, raw, depth - 1, parts))?;
        }
        Shape::List | Shape::Object => parts.push(entry.whole(PartKind::Other, raw)),
        Shape::Null | Shape::Other => {}
    }
    Ok(())
}
