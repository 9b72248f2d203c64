use serde_json::{Value, json};

use crate::model::Usage;
use crate::wire::chat::usage::read;

fn usage(document: &Value) -> Usage {
    read(document.to_string().as_bytes())
}

fn input(usage: &Value) -> Option<u64> {
    self::usage(&json!({"choices": [], "usage": usage})).input
}

#[test]
fn cached_tokens_are_part_of_the_input() {
    let read = usage(&json!({"usage": {
        "prompt_tokens": 1200, "completion_tokens": 30, "total_tokens": 1230,
        "prompt_tokens_details": {"cached_tokens": 1024, "cache_write_tokens": 50},
        "completion_tokens_details": {"reasoning_tokens": 20}
    }}));
    let expected =
        Usage { input: Some(1200), cache_read: Some(1024), cache_write: Some(50), output: Some(30) };
    assert_eq!(read, expected);
}

#[test]
fn compatible_names_are_known() {
    for name in ["prompt_tokens", "prompt", "input", "input_tokens", "promptTokenCount", "inputTokenCount"] {
        assert_eq!(input(&json!({name: 77})), Some(77), "{name}");
    }
    assert_eq!(input(&json!({"tokens": {"input": 77}})), Some(77));
    assert_eq!(input(&json!({"prompt_tokens": null, "input_tokens": 5})), Some(5));
}

#[test]
fn null_zero_and_nonsense_are_unknown() {
    for nothing in
        [json!(null), json!({}), json!({"prompt_tokens": 0}), json!({"prompt_tokens": null}), json!([1])]
    {
        assert_eq!(input(&nothing), None, "{nothing}");
    }
    assert_eq!(input(&json!({"prompt_tokens": -3})), None);
    assert_eq!(input(&json!({"prompt_tokens": 2_000_001})), None);
    for document in ["", "[DONE]", "[1]", "{\"usage\":", "{\"usage\":{}} x", "null"] {
        assert_eq!(read(document.as_bytes()), Usage::default(), "{document}");
    }
    let deep = format!("{{\"usage\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(read(deep.as_bytes()), Usage::default());
}

#[test]
fn vendors_put_usage_elsewhere() {
    assert_eq!(usage(&json!({"choices": [{"usage": {"prompt_tokens": 8}}]})).input, Some(8));
    assert_eq!(usage(&json!({"x_groq": {"id": "r", "usage": {"prompt_tokens": 9}}})).input, Some(9));
    let deepseek = usage(&json!({"usage": {"prompt_tokens": 9, "prompt_cache_hit_tokens": 4}}));
    assert_eq!((deepseek.input, deepseek.cache_read), (Some(9), Some(4)));
}

#[test]
fn llama_timings_count_only_without_usage() {
    let timings = json!({"prompt_n": 10, "cache_n": 90, "predicted_n": 3});
    let expected = Usage { input: Some(100), cache_read: Some(90), cache_write: None, output: Some(3) };
    assert_eq!(usage(&json!({"timings": timings, "usage": null})), expected);
    assert_eq!(usage(&json!({"timings": timings, "usage": {"prompt_tokens": 101}})).input, Some(101));
}
