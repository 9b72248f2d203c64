use std::sync::Arc;

use serde_json::Error;
use serde_json::value::RawValue;
use smallvec::smallvec;

use super::progress::Progress;
use crate::model::{Fingerprint, Item, ItemKind, Part, PartKind, Parts, Role, Span, ToolCall, ToolResult};
use crate::wire::json::{self, Cursor, Object, Shape};

/// Members of an image element that are the image itself.
pub(super) const IMAGE_MEMBERS: [&str; 6] = ["type", "image_url", "image", "source", "file_id", "detail"];

/// Reads the next entry of the list of messages.
///
/// # Errors
/// When it is no JSON, or repeats a member that is read.
pub(super) fn read(cursor: &mut Cursor<'_>, progress: &mut Progress) -> Result<(), Error> {
    let object = cursor.peek() == Some(b'{');
    let start = cursor.offset();
    let message: Option<Object<'_>> = if object {
        Some(cursor.value()?)
    } else {
        cursor.value::<&RawValue>()?;
        None
    };
    let span = Span { start, end: cursor.offset() };
    let mut reader = Reader { cursor, progress };
    let role = match &message {
        Some(message) => reader.message(message)?,
        None => None,
    };
    if reader.is_silent() {
        let text = reader.cursor.slice(span);
        reader.opaque(span, text.as_bytes());
    }
    progress.end_message(span, role == Some(Role::User));
    Ok(())
}

/// Reads one message.
struct Reader<'r, 'a> {
    cursor: &'r Cursor<'a>,
    progress: &'r mut Progress,
}

/// What the `content` member holds.
struct Content {
    parts: Parts,
    /// Identity of its bytes.
    print: Fingerprint,
    /// Whether it has text that cannot be read.
    broken: bool,
}

