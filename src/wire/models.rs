use serde_json::Value;

use super::figures::above_zero;

/// Windows below this are taken for something else.
const SMALLEST: u64 = 512;
const LARGEST: u64 = 100_000_000;
/// Longest model id that is taken over, in bytes.
const LONGEST_ID: usize = 512;

/// Members that tell the window that is really served, best first.
const SERVED: [&str; 6] =
    ["meta.n_ctx", "n_ctx", "max_model_len", "loaded_context_length", "context_window", "max_context_window"];
/// Members that tell what the model could have at most, best first.
const POSSIBLE: [&str; 6] = [
    "max_input_tokens",
    "inputTokenLimit",
    "meta.n_ctx_train",
    "max_context_length",
    "limits.max_context_window_tokens",
    "capabilities.limits.max_context_window_tokens",
];

/// A model's window, as a provider tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelWindow {
    /// The model's id.
    pub model: String,
    /// Its window in tokens.
    pub window: u64,
}

/// The windows that a `/models` answer tells; empty when it tells none.
pub fn read_windows(body: &[u8]) -> Vec<ModelWindow> {
    let Ok(answer) = serde_json::from_slice::<Value>(body) else { return Vec::new() };
    let lists = [answer.get("data"), answer.get("models"), Some(&answer)];
    let models = lists.into_iter().flatten().filter_map(Value::as_array).flatten();
    let mut windows: Vec<ModelWindow> = models.filter_map(read_model).collect();
    if windows.is_empty() {
        windows.extend(read_model(&answer));
    }
    windows
}

fn read_model(model: &Value) -> Option<ModelWindow> {
    let id = ["id", "key", "model", "name"].iter().find_map(|name| model.get(name)?.as_str())?;
    let window = read_window(model).filter(|window| (SMALLEST..=LARGEST).contains(window))?;
    (!id.is_empty() && id.len() <= LONGEST_ID).then(|| ModelWindow { model: id.to_owned(), window })
}

fn read_window(model: &Value) -> Option<u64> {
    let listed = above_zero(model, &["context_length"]);
    let top = above_zero(model, &["top_provider.context_length"]);
    SERVED
        .iter()
        .find_map(|name| above_zero(model, &[name]))
        .or_else(|| listed.into_iter().chain(top).min())
        .or_else(|| POSSIBLE.iter().find_map(|name| above_zero(model, &[name])))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn windows(answer: &Value) -> Vec<(String, u64)> {
        read_windows(answer.to_string().as_bytes()).into_iter().map(|w| (w.model, w.window)).collect()
    }

    fn window(model: &Value) -> Option<u64> {
        windows(&json!({"object": "list", "data": [model]})).pop().map(|(_, window)| window)
    }

    #[test]
    fn each_provider_has_its_own_member() {
        for (model, expected) in [
            (
                json!({"id": "a", "context_length": 200_000, "top_provider": {"context_length": 131_072}}),
                131_072,
            ),
            (
                json!({"id": "a", "context_length": 200_000, "top_provider": {"context_length": null}}),
                200_000,
            ),
            (json!({"id": "a", "max_model_len": 32_768}), 32_768),
            (json!({"id": "a", "meta": {"n_ctx": 8192, "n_ctx_train": 131_072}}), 8192),
            (json!({"id": "a", "meta": {"n_ctx_train": 131_072}}), 131_072),
            (json!({"id": "a", "context_window": 131_072}), 131_072),
            (json!({"id": "a", "loaded_context_length": 4096, "max_context_length": 32_768}), 4096),
            (json!({"id": "a", "max_context_length": 32_768}), 32_768),
        ] {
            assert_eq!(window(&model), Some(expected), "{model}");
        }
    }

    #[test]
    fn all_shapes_of_lists_are_read() {
        let model = |id: &str| json!({"id": id, "context_length": 1000});
        let expected = [("a".to_owned(), 1000), ("b".to_owned(), 1000)];
        assert_eq!(windows(&json!({"data": [model("a"), {"id": "none"}, 7, model("b")]})), expected);
        assert_eq!(windows(&json!([model("a"), model("b")])), expected);
        assert_eq!(windows(&json!({"models": [model("a"), model("b")]})), expected);
        assert_eq!(windows(&model("a")), expected[..1]);
    }

    #[test]
    fn nonsense_tells_nothing() {
        for answer in [json!(null), json!({"data": {}}), json!({"data": [{"id": "a", "context_length": 3}]})]
        {
            assert_eq!(windows(&answer), [], "{answer}");
        }
        assert_eq!(window(&json!({"id": "", "context_length": 1000})), None);
        assert_eq!(read_windows(b"no json"), []);
    }
}
