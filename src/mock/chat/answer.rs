use axum::response::Response;
use bytes::Bytes;
use serde_json::{Value, json};

use crate::mock::reply::{Figures, Pace, Reply, slices};

/// A reply in the shape of the chat completions API.
pub(in crate::mock) struct Shape<'a> {
    pub(in crate::mock) reply: &'a Reply,
    pub(in crate::mock) model: &'a str,
    /// Seconds since the Unix epoch.
    pub(in crate::mock) created: u64,
}

impl Shape<'_> {
    /// The answer as one JSON object.
    pub(in crate::mock) fn json(&self, pace: Pace) -> Response {
        let mut message = json!({"role": "assistant", "content": self.reply.text, "refusal": null});
        if let Some(thinking) = &self.reply.thinking {
            message["reasoning_content"] = thinking.as_str().into();
        }
        if !self.reply.calls.is_empty() {
            message["tool_calls"] = (0..self.reply.calls.len()).map(|index| self.call(index)).collect();
        }
        let choice =
            json!({"index": 0, "message": message, "logprobs": null, "finish_reason": self.finish_reason()});
        let mut answer = self.frame("chat.completion", json!([choice]));
        if let Some(figures) = self.reply.figures {
            answer["usage"] = usage(figures);
        }
        pace.json(self.reply.number, &answer)
    }

    /// The answer as an event stream. Its usage comes in a chunk of its own, when the request asked for it.
    pub(in crate::mock) fn stream(&self, pace: Pace, include_usage: bool) -> Response {
        let figures = self.reply.figures.filter(|_| include_usage);
        let mut chunks: Vec<_> = self
            .deltas()
            .into_iter()
            .map(|(delta, finish)| {
                let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish});
                let mut chunk = self.frame("chat.completion.chunk", json!([choice]));
                if figures.is_some() {
                    chunk["usage"] = Value::Null;
                }
                event(&chunk.to_string())
            })
            .collect();
        if let Some(figures) = figures {
            let mut chunk = self.frame("chat.completion.chunk", json!([]));
            chunk["usage"] = usage(figures);
            chunks.push(event(&chunk.to_string()));
        }
        chunks.push(event("[DONE]"));
        pace.events(self.reply.number, chunks)
    }

    /// What each chunk adds, and its `finish_reason`.
    fn deltas(&self) -> Vec<(Value, Option<&'static str>)> {
        let mut deltas = vec![(json!({"role": "assistant", "content": ""}), None)];
        let thinking = self.reply.thinking.as_deref().unwrap_or_default();
        deltas.extend(slices(thinking).map(|slice| (json!({"reasoning_content": slice}), None)));
        let text = self.reply.text.as_deref().unwrap_or_default();
        deltas.extend(slices(text).map(|slice| (json!({"content": slice}), None)));
        for (index, call) in self.reply.calls.iter().enumerate() {
            let mut head = self.call(index);
            head["index"] = index.into();
            head["function"]["arguments"] = "".into();
            deltas.push((json!({"tool_calls": [head]}), None));
            deltas.extend(slices(&call.arguments).map(|slice| {
                (json!({"tool_calls": [{"index": index, "function": {"arguments": slice}}]}), None)
            }));
        }
        deltas.push((json!({}), Some(self.finish_reason())));
        deltas
    }

    fn call(&self, index: usize) -> Value {
        let call = &self.reply.calls[index];
        json!({
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        })
    }

    fn finish_reason(&self) -> &'static str {
        if self.reply.calls.is_empty() { "stop" } else { "tool_calls" }
    }

    fn frame(&self, object: &str, choices: Value) -> Value {
        let mut frame = json!({
            "id": format!("chatcmpl-mock-{}", self.reply.number),
            "object": object,
            "created": self.created,
            "model": self.model,
        });
        frame["choices"] = choices;
        frame
    }
}

fn usage(figures: Figures) -> Value {
    json!({
        "prompt_tokens": figures.input,
        "completion_tokens": figures.output,
        "total_tokens": figures.input + figures.output,
        "prompt_tokens_details": {"cached_tokens": figures.cached},
    })
}

fn event(data: &str) -> Bytes {
    Bytes::from(format!("data: {data}\n\n"))
}
