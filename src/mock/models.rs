use axum::response::{IntoResponse as _, Response};
use http::header;
use serde_json::json;

use super::MockOptions;

/// The list of models, in the shape of a router's list: with windows and prices.
pub(super) fn list(options: &MockOptions) -> Response {
    let models = options.models.iter().map(|(name, window)| {
        json!({
            "id": name,
            "object": "model",
            "created": 1_767_225_600,
            "owned_by": "secateur-mock",
            "name": format!("Mock: {name}"),
            "context_length": window,
            "architecture": {"modality": "text->text", "input_modalities": ["text"], "output_modalities": ["text"]},
            "pricing": {"prompt": "0.000001", "completion": "0.000004", "input_cache_read": "0.0000001"},
            "top_provider": {"context_length": window, "max_completion_tokens": 16_384},
        })
    });
    let list = json!({"object": "list", "data": models.collect::<Vec<_>>()});
    ([(header::CONTENT_TYPE, "application/json")], list.to_string()).into_response()
}
