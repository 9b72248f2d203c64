//! What all formats share that send a conversation as one list beside other members: walking the body, going on from
//! what was read in earlier turns, and the codec made of it. What differs is the format's [`Dialect`].

use std::fmt;
use std::marker::PhantomData;
use std::str::from_utf8;
use std::sync::Arc;

use bytes::Bytes;
use serde::de::Error as _;
use serde_json::Error;
use serde_json::value::RawValue;

use super::entry::Entry;
use super::json::{Cursor, Key, Object};
use super::members::{Around, Members};
use super::memo::Memo;
use super::progress::{Progress, Snapshot};
use super::{Codec, DecodeError, Decoded, Envelope, Purpose, UsageFigures, WireFormat, splice};
use crate::model::{EditSet, Fingerprint, Span, Transcript};

/// What a wire format has of its own.
pub(super) trait Dialect: Send + Sync + 'static {
    /// Which format it is.
    const FORMAT: WireFormat;
    /// How the paths of its requests end, and what those are for.
    const ENDINGS: &'static [(&'static str, Purpose)];
    /// The member that holds the list.
    const LIST: &'static str;
    /// The other members that are read; `model` is one of them. At most [`MOST`](super::members::MOST).
    const MEMBERS: &'static [&'static str];
    /// The `type` of a text element in a list of parts, for one that stands in place of an image.
    const TEXT: &'static str;
    /// Whether reasoning may be left out of an entry that holds it in a list of blocks.
    const LEAVES_OUT_REASONING: bool = false;

    /// Adds the items of an entry of the list, or none if it is not understood: then it becomes one opaque item.
    /// Answers whether it may be a user's last words, which may be other ones next time.
    ///
    /// # Errors
    /// When it repeats a member that is read.
    fn read(entry: &mut Entry<'_, '_>, object: &Object<'_>) -> Result<bool, Error>;

    /// Adds the item of a value that stands in place of the list. `false` when only a list may stand there.
    ///
    /// # Errors
    /// When it repeats a member that is read.
    fn read_alone(_entry: &mut Entry<'_, '_>, _value: &RawValue) -> Result<bool, Error> {
        Ok(false)
    }

    /// What the members around the list say.
    fn facts<'a>(around: &Around<'a>) -> Facts<'a>;

    /// The entry that stands for a run of others and says a text, given as a JSON string.
    fn says(text: &str) -> String;

    /// What is to read the usage out of one answer.
    fn usage_figures() -> Box<dyn UsageFigures>;
}

/// What the members around a list say.
#[derive(Debug, Default)]
pub(super) struct Facts<'a> {
    /// The limit on the answer, in tokens.
    pub(super) output_limit: Option<u64>,
    /// Bytes of what is sent with every request and is no item.
    pub(super) definition_bytes: usize,
    /// A session id.
    pub(super) session_id: Option<String>,
    /// System texts that stand outside the list, as written.
    pub(super) system: Vec<&'a [u8]>,
    /// Whether the provider holds a part of the conversation that is not sent.
    pub(super) is_continued: bool,
}

/// The codec of a dialect.
pub(super) struct ListCodec<D> {
    memo: Memo<Snapshot>,
    dialect: PhantomData<D>,
}

impl<D> Default for ListCodec<D> {
    fn default() -> Self {
        Self { memo: Memo::new(), dialect: PhantomData }
    }
}

impl<D: Dialect> fmt::Debug for ListCodec<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ListCodec({})", D::FORMAT)
    }
}

impl<D: Dialect> Codec for ListCodec<D> {
    fn format(&self) -> WireFormat {
        D::FORMAT
    }

    fn endings(&self) -> &'static [(&'static str, Purpose)] {
        D::ENDINGS
    }

    fn decode(&self, body: Bytes) -> Result<Decoded, DecodeError> {
        let (known, trail) = self.memo.find(&body);
        let known = known.map(|(end, snapshot)| (end, snapshot.resume()));
        let (mut progress, members) = read::<D>(&body, known)?;
        let decoded = decoded::<D>(&body, &mut progress, &members);
        self.memo.keep(&body, trail, progress.snapshots());
        Ok(decoded)
    }

    fn render(&self, decoded: &Decoded, edits: &EditSet) -> Bytes {
        splice::render::<D>(decoded, edits)
    }

    fn without_reasoning(&self, decoded: &Decoded, edits: &EditSet, index: usize) -> Option<EditSet> {
        let mut without = edits.clone();
        let more = D::LEAVES_OUT_REASONING && without.leave_out_reasoning(&decoded.transcript, index) > 0;
        more.then_some(without)
    }

    fn usage_figures(&self) -> Box<dyn UsageFigures> {
        D::usage_figures()
    }
}

