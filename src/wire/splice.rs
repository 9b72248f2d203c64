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
    if D::LEAVES_OUT_REASONING {
        leave_out(decoded, edits, D::TEXT, &mut pieces);
    }
    Envelope::splice(source, pieces)
}

/// Takes reasoning out of the lists of blocks that it stands in. A list never becomes empty.
fn leave_out(decoded: &Decoded, edits: &EditSet, kind: &str, pieces: &mut Vec<Piece>) {
    let source = &decoded.transcript.source;
    let items = edits.left_out().filter_map(|index| decoded.transcript.items.get(index));
    let blocks = items.filter(|item| item.kind == ItemKind::Reasoning).filter_map(|item| item.parts.first());
    let mut runs: Vec<Span> = Vec::new();
    for block in blocks.map(|part| part.element) {
        match runs.last_mut() {
            Some(run) if comma_behind(source, run.end) == Some(block.start) => run.end = block.end,
            _ => runs.push(block),
        }
    }
    for run in runs {
        let piece = if let Some(next) = comma_behind(source, run.end) {
            (Span { end: next, ..run }, Cow::Borrowed(&b""[..]))
        } else if let Some(comma) = comma_before(source, run.start) {
            (Span { start: comma, ..run }, Cow::Borrowed(&b""[..]))
        } else {
            (run, Cow::Owned(format!(r#"{{"type":"{kind}","text":"{GONE}"}}"#).into_bytes()))
        };
        pieces.push(piece);
    }
}

/// Where the element behind the next comma begins, if a comma follows the one that ends at `end`.
fn comma_behind(source: &[u8], end: usize) -> Option<usize> {
    let rest = source[end..].trim_ascii_start().strip_prefix(b",")?;
    Some(source.len() - rest.trim_ascii_start().len())
}

/// Where the comma in front of the element that begins at `start` stands, if there is one.
fn comma_before(source: &[u8], start: usize) -> Option<usize> {
    source[..start].trim_ascii_end().strip_suffix(b",").map(<[u8]>::len)
}

/// Writes `text` in place of all text and images of an item. What is neither stays.
fn write_item(item: &Item, text: &str, kind: &str, source: &Bytes, pieces: &mut Vec<Piece>) {
    if matches!(item.kind, ItemKind::ToolCall(_) | ItemKind::Reasoning | ItemKind::Opaque) {
        return;
    }
    let first = |kind| item.parts.iter().position(|part| part.kind == kind);
    let Some(keeper) = first(PartKind::Text).or_else(|| first(PartKind::Image)) else { return };
    let stays = |(index, part): (usize, &Part)| {
        index == keeper
            || part.carries_more
            || matches!(part.kind, PartKind::Json | PartKind::FixedImage | PartKind::Other)
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
