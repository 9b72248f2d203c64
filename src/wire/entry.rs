//! Adding the items of one entry of a list.

use std::sync::Arc;

use serde_json::Error;
use serde_json::value::RawValue;
use smallvec::smallvec;

use super::json::{self, Cursor, Object, Shape};
use super::progress::Progress;
use crate::model::{Fingerprint, Item, ItemKind, Part, PartKind, Parts, Role, Span, ToolCall, ToolResult};

/// Members of an image element that are the image itself.
pub(super) const IMAGE_MEMBERS: [&str; 6] = ["type", "image_url", "image", "source", "file_id", "detail"];

/// A member that says where a provider is to keep a prefix in its cache. Clients move it from turn to turn, so it is no
/// part of any identity.
const CACHE_MARK: &str = "cache_control";

/// One entry of a list, while its items are added.
pub(super) struct Entry<'r, 'a> {
    cursor: &'r Cursor<'a>,
    progress: &'r mut Progress,
}

/// What an item holds.
#[derive(Debug, Clone)]
pub(super) struct Content {
    pub(super) parts: Parts,
    /// Identity of what it says: the same whether a text is bare or the one element of a list.
    pub(super) print: Fingerprint,
    /// Whether it has text that cannot be read.
    pub(super) broken: bool,
}

/// What counts as one turn of the model: an id that is used again in a later one is another call's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// The entry: a message holds all its calls.
    Entry,
    /// The run of the model's own entries: each call is one.
    Run,
}

