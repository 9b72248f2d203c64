use serde_json::Value;

use crate::model::Usage;
use crate::wire::figures::{above_zero, first, member, objects, value};
use crate::wire::json::Object;

const INPUT: [&str; 7] = [
    "prompt_tokens",
    "prompt",
    "input",
    "input_tokens",
    "promptTokenCount",
    "inputTokenCount",
    "tokens.input",
];
const OUTPUT: [&str; 7] = [
    "completion_tokens",
    "completion",
    "output",
    "output_tokens",
    "candidatesTokenCount",
    "outputTokenCount",
    "tokens.output",
];
const CACHE_READ: [&str; 7] = [
    "prompt_tokens_details.cached_tokens",
    "input_tokens_details.cached_tokens",
    "prompt_cache_hit_tokens",
    "cached_tokens",
    "cache_read_input_tokens",
    "cachedContentTokenCount",
    "tokens.cache.read",
];
const CACHE_WRITE: [&str; 4] = [
    "prompt_tokens_details.cache_write_tokens",
    "prompt_tokens_details.cache_creation_tokens",
    "cache_creation_input_tokens",
    "tokens.cache.write",
];

/// What a document says of usage: the whole answer, or one event's data.
pub(super) fn read(document: &[u8]) -> Usage {
    let Ok(document) = serde_json::from_slice::<Object<'_>>(document) else { return Usage::default() };
    let mut usage = Usage::default();
    for choice in objects(&document, "choices") {
        usage.merge(member(&choice, "usage").as_ref().map(figures).unwrap_or_default());
    }
    let vendor = member(&document, "x_groq").and_then(|groq| groq.get("usage").map(figures));
    usage.merge(vendor.unwrap_or_default());
    usage.merge(member(&document, "usage").as_ref().map(figures).unwrap_or_default());
    if usage == Usage::default()
        && let Some(timings) = document.get("timings").ok().flatten().and_then(value)
    {
        usage.merge(llama(&timings));
    }
    usage
}

fn figures(usage: &Value) -> Usage {
    Usage {
        input: above_zero(usage, &INPUT),
        cache_read: first(usage, &CACHE_READ),
        cache_write: first(usage, &CACHE_WRITE),
        output: first(usage, &OUTPUT),
    }
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