impl<'a> Reader<'_, 'a> {
    /// Adds the items of a message, or none if it is not understood. Answers who speaks.
    fn message(&mut self, message: &Object<'a>) -> Result<Option<Role>, Error> {
        let role = message.get("role")?.and_then(json::text);
        match role.as_deref() {
            Some("system" | "developer") => self.plain(message, Role::System).map(Some),
            Some("user") => self.plain(message, Role::User).map(Some),
            Some("assistant") => {
                self.assistant(message)?;
                Ok(Some(Role::Assistant))
            }
            Some("tool") => {
                let id = message.get("tool_call_id")?.and_then(json::text).unwrap_or_default();
                let call = self.progress.calls.answer(&id);
                self.result(message, id.into(), call)?;
                Ok(None)
            }
            Some("function") => {
                let name = message.get("name")?.and_then(json::text).unwrap_or_default();
                let call = self.progress.functions.answer(&name);
                self.result(message, Arc::default(), call)?;
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    fn plain(&mut self, message: &Object<'a>, role: Role) -> Result<Role, Error> {
        let content = self.content(message.get("content")?)?;
        let identity = Fingerprint::of(&[b"message", &[role as u8], content.print.as_bytes()]);
        self.push(ItemKind::Message { role }, content, identity);
        Ok(role)
    }

    fn assistant(&mut self, message: &Object<'a>) -> Result<(), Error> {
        self.reasoning(message)?;
        let content = message.get("content")?;
        if content.is_some_and(|raw| Shape::of(raw) != Shape::Null) {
            self.plain(message, Role::Assistant)?;
        }
        if let Some(calls) = message.get("tool_calls")? {
            match Shape::of(calls) {
                Shape::Null => {}
                Shape::List => json::elements(calls)?.into_iter().try_for_each(|call| self.call(call))?,
                _ => self.opaque(self.cursor.span(calls), calls.get().as_bytes()),
            }
        }
        if let Some(call) = message.get("function_call")?
            && Shape::of(call) != Shape::Null
        {
            self.function_call(call)?;
        }
        if self.is_silent() {
            self.plain(message, Role::Assistant)?;
        }
        Ok(())
    }

    fn reasoning(&mut self, message: &Object<'a>) -> Result<(), Error> {
        let mut parts = Parts::new();
        let mut bytes: Vec<&[u8]> = vec![b"reasoning"];
        for member in ["reasoning", "reasoning_content", "reasoning_details"] {
            let Some(raw) = message.get(member)?.filter(|raw| Shape::of(raw) != Shape::Null) else {
                continue;
            };
            let kind = if json::is_text(raw) { PartKind::Text } else { PartKind::Other };
            parts.push(whole(kind, self.cursor.span(raw)));
            bytes.push(raw.get().as_bytes());
        }
        if !parts.is_empty() {
            let print = Fingerprint::of(&bytes);
            let identity = Fingerprint::of(&[b"reasoning", print.as_bytes()]);
            self.push(ItemKind::Reasoning, Content { parts, print, broken: false }, identity);
        }
        Ok(())
    }

    fn call(&mut self, raw: &'a RawValue) -> Result<(), Error> {
        if Shape::of(raw) != Shape::Object {
            self.opaque(self.cursor.span(raw), raw.get().as_bytes());
            return Ok(());
        }
        let call = Object::read(raw)?;
        let id: Arc<str> = call.get("id")?.and_then(json::text).unwrap_or_default().into();
        for (kind, input) in [("function", "arguments"), ("custom", "input")] {
            if let Some(function) = call.get(kind)?
                && self.called(function, input, Some(&id))?
            {
                return Ok(());
            }
        }
        self.opaque(self.cursor.span(raw), raw.get().as_bytes());
        Ok(())
    }

    fn function_call(&mut self, raw: &'a RawValue) -> Result<(), Error> {
        if !self.called(raw, "arguments", None)? {
            self.opaque(self.cursor.span(raw), raw.get().as_bytes());
        }
        Ok(())
    }

    /// Adds a call, known to its result by `id` or, in the old style without ids, by name. `false` when it is not understood.
    fn called(&mut self, function: &'a RawValue, input: &str, id: Option<&Arc<str>>) -> Result<bool, Error> {
        if Shape::of(function) != Shape::Object {
            return Ok(false);
        }
        let function = Object::read(function)?;
        let Some(name) = function.get("name")?.and_then(json::text) else { return Ok(false) };
        let name: Arc<str> = name.into();
        let arguments = function.get(input)?;
        let print = Fingerprint::of(&[arguments.map_or(&[], |raw| raw.get().as_bytes())]);
        let parts = arguments.map_or_else(Parts::new, |raw| {
            let kind = if json::is_text(raw) { PartKind::Text } else { PartKind::Other };
            smallvec![whole(kind, self.cursor.span(raw))]
        });
        let (message, item) = (self.progress.messages.len(), self.progress.items.len());
        match id {
            Some(id) => self.progress.calls.open(id, message, item),
            None => self.progress.functions.open(&name, message, item),
        }
        let id = id.cloned().unwrap_or_default();
        let identity = Fingerprint::of(&[b"call", id.as_bytes(), name.as_bytes(), print.as_bytes()]);
        let kind = ItemKind::ToolCall(ToolCall { id, name });
        self.push(kind, Content { parts, print, broken: false }, identity);
        Ok(true)
    }

    fn result(&mut self, message: &Object<'a>, id: Arc<str>, call: Option<usize>) -> Result<(), Error> {
        let content = self.content(message.get("content")?)?;
        let (name, arguments) = match call.map(|index| &self.progress.items[index]) {
            Some(Item { kind: ItemKind::ToolCall(call), content, .. }) => (&*call.name, *content),
            _ => ("", Fingerprint::default()),
        };
        let identity = Fingerprint::of(&[
            b"result",
            id.as_bytes(),
            name.as_bytes(),
            arguments.as_bytes(),
            content.print.as_bytes(),
        ]);
        let is_error = message.get("is_error")?.is_some_and(|raw| raw.get() == "true");
        self.push(ItemKind::ToolResult(ToolResult { id, call, is_error }), content, identity);
        Ok(())
    }

    fn content(&self, raw: Option<&'a RawValue>) -> Result<Content, Error> {
        let mut content = Content {
            parts: Parts::new(),
            print: Fingerprint::of(&[raw.map_or(&[], |raw| raw.get().as_bytes())]),
            broken: false,
        };
        let Some(raw) = raw else { return Ok(content) };
        match Shape::of(raw) {
            Shape::Null => {}
            Shape::List => {
                for element in json::elements(raw)? {
                    let part = self.part(element, &mut content.broken)?;
                    content.parts.push(part);
                }
            }
            Shape::Text if json::is_text(raw) => {
                content.parts.push(whole(PartKind::Text, self.cursor.span(raw)));
            }
            shape => {
                content.broken = shape == Shape::Text;
                content.parts.push(whole(PartKind::Other, self.cursor.span(raw)));
            }
        }
        Ok(content)
    }

    /// One element of a content list; `broken` is set when it has text that cannot be read.
    fn part(&self, raw: &'a RawValue, broken: &mut bool) -> Result<Part, Error> {
        let element = self.cursor.span(raw);
        if Shape::of(raw) != Shape::Object {
            return Ok(whole(PartKind::Other, element));
        }
        let object = Object::read(raw)?;
        let carries = |own: &[&str]| object.members().any(|(name, _)| !own.contains(&name));
        let kind = object.get("type")?.and_then(json::text);
        match kind.as_deref() {
            Some("text" | "input_text" | "output_text") => match object.get("text")? {
                Some(text) if json::is_text(text) => Ok(Part {
                    kind: PartKind::Text,
                    span: self.cursor.span(text),
                    element,
                    carries_more: carries(&["type", "text"]),
                }),
                text => {
                    *broken |= text.is_some_and(|text| Shape::of(text) == Shape::Text);
                    Ok(whole(PartKind::Other, element))
                }
            },
            Some("image_url" | "input_image" | "image") => {
                Ok(Part { carries_more: carries(&IMAGE_MEMBERS), ..whole(PartKind::Image, element) })
            }
            _ => Ok(whole(PartKind::Other, element)),
        }
    }

    fn opaque(&mut self, span: Span, bytes: &[u8]) {
        let print = Fingerprint::of(&[bytes]);
        let parts = smallvec![whole(PartKind::Other, span)];
        let identity = Fingerprint::of(&[b"opaque", print.as_bytes()]);
        self.push(ItemKind::Opaque, Content { parts, print, broken: false }, identity);
    }

    fn push(&mut self, kind: ItemKind, content: Content, identity: Fingerprint) {
        let Content { mut parts, print, broken } = content;
        if broken {
            parts.iter_mut().for_each(|part| part.kind = PartKind::Other);
        }
        let item = Item {
            kind: if broken { ItemKind::Opaque } else { kind },
            message: self.progress.messages.len(),
            fingerprint: identity,
            content: print,
            parts,
        };
        self.progress.push(item, identity);
    }

    /// Whether this message has no item yet.
    fn is_silent(&self) -> bool {
        self.progress.items.last().is_none_or(|item| item.message != self.progress.messages.len())
    }
}

fn whole(kind: PartKind, span: Span) -> Part {
    Part { kind, span, element: span, carries_more: false }
}