/// How a result names its call.
#[derive(Debug, Clone, Copy)]
pub(super) enum CallRef<'a> {
    /// By its id.
    Id(&'a str),
    /// By the name of the tool, in the old style without ids.
    Name(&'a str),
}

impl<'r, 'a> Entry<'r, 'a> {
    pub(super) fn new(cursor: &'r Cursor<'a>, progress: &'r mut Progress) -> Self {
        Self { cursor, progress }
    }

    /// Where a value that was read in the body stands.
    pub(super) fn span(&self, raw: &RawValue) -> Span {
        self.cursor.span(raw)
    }

    /// Adds the text of a message.
    pub(super) fn message(&mut self, role: Role, content: Content) {
        let identity = Fingerprint::of(&[b"message", &[role as u8], content.print.as_bytes()]);
        self.push(ItemKind::Message { role }, content, identity);
    }

    /// Adds a block of thinking.
    pub(super) fn reasoning(&mut self, content: Content) {
        let identity = Fingerprint::of(&[b"reasoning", content.print.as_bytes()]);
        self.push(ItemKind::Reasoning, content, identity);
    }

    /// Adds a call, known to its result by `id` or, in the old style without ids, by name.
    pub(super) fn call(&mut self, id: Option<Arc<str>>, name: Arc<str>, arguments: Content, turn: Turn) {
        let item = self.progress.items.len();
        let turn = match turn {
            Turn::Entry => self.progress.messages.len(),
            Turn::Run => self.run_start(),
        };
        match &id {
            Some(id) => self.progress.calls.open(id, turn, item),
            None => self.progress.functions.open(&name, turn, item),
        }
        let id = id.unwrap_or_default();
        let print = arguments.print;
        let identity = Fingerprint::of(&[b"call", id.as_bytes(), name.as_bytes(), print.as_bytes()]);
        self.push(ItemKind::ToolCall(ToolCall { id, name }), arguments, identity);
    }

    /// Adds what a tool answered.
    pub(super) fn result(&mut self, of: CallRef<'_>, content: Content, is_error: bool) {
        let (id, call): (Arc<str>, _) = match of {
            CallRef::Id(id) => (id.into(), self.progress.calls.answer(id)),
            CallRef::Name(name) => (Arc::default(), self.progress.functions.answer(name)),
        };
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
        self.push(ItemKind::ToolResult(ToolResult { id, call, is_error }), content, identity);
    }

    /// Adds something that is not understood.
    pub(super) fn opaque(&mut self, raw: &RawValue) {
        self.opaque_bytes(self.cursor.span(raw), raw.get().as_bytes());
    }

    /// Adds something that is not understood but known in its pieces, so that it is counted well.
    pub(super) fn opaque_parts(&mut self, content: Content) {
        let identity = Fingerprint::of(&[b"opaque", content.print.as_bytes()]);
        self.push(ItemKind::Opaque, content, identity);
    }

    /// Whether this entry has no item yet.
    pub(super) fn is_silent(&self) -> bool {
        self.progress.items.last().is_none_or(|item| item.message != self.progress.messages.len())
    }

    /// Makes an entry that has no items one that is not understood.
    pub(super) fn speak(&mut self, entry: Span) {
        if self.is_silent() {
            let text = self.cursor.slice(entry);
            self.opaque_bytes(entry, text.as_bytes());
        }
    }

    /// The first message of the run of the model's own items that ends the list so far.
    fn run_start(&self) -> usize {
        let by_model = |item: &&Item| !item.is_tool_result() && !item.is_asked();
        let run = self.progress.items.iter().rev().take_while(by_model);
        run.last().map_or(self.progress.messages.len(), |item| item.message)
    }

    fn opaque_bytes(&mut self, span: Span, bytes: &[u8]) {
        let parts = smallvec![whole(PartKind::Other, span)];
        self.opaque_parts(Content { parts, print: Fingerprint::of(&[bytes]), broken: false });
    }

    fn push(&mut self, kind: ItemKind, content: Content, identity: Fingerprint) {
        let Content { mut parts, print, broken } = content;
        if broken {
            parts.iter_mut().for_each(|part| part.kind = PartKind::Other);
        }
        // A result stays one, so that its call is known to be answered; without text and images it is not edited.
        let item = Item {
            kind: if broken && !matches!(kind, ItemKind::ToolResult(_)) { ItemKind::Opaque } else { kind },
            message: self.progress.messages.len(),
            fingerprint: identity,
            content: print,
            parts,
        };
        self.progress.push(item, identity);
    }
}

/// Reading what an item holds.
impl<'a> Entry<'_, 'a> {
    /// A text, or a list of parts.
    ///
    /// # Errors
    /// When a part repeats a member that is read.
    pub(super) fn content(&self, raw: Option<&'a RawValue>) -> Result<Content, Error> {
        let raw = match raw.map(|raw| (Shape::of(raw), raw)) {
            None | Some((Shape::Null, _)) => return Ok(Content::nothing()),
            Some((Shape::Text, raw)) if json::is_text(raw) => {
                return Ok(Content::text(raw, self.whole(PartKind::Text, raw)));
            }
            Some((_, raw)) => raw,
        };
        let mut said = Said::default();
        if Shape::of(raw) == Shape::List {
            json::elements(raw)?.into_iter().try_for_each(|element| self.part(element, &mut said))?;
        } else {
            said.broken |= Shape::of(raw) == Shape::Text;
            said.value(raw, self.whole(PartKind::Other, raw));
        }
        Ok(said.content())
    }

    /// One element of a list of parts.
    ///
    /// # Errors
    /// When it repeats a member that is read.
    pub(super) fn element(&self, raw: &'a RawValue) -> Result<Content, Error> {
        let mut said = Said::default();
        self.part(raw, &mut said)?;
        Ok(said.content())
    }

    /// An object as one part of this kind.
    pub(super) fn object(&self, raw: &'a RawValue, object: &Object<'_>, kind: PartKind) -> Content {
        let mut said = Said::default();
        said.members(object, self.whole(kind, raw));
        said.content()
    }

    /// One value, which is text if it is a string that can be read.
    pub(super) fn value(&self, raw: Option<&'a RawValue>) -> Content {
        let mut content = Content::of(raw);
        content.parts.extend(raw.map(|raw| self.text_or_other(raw)));
        content
    }

    /// A part that is a whole value: text if it is a string that can be read.
    pub(super) fn text_or_other(&self, raw: &RawValue) -> Part {
        self.whole(if json::is_text(raw) { PartKind::Text } else { PartKind::Other }, raw)
    }

    /// A part that is a whole value.
    pub(super) fn whole(&self, kind: PartKind, raw: &RawValue) -> Part {
        whole(kind, self.cursor.span(raw))
    }

    /// Adds one element of a list of parts to what is said.
    fn part(&self, raw: &'a RawValue, said: &mut Said) -> Result<(), Error> {
        let element = self.cursor.span(raw);
        if Shape::of(raw) != Shape::Object {
            said.value(raw, whole(PartKind::Other, element));
            return Ok(());
        }
        let object = Object::read(raw)?;
        let carries = |own: &[&str]| object.members().any(|(name, _)| !own.contains(&name));
        let kind = object.get("type")?.and_then(json::text);
        let part = match kind.as_deref() {
            Some("text" | "input_text" | "output_text") => {
                let text = object.get("text")?;
                if let Some(text) = text.filter(|text| json::is_text(text)) {
                    let (span, carries_more) = (self.cursor.span(text), carries(&["type", "text"]));
                    said.text(text, Part { kind: PartKind::Text, span, element, carries_more });
                    return Ok(());
                }
                said.broken |= text.is_some_and(|text| Shape::of(text) == Shape::Text);
                whole(PartKind::Other, element)
            }
            Some("image_url" | "input_image" | "image") => {
                Part { carries_more: carries(&IMAGE_MEMBERS), ..whole(PartKind::Image, element) }
            }
            Some("document") => whole(document_kind(&object)?, element),
            _ => whole(PartKind::Other, element),
        };
        said.members(&object, part);
        Ok(())
    }
}

