use std::borrow::Cow;

use bytes::Bytes;
use serde_json::value::RawValue;

use super::entry::IMAGE_MEMBERS;
use super::envelope::Piece;
use super::json::Object;
use super::list::Dialect;
use super::{Decoded, Envelope};
use crate::model::{EditSet, Item, ItemKind, Part, PartKind, Span};

/// What stands in a text that is gone, but whose element has other members that must stay. Not the empty text,
/// which some providers refuse.
const GONE: &str = "…";

/// The body with `edits` in it.
pub(super) fn render<D: Dialect>(decoded: &Decoded, edits: &EditSet) -> Bytes {
    let source = &decoded.transcript.source;
    let mut pieces = Vec::with_capacity(edits.len());
    for (index, edit) in edits.edits() {
        if !edits.is_folded(index)
            && let Some(item) = decoded.transcript.items.get(index)
        {
            write_item(item, &edit.text, D::TEXT, source, &mut pieces);
        }
    }
    for folded in edits.folds() {
        if let Some([first, .., last] | [first @ last]) =
            decoded.envelope.messages.get(folded.messages.clone())
        {
            let message = D::says(&literal(&folded.fold.text)).into_bytes();
            pieces.push((Span { start: first.start, end: last.end }, Cow::Owned(message)));
        }
    }
    Envelope::splice(source, pieces)
}

/// Writes `text` in place of all text and images of an item. What is neither stays.
fn write_item(item: &Item, text: &str, kind: &str, source: &Bytes, pieces: &mut Vec<Piece>) {
    if matches!(item.kind, ItemKind::ToolCall(_) | ItemKind::Reasoning | ItemKind::Opaque) {
        return;
    }
    let first = |kind| item.parts.iter().position(|part| part.kind == kind);
    let Some(keeper) = first(PartKind::Text).or_else(|| first(PartKind::Image)) else { return };
    let stays = |(index, part): (usize, &Part)| {
        index == keeper || part.carries_more || matches!(part.kind, PartKind::FixedImage | PartKind::Other)
    };
    let Some(first_kept) = item.parts.iter().enumerate().position(stays) else { return };
    for (index, part) in item.parts.iter().enumerate() {
        let text = if index == keeper { text } else { GONE };
        if !stays((index, part)) {
            pieces.push((with_comma(item, index, first_kept), Cow::Borrowed(b"")));
        } else if part.kind == PartKind::Image {
            pieces.push((part.span, Cow::Owned(text_element(part, text, kind, source))));
        } else if part.kind == PartKind::Text {
            let literal = literal(text).into_bytes();
            if index == keeper || literal.len() < part.span.len() {
                pieces.push((part.span, Cow::Owned(literal)));
            }
        }
    }
}

/// The span of a list element with the comma that goes with it, given that the one at `kept` stays.
fn with_comma(item: &Item, index: usize, kept: usize) -> Span {
    let element = |index: usize| item.parts[index].element;
    if index < kept {
        Span { start: element(index).start, end: element(index + 1).start }
    } else {
        Span { start: element(index - 1).end, end: element(index).end }
    }
}

/// A text element, of this `kind`, in place of an image, with all members of the image's element that are not the
/// image.
fn text_element(image: &Part, text: &str, kind: &str, source: &Bytes) -> Vec<u8> {
    let mut element = format!(r#"{{"type":"{kind}","text":{}"#, literal(text));
    let raw = serde_json::from_slice::<&RawValue>(image.element.slice(source));
    if let Ok(object) = raw.and_then(Object::read) {
        for (name, value) in
            object.members().filter(|(name, _)| !IMAGE_MEMBERS.contains(name) && *name != "text")
        {
            element.push(',');
            element.push_str(&literal(name));
            element.push(':');
            element.push_str(value.get());
        }
    }
    element.push('}');
    element.into_bytes()
}

/// A JSON string.
fn literal(text: &str) -> String {
    serde_json::to_string(text).expect("a string can always be written to memory")
}
