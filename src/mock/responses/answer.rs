use axum::response::Response;
use bytes::Bytes;
use serde_json::{Value, json};

use super::facts::encrypt;
use crate::mock::reply::{Figures, Pace, Reply, ReplyCall, named_event, slices};

/// A reply in the shape of the Responses API.
pub(in crate::mock) struct Shape<'a> {
    pub(in crate::mock) reply: &'a Reply,
    pub(in crate::mock) model: &'a str,
    /// Seconds since the Unix epoch.
    pub(in crate::mock) created: u64,
}

/// An item as a stream brings it: how it begins, the events in between, and what it is in the end.
struct Item {
    start: Value,
    /// Without the item's id and place.
    events: Vec<Value>,
    whole: Value,
}

impl Shape<'_> {
    /// The answer as one JSON object.
    pub(in crate::mock) fn json(&self, pace: Pace) -> Response {
        pace.json(self.reply.number, &self.completed())
    }

    /// The answer as an event stream.
    pub(in crate::mock) fn stream(&self, pace: Pace) -> Response {
        let begun = self.response("in_progress");
        let mut events = vec![
            json!({"type": "response.created", "response": begun}),
            json!({"type": "response.in_progress", "response": begun}),
        ];
        for (index, item) in self.items().enumerate() {
            events.push(
                json!({"type": "response.output_item.added", "output_index": index, "item": item.start}),
            );
            for mut event in item.events {
                event["item_id"] = item.whole["id"].clone();
                event["output_index"] = index.into();
                events.push(event);
            }
            events.push(
                json!({"type": "response.output_item.done", "output_index": index, "item": item.whole}),
            );
        }
        events.push(json!({"type": "response.completed", "response": self.completed()}));
        let numbered = events.iter_mut().enumerate().map(|(number, event)| {
            event["sequence_number"] = number.into();
            named_event(event)
        });
        let events: Vec<Bytes> = numbered.collect();
        pace.events(self.reply.number, events)
    }

    fn completed(&self) -> Value {
        let mut response = self.response("completed");
        response["output"] = self.items().map(|item| item.whole).collect();
        response["usage"] = self.reply.figures.map(usage).into();
        response
    }

    fn response(&self, status: &str) -> Value {
        json!({
            "id": format!("resp_mock_{}", self.reply.number),
            "object": "response",
            "created_at": self.created,
            "status": status,
            "error": null,
            "incomplete_details": null,
            "instructions": null,
            "metadata": {},
            "model": self.model,
            "output": [],
            "parallel_tool_calls": true,
            "temperature": 1.0,
            "tool_choice": "auto",
            "tools": [],
            "top_p": 1.0,
            "usage": null,
        })
    }

    fn items(&self) -> impl Iterator<Item = Item> {
        let number = self.reply.number;
        let reasoning = self.reply.thinking.iter().map(move |text| reasoning(number, text));
        let said = self.reply.text.iter().map(move |text| message(number, text));
        let calls = self.reply.calls.iter().enumerate();
        reasoning.chain(said).chain(calls.map(move |(index, made)| call(number, index, made)))
    }
}

/// Reasoning, of which the client reads a summary.
fn reasoning(number: u64, text: &str) -> Item {
    let id = format!("rs_mock_{number}");
    let of = |summary: Value| json!({"id": id, "type": "reasoning", "summary": summary, "encrypted_content": encrypt(&id)});
    let part = |text: &str| json!({"type": "summary_text", "text": text});
    let kind = |name: &str| format!("response.reasoning_summary_{name}");
    let mut events = vec![json!({"type": kind("part.added"), "summary_index": 0, "part": part("")})];
    events.extend(
        slices(text).map(|slice| json!({"type": kind("text.delta"), "summary_index": 0, "delta": slice})),
    );
    events.push(json!({"type": kind("text.done"), "summary_index": 0, "text": text}));
    events.push(json!({"type": kind("part.done"), "summary_index": 0, "part": part(text)}));
    Item { start: of(json!([])), events, whole: of(json!([part(text)])) }
}

fn message(number: u64, text: &str) -> Item {
    let id = format!("msg_mock_{number}");
    let of = |status: &str, content: Value| json!({"id": id, "type": "message", "role": "assistant", "status": status, "content": content});
    let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []});
    let event = |kind: &str| json!({"type": format!("response.{kind}"), "content_index": 0});
    let with = |kind: &str, name: &str, value: Value| {
        let mut event = event(kind);
        event[name] = value;
        event
    };
    let mut events = vec![with("content_part.added", "part", part(""))];
    events.extend(slices(text).map(|slice| with("output_text.delta", "delta", slice.into())));
    events.push(with("output_text.done", "text", text.into()));
    events.push(with("content_part.done", "part", part(text)));
    Item { start: of("in_progress", json!([])), events, whole: of("completed", json!([part(text)])) }
}

fn call(number: u64, index: usize, call: &ReplyCall) -> Item {
    let of = |status: &str, arguments: &str| {
        json!({
            "id": format!("fc_mock_{number}_{index}"),
            "type": "function_call",
            "status": status,
            "call_id": call.id,
            "name": call.name,
            "arguments": arguments,
        })
    };
    let kind = |name: &str| format!("response.function_call_arguments.{name}");
    let slices = slices(&call.arguments);
    let mut events: Vec<_> = slices.map(|slice| json!({"type": kind("delta"), "delta": slice})).collect();
    events.push(json!({"type": kind("done"), "name": call.name, "arguments": call.arguments}));
    Item { start: of("in_progress", ""), events, whole: of("completed", &call.arguments) }
}

fn usage(figures: Figures) -> Value {
    json!({
        "input_tokens": figures.input,
        "input_tokens_details": {"cached_tokens": figures.cached},
        "output_tokens": figures.output,
        "output_tokens_details": {"reasoning_tokens": figures.thinking},
        "total_tokens": figures.input + figures.output,
    })
}
