//! Reading token figures out of a usage object, whatever its members are called.

use serde_json::Value;
use serde_json::value::RawValue;

use super::json::{self, Object, Shape};
use crate::model::Usage;

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
const CACHE_WRITE: [&str; 5] = [
    "prompt_tokens_details.cache_write_tokens",
    "prompt_tokens_details.cache_creation_tokens",
    "input_tokens_details.cache_write_tokens",
    "cache_creation_input_tokens",
    "tokens.cache.write",
];

/// A figure: an integer, also one written as a float or as a string of digits.
pub(super) fn figure(value: &Value) -> Option<u64> {
    const LARGEST_EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) => number.as_u64().or_else(|| {
            let float = number.as_f64()?;
            (float.fract() == 0.0 && (0.0..=LARGEST_EXACT).contains(&float)).then_some(float as u64)
        }),
        Value::String(digits) => digits.trim().parse().ok(),
        _ => None,
    }
}

/// The first of several members (dots lead into objects) that holds a figure. Zero counts only if no other does.
pub(super) fn first(object: &Value, names: &[&str]) -> Option<u64> {
    let mut known = names.iter().filter_map(|name| {
        let found = name.split('.').try_fold(object, |value, step| value.get(step))?;
        figure(found)
    });
    let first = known.next()?;
    if first > 0 { Some(first) } else { known.find(|figure| *figure > 0).or(Some(0)) }
}

/// The first that is above zero: an input of zero is an unknown one.
pub(super) fn above_zero(object: &Value, names: &[&str]) -> Option<u64> {
    first(object, names).filter(|figure| *figure > 0)
}

/// What a usage object says whose cached tokens are a part of its input, as all but one provider count.
pub(super) fn cached_within(usage: &Value) -> Usage {
    Usage {
        input: above_zero(usage, &INPUT),
        cache_read: first(usage, &CACHE_READ),
        cache_write: first(usage, &CACHE_WRITE),
        output: first(usage, &OUTPUT),
    }
}

/// A member of a document, read whole. `None` for null, and when the document is not an object.
pub(super) fn member(document: &Object<'_>, name: &str) -> Option<Value> {
    value(document.get(name).ok()??)
}

/// A raw value, read whole; `None` for null.
pub(super) fn value(raw: &RawValue) -> Option<Value> {
    serde_json::from_str(raw.get()).ok().filter(|value: &Value| !value.is_null())
}

/// The objects in a list that is a member of a document.
pub(super) fn objects<'a>(document: &Object<'a>, name: &str) -> Vec<Object<'a>> {
    let list = document.get(name).ok().flatten().filter(|raw| Shape::of(raw) == Shape::List);
    let elements = list.and_then(|raw| json::elements(raw).ok()).unwrap_or_default();
    elements.into_iter().filter_map(|raw| Object::read(raw).ok()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn integers_are_read_however_they_are_written() {
        for (value, read) in [
            (json!(7), Some(7)),
            (json!(7.0), Some(7)),
            (json!("7"), Some(7)),
            (json!(7.5), None),
            (json!(-7), None),
            (json!(1e300), None),
            (json!("seven"), None),
            (json!(null), None),
        ] {
            assert_eq!(figure(&value), read, "{value}");
        }
    }

    #[test]
    fn a_zero_gives_way_to_a_later_name() {
        let usage = json!({"a": 0, "b": null, "c": {"d": 5}});
        assert_eq!(first(&usage, &["a", "b", "c.d"]), Some(5));
        assert_eq!(first(&usage, &["x", "a"]), Some(0));
        assert_eq!(above_zero(&usage, &["a", "b"]), None);
    }
}