/// Reads a body, from its start or on from a state behind its first bytes.
///
/// # Errors
/// When it is no JSON object with a list, or repeats a member that is read.
fn read<D: Dialect>(
    body: &[u8],
    known: Option<(usize, Progress)>,
) -> Result<(Progress, Members), DecodeError> {
    let (start, progress) = known.map_or((0, None), |(end, progress)| (end, Some(progress)));
    let json = |source| DecodeError::Json { format: D::FORMAT, source };
    let text = from_utf8(&body[start..]).map_err(|error| json(Error::custom(error)))?;
    let mut cursor = Cursor::new(text, start);
    let (progress, members) = document::<D>(&mut cursor, progress).map_err(json)?;
    Ok((progress.ok_or(DecodeError::NoMessages)?, members))
}

/// Walks the top-level object.
fn document<D: Dialect>(
    cursor: &mut Cursor<'_>,
    known: Option<Progress>,
) -> Result<(Option<Progress>, Members), Error> {
    let (mut progress, mut members) = (None, Members::default());
    let mut more = if let Some(mut known) = known {
        members = known.head;
        entries::<D>(cursor, &mut known)?;
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
        if name == D::LIST {
            if std::mem::replace(&mut members.list, true) {
                return Err(repeated(&name));
            }
            progress = list::<D>(cursor, &members)?;
        } else {
            cursor.peek();
            let value = cursor.value::<&RawValue>()?;
            let span = cursor.span(value);
            if !members.note(D::MEMBERS, &name, span) {
                return Err(repeated(&name));
            }
        }
        more = self::more(cursor, b'}')?;
    }
    match cursor.peek() {
        None => Ok((progress, members)),
        Some(_) => Err(cursor.error(b"the end")),
    }
}

/// The member with the list. `None` when something else stands there.
fn list<D: Dialect>(cursor: &mut Cursor<'_>, head: &Members) -> Result<Option<Progress>, Error> {
    let mut fresh = Progress::at_start(head);
    if cursor.take(b'[') {
        if !cursor.take(b']') {
            entry::<D>(cursor, &mut fresh)?;
            entries::<D>(cursor, &mut fresh)?;
        }
        return Ok(Some(fresh));
    }
    let value = cursor.value::<&RawValue>()?;
    let span = cursor.span(value);
    let understood = D::read_alone(&mut Entry::new(cursor, &mut fresh), value)?;
    fresh.end_alone(span);
    Ok(understood.then_some(fresh))
}

/// The rest of the list, from behind an entry on.
fn entries<D: Dialect>(cursor: &mut Cursor<'_>, progress: &mut Progress) -> Result<(), Error> {
    while more(cursor, b']')? {
        entry::<D>(cursor, progress)?;
    }
    Ok(())
}

/// The next entry of the list.
fn entry<D: Dialect>(cursor: &mut Cursor<'_>, progress: &mut Progress) -> Result<(), Error> {
    let is_object = cursor.peek() == Some(b'{');
    let start = cursor.offset();
    let object: Option<Object<'_>> = if is_object {
        Some(cursor.value()?)
    } else {
        cursor.value::<&RawValue>()?;
        None
    };
    let span = Span { start, end: cursor.offset() };
    let mut entry = Entry::new(cursor, progress);
    let by_user = object.map_or(Ok(false), |object| D::read(&mut entry, &object))?;
    entry.speak(span);
    progress.end_message(span, by_user);
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

/// The transcript of what was read.
fn decoded<D: Dialect>(source: &Bytes, progress: &mut Progress, members: &Members) -> Decoded {
    let around = Around { source, names: D::MEMBERS, members };
    let facts = D::facts(&around);
    let opening = progress.opening(source).map(|opening| match facts.system.as_slice() {
        [] => opening,
        system => Fingerprint::of(system).then(opening),
    });
    let transcript = Transcript {
        items: Arc::clone(&progress.items),
        chain: Arc::clone(&progress.chain),
        messages: progress.messages.len(),
        model: around.text("model").unwrap_or_default().into_owned(),
        output_limit: facts.output_limit,
        definition_bytes: facts.definition_bytes,
        session_id: facts.session_id,
        is_continued: facts.is_continued,
        opening,
        source: source.clone(),
    };
    Decoded { transcript, envelope: Envelope { messages: progress.messages.clone() } }
}