impl Content {
    fn nothing() -> Self {
        Self { parts: Parts::new(), print: Fingerprint::of(&[]), broken: false }
    }

    /// The same as [`Said`] makes of one text.
    fn text(literal: &RawValue, part: Part) -> Self {
        let print = Fingerprint::of(&[TEXT, literal.get().as_bytes()]);
        Self { parts: smallvec![part], print, broken: false }
    }

    /// Of a value whose parts are not read yet.
    pub(super) fn of(raw: Option<&RawValue>) -> Self {
        let print = Fingerprint::of(&[raw.map_or(&[], |raw| raw.get().as_bytes())]);
        Self { parts: Parts::new(), print, broken: false }
    }
}

/// Stands in front of a text in an identity.
const TEXT: &[u8] = b"text";

/// What an item says, while it is read.
#[derive(Default)]
struct Said {
    parts: Parts,
    print: blake3::Hasher,
    broken: bool,
}

impl Said {
    fn text(&mut self, literal: &RawValue, part: Part) {
        self.hash(TEXT);
        self.hash(literal.get().as_bytes());
        self.parts.push(part);
    }

    fn value(&mut self, raw: &RawValue, part: Part) {
        self.hash(b"value");
        self.hash(raw.get().as_bytes());
        self.parts.push(part);
    }

    /// An object, by its members, of which one that marks the cache does not count.
    fn members(&mut self, object: &Object<'_>, part: Part) {
        self.hash(b"object");
        for (name, value) in object.members().filter(|(name, _)| *name != CACHE_MARK) {
            self.hash(name.as_bytes());
            self.hash(value.get().as_bytes());
        }
        self.hash(b"");
        self.parts.push(part);
    }

    fn hash(&mut self, piece: &[u8]) {
        self.print.update(&(piece.len() as u64).to_le_bytes());
        self.print.update(piece);
    }

    fn content(self) -> Content {
        Content { parts: self.parts, print: Fingerprint::finish(&self.print), broken: self.broken }
    }
}

/// How a document counts: one that is not given as text is worth about as much as an image, whatever its bytes.
pub(super) fn document_kind(document: &Object<'_>) -> Result<PartKind, Error> {
    let source = document.get("source")?.filter(|raw| Shape::of(raw) == Shape::Object);
    let kind = source.map(Object::read).transpose()?.map(|source| source.get("type")).transpose()?.flatten();
    let is_text = kind.and_then(json::text).is_none_or(|kind| matches!(&*kind, "text" | "content"));
    Ok(if is_text { PartKind::Other } else { PartKind::FixedImage })
}

fn whole(kind: PartKind, span: Span) -> Part {
    Part { kind, span, element: span, carries_more: false }
}
