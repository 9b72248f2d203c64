use serde_json::Value;

use crate::model::Usage;
use crate::wire::figures::{cached_within, first, member, objects, value};
use crate::wire::json::Object;

/// What a document says of usage: the whole answer, or one event's data.
pub(super) fn read(document: &[u8]) -> Usage {
    let Ok(document) = serde_json::from_slice::<Object<'_>>(document) else { return Usage::default() };
    let mut usage = Usage::default();
    for choice in objects(&document, "choices") {
        usage.merge(member(&choice, "usage").as_ref().map(cached_within).unwrap_or_default());
    }
    let vendor = member(&document, "x_groq").and_then(|groq| groq.get("usage").map(cached_within));
    usage.merge(vendor.unwrap_or_default());
    usage.merge(member(&document, "usage").as_ref().map(cached_within).unwrap_or_default());
    if usage == Usage::default()
        && let Some(timings) = document.get("timings").ok().flatten().and_then(value)
    {
        usage.merge(llama(&timings));
    }
    usage
}

/// llama.cpp counts the tokens it evaluated apart from those it found in its cache.
fn llama(timings: &Value) -> Usage {
    let cached = first(timings, &["cache_n"]);
    let input = first(timings, &["prompt_n"]).map(|new| new.saturating_add(cached.unwrap_or(0)));
    Usage {
        input: input.filter(|tokens| *tokens > 0),
        cache_read: cached,
        cache_write: None,
        output: first(timings, &["predicted_n"]),
    }
}
