use serde_json::Error;
use serde_json::value::RawValue;

use crate::model::{PartKind, Parts, Role};
use crate::wire::entry::{CallRef, Content, Entry, Turn, document_kind};
use crate::wire::json::{self, Object, Shape};

/// Adds the items of a message, or none if it is not understood. Answers whether a user says it.
///
/// # Errors
/// When it repeats a member that is read.
pub(super) fn read(entry: &mut Entry<'_, '_>, message: &Object<'_>) -> Result<bool, Error> {
    let role = message.get("role")?.and_then(json::text);
    let role = match role.as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        _ => return Ok(false),
    };
    match message.get("content")? {
        Some(blocks) if Shape::of(blocks) == Shape::List => {
            json::elements(blocks)?.into_iter().try_for_each(|raw| block(entry, role, raw))?;
        }
        content => {
            let content = entry.content(content)?;
            entry.message(role, content);
        }
    }
    Ok(role == Role::User)
}

/// Adds the item of one content block.
fn block(entry: &mut Entry<'_, '_>, role: Role, raw: &RawValue) -> Result<(), Error> {
    if Shape::of(raw) != Shape::Object {
        entry.opaque(raw);
        return Ok(());
    }
    let block = Object::read(raw)?;
    let kind = block.get("type")?.and_then(json::text);
    match kind.as_deref() {
        Some("text") => {
            let content = entry.element(raw)?;
            if content.parts.iter().any(|part| part.kind == PartKind::Text) {
                entry.message(role, content);
            } else {
                entry.opaque_parts(content);
            }
        }
        Some("image") => entry.message(role, entry.object(raw, &block, PartKind::FixedImage)),
        Some("document") => entry.opaque_parts(entry.object(raw, &block, document_kind(&block)?)),
        Some("thinking") => {
            let content = thinking(entry, raw, &block)?;
            entry.reasoning(content);
        }
        Some("redacted_thinking") => entry.reasoning(entry.object(raw, &block, PartKind::Other)),
        Some("tool_use") => call(entry, raw, &block)?,
        Some("tool_result") => {
            let id = block.get("tool_use_id")?.and_then(json::text).unwrap_or_default();
            let content = entry.content(block.get("content")?)?;
            let is_error = block.get("is_error")?.is_some_and(|raw| raw.get() == "true");
            entry.result(CallRef::Id(&id), content, is_error);
        }
        _ => entry.opaque_parts(entry.object(raw, &block, PartKind::Other)),
    }
    Ok(())
}

/// A block of thinking: its text or, where the provider keeps that to itself, all of it.
fn thinking(entry: &Entry<'_, '_>, raw: &RawValue, block: &Object<'_>) -> Result<Content, Error> {
    let mut content = entry.object(raw, block, PartKind::Other);
    let text = block.get("thinking")?.filter(|text| json::is_text(text) && text.get() != r#""""#);
    if let (Some(text), Some(part)) = (text, content.parts.first_mut()) {
        (part.kind, part.span) = (PartKind::Text, entry.span(text));
    }
    Ok(content)
}

fn call(entry: &mut Entry<'_, '_>, raw: &RawValue, block: &Object<'_>) -> Result<(), Error> {
    let Some(name) = block.get("name")?.and_then(json::text) else {
        entry.opaque_parts(entry.object(raw, block, PartKind::Other));
        return Ok(());
    };
    let id = block.get("id")?.and_then(json::text).unwrap_or_default();
    let input = block.get("input")?;
    let mut arguments = Content::of(input);
    arguments.parts = input.map_or_else(Parts::new, |input| {
        let mut part = entry.text_or_other(input);
        if Shape::of(input) == Shape::Object {
            part.kind = PartKind::Json;
        }
        Parts::from_buf([part])
    });
    entry.call(Some((&*id).into()), (&*name).into(), arguments, Turn::Entry);
    Ok(())
}
