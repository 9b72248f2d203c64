use crate::model::Usage;
use crate::wire::figures::{cached_within, member};
use crate::wire::json::Object;

/// What a document says of usage: the whole answer, or one event's data, which holds the answer so far.
pub(super) fn read(document: &[u8]) -> Usage {
    let Ok(document) = serde_json::from_slice::<Object<'_>>(document) else { return Usage::default() };
    let mut usage = in_answer(&document);
    if let Some(response) = document.get("response").ok().flatten()
        && let Ok(response) = Object::read(response)
    {
        usage.merge(in_answer(&response));
    }
    usage
}

fn in_answer(answer: &Object<'_>) -> Usage {
    member(answer, "usage").as_ref().map(cached_within).unwrap_or_default()
}
