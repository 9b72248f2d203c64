//! Borrowed JSON: values stay where they stand in the body, and only what is asked for is read.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::Error;
use serde_json::value::RawValue;
use smallvec::SmallVec;

use crate::model::Span;

/// The members of an object in the order written, values unread.
#[derive(Debug)]
pub(super) struct Object<'a>(SmallVec<[(Cow<'a, str>, &'a RawValue); 8]>);

/// A member's name.
#[derive(serde::Deserialize)]
pub(super) struct Key<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

/// Walks a document value by value, and knows where in the body each one stands.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    base: usize,
}

/// What kind of value a raw one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Null,
    Text,
    List,
    Object,
    Other,
}

impl<'a> Object<'a> {
    /// Reads an object.
    ///
    /// # Errors
    /// When it is none.
    pub(super) fn read(raw: &'a RawValue) -> Result<Self, Error> {
        serde_json::from_str(raw.get())
    }

    /// The value of one member.
    ///
    /// # Errors
    /// When the member is repeated: readers differ in which one they take.
    pub(super) fn get(&self, key: &str) -> Result<Option<&'a RawValue>, Error> {
        let mut found = self.0.iter().filter(|(name, _)| name == key);
        let first = found.next().map(|(_, value)| *value);
        match found.next() {
            Some(_) => Err(Error::custom(format_args!("the member `{key}` is repeated"))),
            None => Ok(first),
        }
    }

    /// All members.
    pub(super) fn members(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), *value))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members<'a>(std::marker::PhantomData<&'a ()>);

        impl<'de: 'a, 'a> Visitor<'de> for Members<'a> {
            type Value = Object<'a>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = SmallVec::new();
                while let Some((Key(name), value)) = map.next_entry::<Key<'de>, &'de RawValue>()? {
                    members.push((name, value));
                }
                Ok(Object(members))
            }
        }

        deserializer.deserialize_map(Members(std::marker::PhantomData))
    }
}

impl<'a> Cursor<'a> {
    /// Starts at the beginning of `text`, which stands at offset `base` of the body.
    pub(super) fn new(text: &'a str, base: usize) -> Self {
        Self { text, at: 0, base }
    }

    /// Offset in the body.
    pub(super) fn offset(&self) -> usize {
        self.base + self.at
    }

    /// The next byte that is no white space, without taking it.
    pub(super) fn peek(&mut self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
        self.text.as_bytes().get(self.at).copied()
    }

    /// Takes the next byte if it is `wanted`.
    pub(super) fn take(&mut self, wanted: u8) -> bool {
        let there = self.peek() == Some(wanted);
        self.at += usize::from(there);
        there
    }

    /// Takes the next byte, which must be `wanted`.
    ///
    /// # Errors
    /// When it is another one, or none is left.
    pub(super) fn expect(&mut self, wanted: u8) -> Result<(), Error> {
        if self.take(wanted) { Ok(()) } else { Err(self.error(&[wanted])) }
    }

    /// An error that names this place and what would be right here.
    pub(super) fn error(&self, wanted: &[u8]) -> Error {
        let wanted = String::from_utf8_lossy(wanted);
        Error::custom(format_args!("expected one of `{wanted}` at byte {}", self.offset()))
    }

    /// Reads the next value. Values that are not looked into are skipped without recursion, however deep they are.
    ///
    /// # Errors
    /// When it is not JSON, or not what is read.
    pub(super) fn value<T: Deserialize<'a>>(&mut self) -> Result<T, Error> {
        let mut values = serde_json::Deserializer::from_str(&self.text[self.at..]).into_iter::<T>();
        let value = values.next().unwrap_or_else(|| Err(Error::custom("a value is missing")))?;
        self.at += values.byte_offset();
        Ok(value)
    }

    /// The text in a range of the body that was walked.
    pub(super) fn slice(&self, span: Span) -> &'a str {
        &self.text[span.start - self.base..span.end - self.base]
    }

    /// Where a value that was read here stands in the body.
    pub(super) fn span(&self, raw: &RawValue) -> Span {
        let start = self.base + (raw.get().as_ptr().addr() - self.text.as_ptr().addr());
        Span { start, end: start + raw.get().len() }
    }
}

impl Shape {
    /// Told from the first byte.
    pub(super) fn of(raw: &RawValue) -> Self {
        match raw.get().as_bytes().first() {
            Some(b'n') => Self::Null,
            Some(b'"') => Self::Text,
            Some(b'[') => Self::List,
            Some(b'{') => Self::Object,
            _ => Self::Other,
        }
    }
}

/// The elements of a list.
///
/// # Errors
/// When it is no list.
pub(super) fn elements(raw: &RawValue) -> Result<Vec<&RawValue>, Error> {
    serde_json::from_str(raw.get())
}

/// The text of a string; `None` for other values, and for a string with lone surrogates.
pub(super) fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    serde_json::from_str::<Key<'_>>(raw.get()).ok().map(|key| key.0)
}

/// Whether a value is a string that stands for text: one without lone surrogates.
pub(super) fn is_text(raw: &RawValue) -> bool {
    Shape::of(raw) == Shape::Text && (!may_have_surrogates(raw.get().as_bytes()) || text(raw).is_some())
}

fn may_have_surrogates(literal: &[u8]) -> bool {
    memchr::memchr_iter(b'\\', literal).any(|at| matches!(literal.get(at + 1..at + 3), Some(b"ud" | b"uD")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(json: &str) -> &RawValue {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn spans_point_into_the_body() {
        let body = r#"....{"a": [1, "x"], "b":2}"#;
        let mut cursor = Cursor::new(&body[4..], 4);
        let object: Object<'_> = cursor.value().unwrap();
        let list = object.get("a").unwrap().unwrap();
        let second = elements(list).unwrap()[1];
        assert_eq!(cursor.span(second).slice(body.as_bytes()), b"\"x\"");
        assert_eq!(cursor.offset(), body.len());
    }

    #[test]
    fn a_repeated_member_is_an_error_only_when_it_is_read() {
        let object = Object::read(raw(r#"{"a":1,"a":2,"b":3}"#)).unwrap();
        assert!(object.get("a").is_err());
        assert_eq!(object.get("b").unwrap().map(RawValue::get), Some("3"));
        assert_eq!(object.members().count(), 3);
    }

    #[test]
    fn lone_surrogates_are_no_text() {
        assert!(is_text(raw(r#""\ud83d\ude00 \\ud83d""#)));
        assert!(!is_text(raw(r#""\ud83d""#)));
        assert!(!is_text(raw("1")));
    }
}
