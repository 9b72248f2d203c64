use std::str::from_utf8;

use serde::de::Error as _;
use serde_json::Error;
use serde_json::value::RawValue;

use super::message;
use super::progress::{Progress, Top};
use crate::model::{Span, Transcript};
use crate::wire::json::{self, Cursor, Key, Object, Shape};
use crate::wire::{DecodeError, Decoded, Envelope, WireFormat};

/// Reads a body, from its start or on from a state behind its first bytes.
///
/// # Errors
/// When it is no JSON object with a list of messages, or repeats a member that is read.
pub(super) fn read(body: &[u8], known: Option<(usize, Progress)>) -> Result<(Progress, Top), DecodeError> {
    let (start, progress) = known.map_or((0, None), |(end, progress)| (end, Some(progress)));
    let json = |source| DecodeError::Json { format: WireFormat::Chat, source };
    let text = from_utf8(&body[start..]).map_err(|error| json(Error::custom(error)))?;
    let mut cursor = Cursor::new(text, start);
    let (progress, top) = document(&mut cursor, progress).map_err(json)?;
    Ok((progress.ok_or(DecodeError::NoMessages)?, top))
}

/// Walks the top-level object.
fn document(cursor: &mut Cursor<'_>, known: Option<Progress>) -> Result<(Option<Progress>, Top), Error> {
    let (mut progress, mut top) = (None, Top::default());
    let mut more = if let Some(mut known) = known {
        top = known.head;
        messages(cursor, &mut known)?;
        progress = Some(known);
        more(cursor, b'}')?
    } else {
        cursor.expect(b'{')?;
        !cursor.take(b'}')
    };
    while more {
        if cursor.peek() != Some(b'"') {
            return Err(cursor.error(b"\""));
        }
        let Key(name) = cursor.value()?;
        cursor.expect(b':')?;
        if name == "messages" {
            if std::mem::replace(&mut top.messages, true) {
                return Err(repeated(&name));
            }
            if cursor.take(b'[') {
                let mut fresh = Progress::at_start(top);
                if !cursor.take(b']') {
                    message::read(cursor, &mut fresh)?;
                    messages(cursor, &mut fresh)?;
                }
                progress = Some(fresh);
            } else {
                cursor.value::<&RawValue>()?;
            }
        } else {
            cursor.peek();
            let value = cursor.value::<&RawValue>()?;
            let span = cursor.span(value);
            if let Some(place) = top.place(&name)
                && place.replace(span).is_some()
            {
                return Err(repeated(&name));
            }
        }
        more = self::more(cursor, b'}')?;
    }
    match cursor.peek() {
        None => Ok((progress, top)),
        Some(_) => Err(cursor.error(b"the end")),
    }
}

/// The rest of the list of messages, from behind an element on.
fn messages(cursor: &mut Cursor<'_>, progress: &mut Progress) -> Result<(), Error> {
    while more(cursor, b']')? {
        message::read(cursor, progress)?;
    }
    Ok(())
}

/// Whether there is another entry, or else the `end` of the list or object.
fn more(cursor: &mut Cursor<'_>, end: u8) -> Result<bool, Error> {
    if cursor.take(b',') {
        return Ok(true);
    }
    if cursor.take(end) { Ok(false) } else { Err(cursor.error(&[b',', end])) }
}

fn repeated(name: &str) -> Error {
    Error::custom(format_args!("the member `{name}` is repeated"))
}

impl Top {
    fn place(&mut self, name: &str) -> Option<&mut Option<Span>> {
        Some(match name {
            "model" => &mut self.model,
            "max_tokens" => &mut self.max_tokens,
            "max_completion_tokens" => &mut self.max_completion_tokens,
            "tools" => &mut self.tools,
            "functions" => &mut self.functions,
            "session_id" => &mut self.session_id,
            "metadata" => &mut self.metadata,
            _ => return None,
        })
    }
}

/// The transcript of what was read.
pub(super) fn decoded(source: bytes::Bytes, progress: &mut Progress, top: &Top) -> Decoded {
    let raw = |span: Option<Span>| serde_json::from_slice::<&RawValue>(span?.slice(&source)).ok();
    let text = |span| raw(span).and_then(json::text).map(String::from);
    let number = |span| raw(span).and_then(|raw| raw.get().parse().ok());
    let transcript = Transcript {
        items: progress.items.clone(),
        messages: progress.messages.len(),
        model: text(top.model).unwrap_or_default(),
        output_limit: number(top.max_completion_tokens).or_else(|| number(top.max_tokens)),
        definition_bytes: [top.tools, top.functions].into_iter().flatten().map(Span::len).sum(),
        session_id: text(top.session_id)
            .filter(|id| !id.is_empty())
            .or_else(|| session_in(raw(top.metadata)?))
            .filter(|id| !id.is_empty()),
        opening: progress.opening(&source),
        source,
    };
    Decoded { transcript, envelope: Envelope { messages: progress.messages.clone() } }
}

/// A session id in `metadata`: its `session_id`, or inside `user_id`, as JSON in a string or behind `_session_`.
fn session_in(metadata: &RawValue) -> Option<String> {
    let member = |raw, name| Object::read(raw).ok()?.get(name).ok()?.and_then(json::text);
    if Shape::of(metadata) != Shape::Object {
        return None;
    }
    if let Some(id) = member(metadata, "session_id") {
        return Some(id.into_owned());
    }
    let user = member(metadata, "user_id")?;
    match serde_json::from_str::<&RawValue>(&user) {
        Ok(inner) if Shape::of(inner) == Shape::Object => member(inner, "session_id").map(String::from),
        _ => user.rsplit_once("_session_").map(|(_, id)| id.to_owned()),
    }
}
