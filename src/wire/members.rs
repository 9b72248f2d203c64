use std::borrow::Cow;

use serde_json::value::RawValue;

use super::json::{self, Object, Shape};
use crate::model::Span;

/// The most members that a format reads beside its list.
pub(super) const MOST: usize = 12;

/// The top-level members that are read, by where they stand: in the order of their names in
/// [`Dialect::MEMBERS`](super::list::Dialect::MEMBERS).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Members {
    /// Whether the member with the list came.
    pub(super) list: bool,
    spans: [Option<Span>; MOST],
}

/// The members around the list, to be asked for by name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Around<'a> {
    pub(super) source: &'a [u8],
    pub(super) names: &'static [&'static str],
    pub(super) members: &'a Members,
}

impl Members {
    /// Notes where the member of this name stands, if it is one of `names`. `false` when it came before.
    pub(super) fn note(&mut self, names: &[&str], name: &str, span: Span) -> bool {
        let place = names.iter().position(|known| *known == name);
        place.is_none_or(|place| self.spans[place].replace(span).is_none())
    }
}

impl<'a> Around<'a> {
    fn span(&self, name: &str) -> Option<Span> {
        let place = self.names.iter().position(|known| *known == name);
        debug_assert!(place.is_some(), "{name} is not among the members that are read");
        self.members.spans[place?]
    }

    /// The value of a member, unread; `None` when it is absent or null.
    pub(super) fn raw(&self, name: &str) -> Option<&'a RawValue> {
        let raw = serde_json::from_slice::<&RawValue>(self.span(name)?.slice(self.source)).ok()?;
        (Shape::of(raw) != Shape::Null).then_some(raw)
    }

    /// The text of a member that is a string.
    pub(super) fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.raw(name).and_then(json::text)
    }

    /// The value of a member that is a whole number.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.raw(name)?.get().parse().ok()
    }

    /// How many bytes the values of some members take together.
    pub(super) fn bytes(&self, names: &[&str]) -> usize {
        names.iter().filter_map(|name| self.span(name)).map(Span::len).sum()
    }

    /// A session id: the member `session_id`, or one inside the first of some `objects` that holds one.
    pub(super) fn session_id(&self, objects: &[&str]) -> Option<String> {
        let known = |id: &String| !id.is_empty();
        let own = self.text("session_id").map(Cow::into_owned).filter(known);
        own.or_else(|| objects.iter().find_map(|name| session_in(self.raw(name)?).filter(known)))
    }
}

/// A session id in an object such as `metadata`: its `session_id`, or inside `user_id`, as JSON in a string or behind
/// `_session_`.
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
