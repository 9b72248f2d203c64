use axum::response::Response;
use bytes::Bytes;
use serde_json::{Value, json};

use super::bound::sign;
use crate::mock::reply::{Figures, Pace, Reply, ReplyCall, named_event, slices};
use crate::model::Fingerprint;

/// A reply in the shape of the Messages API.
pub(in crate::mock) struct Shape<'a> {
    pub(in crate::mock) reply: &'a Reply,
    pub(in crate::mock) model: &'a str,
    /// What its thinking is bound to.
    pub(in crate::mock) prefix: Fingerprint,
}

/// A content block as a stream brings it: how it begins, what is added, and what it is in the end.
struct Block {
    start: Value,
    deltas: Vec<Value>,
    whole: Value,
}

impl Shape<'_> {
    /// The answer as one JSON object.
    pub(in crate::mock) fn json(&self, pace: Pace) -> Response {
        let mut message = self.message(self.reply.figures.map(usage));
        message["content"] = self.blocks().map(|block| block.whole).collect();
        message["stop_reason"] = self.stop_reason().into();
        pace.json(self.reply.number, &message)
    }

    /// The answer as an event stream.
    pub(in crate::mock) fn stream(&self, pace: Pace) -> Response {
        let first = self.reply.figures.map(|figures| usage(Figures { output: 1, ..figures }));
        let mut events =
            vec![json!({"type": "message_start", "message": self.message(first)}), json!({"type": "ping"})];
        for (index, block) in self.blocks().enumerate() {
            events.push(json!({"type": "content_block_start", "index": index, "content_block": block.start}));
            events.extend(
                block
                    .deltas
                    .into_iter()
                    .map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta})),
            );
            events.push(json!({"type": "content_block_stop", "index": index}));
        }
        let delta = json!({"stop_reason": self.stop_reason(), "stop_sequence": null});
        let mut end = json!({"type": "message_delta", "delta": delta});
        if let Some(figures) = self.reply.figures {
            end["usage"] = usage(figures);
        }
        events.extend([end, json!({"type": "message_stop"})]);
        let events: Vec<Bytes> = events.iter().map(named_event).collect();
        pace.events(self.reply.number, events)
    }

    fn message(&self, usage: Option<Value>) -> Value {
        let mut message = json!({
            "id": format!("msg_mock_{}", self.reply.number),
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": [],
            "stop_reason": null,
            "stop_sequence": null,
        });
        if let Some(usage) = usage {
            message["usage"] = usage;
        }
        message
    }

    fn blocks(&self) -> impl Iterator<Item = Block> {
        let thinking = self.reply.thinking.iter().map(|text| self.thinking(text));
        thinking.chain(self.reply.text.iter().map(|text| said(text))).chain(self.reply.calls.iter().map(call))
    }

    fn thinking(&self, text: &str) -> Block {
        let signature = sign(self.prefix, text);
        let texts = slices(text).map(|slice| json!({"type": "thinking_delta", "thinking": slice}));
        let signed = json!({"type": "signature_delta", "signature": signature});
        Block {
            start: json!({"type": "thinking", "thinking": "", "signature": ""}),
            deltas: texts.chain([signed]).collect(),
            whole: json!({"type": "thinking", "thinking": text, "signature": signature}),
        }
    }

    fn stop_reason(&self) -> &'static str {
        if self.reply.calls.is_empty() { "end_turn" } else { "tool_use" }
    }
}

fn said(text: &str) -> Block {
    Block {
        start: json!({"type": "text", "text": ""}),
        deltas: slices(text).map(|slice| json!({"type": "text_delta", "text": slice})).collect(),
        whole: json!({"type": "text", "text": text}),
    }
}

/// A script may give arguments that are no JSON: they are then told as a text.
fn call(call: &ReplyCall) -> Block {
    let id = call.id.replacen("call_", "toolu_", 1);
    let of = |input: Value| json!({"type": "tool_use", "id": id, "name": call.name, "input": input});
    let input = serde_json::from_str(&call.arguments).unwrap_or_else(|_| call.arguments.as_str().into());
    let deltas = slices(&call.arguments);
    Block {
        start: of(json!({})),
        deltas: deltas.map(|slice| json!({"type": "input_json_delta", "partial_json": slice})).collect(),
        whole: of(input),
    }
}

fn usage(figures: Figures) -> Value {
    json!({
        "input_tokens": figures.input - figures.cached - figures.written,
        "cache_creation_input_tokens": figures.written,
        "cache_read_input_tokens": figures.cached,
        "output_tokens": figures.output,
    })
}
