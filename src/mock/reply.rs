use std::io;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::{HeaderValue, header};
use serde_json::Value;
use tokio::time::sleep;

use super::script::Step;

/// What the model is made to answer, free of any API's shape.
#[derive(Debug, Clone)]
pub(super) struct Reply {
    /// Counts the answers, from 1.
    pub(super) number: u64,
    /// What the model thinks first.
    pub(super) thinking: Option<String>,
    pub(super) text: Option<String>,
    pub(super) calls: Vec<ReplyCall>,
    /// What the request was worth; `None`: the answer does not tell.
    pub(super) figures: Option<Figures>,
}

/// A tool call the model is made to make.
#[derive(Debug, Clone)]
pub(super) struct ReplyCall {
    pub(super) id: String,
    pub(super) name: String,
    /// JSON text.
    pub(super) arguments: String,
}

/// Figures in tokens.
#[derive(Debug, Clone, Copy)]
pub(super) struct Figures {
    pub(super) input: u64,
    /// The part of `input` that was read from the prefix cache.
    pub(super) cached: u64,
    /// The part of `input` that was written to the prefix cache, where a client pays for that.
    pub(super) written: u64,
    /// With what was thought.
    pub(super) output: u64,
    /// The part of `output` that was thought.
    pub(super) thinking: u64,
}

/// How an answer is sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    pub(super) chunk_delay: Duration,
    pub(super) cut_after_chunks: Option<usize>,
}

impl Reply {
    /// The answer that `step` asks for; without one, `plain` text.
    pub(super) fn new(number: u64, step: Option<&Step>, plain: String) -> Self {
        let scripted = step.map_or(&[][..], |s| &s.tool_calls);
        let calls = scripted.iter().enumerate().map(|(index, call)| ReplyCall {
            id: format!("call_mock_{number}_{index}"),
            name: call.name.clone(),
            arguments: call.arguments_text(),
        });
        let text = step.and_then(|s| s.text.clone()).or_else(|| scripted.is_empty().then_some(plain));
        let thinks = step.is_some_and(|s| s.thinking);
        let thinking = thinks.then(|| "Such a request needs some thought before the answer.".to_owned());
        Self { number, thinking, text, calls: calls.collect(), figures: None }
    }

    /// The texts that the model wrote: what its output is counted by.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        let calls = self.calls.iter().flat_map(|call| [call.name.as_str(), call.arguments.as_str()]);
        self.thinking.as_deref().into_iter().chain(self.text.as_deref()).chain(calls)
    }
}

/// Pieces of a text of a few words each, as a model's answer arrives.
pub(super) fn slices(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.match_indices(' ').nth(2).map_or(rest.len(), |(at, _)| at + 1);
        let (slice, after) = rest.split_at(end);
        rest = after;
        (!slice.is_empty()).then_some(slice)
    })
}

impl Pace {
    pub(super) fn new(step: Option<&Step>, chunk_delay_ms: u64) -> Self {
        Self {
            chunk_delay: Duration::from_millis(step.and_then(|s| s.chunk_delay_ms).unwrap_or(chunk_delay_ms)),
            cut_after_chunks: step.and_then(|s| s.cut_after_chunks),
        }
    }

    /// A body that sends each chunk by itself, and breaks off where it is told to.
    fn body(self, mut chunks: Vec<Bytes>) -> Body {
        let broken = self.cut_after_chunks.is_some_and(|count| count < chunks.len());
        chunks.truncate(self.cut_after_chunks.unwrap_or(usize::MAX));
        let breakage =
            broken.then(|| Err(io::Error::new(io::ErrorKind::ConnectionAborted, "cut by the script")));
        let parts = stream::iter(chunks.into_iter().map(Ok).chain(breakage));
        if self.chunk_delay.is_zero() && !broken {
            return Body::from_stream(parts);
        }
        // A pause before each part also lets the ones before it reach the client when the connection is cut.
        let pause = self.chunk_delay.max(Duration::from_millis(1));
        Body::from_stream(parts.then(move |part| async move {
            sleep(pause).await;
            part
        }))
    }

    /// An answer to the request of this number as one JSON object.
    pub(super) fn json(self, number: u64, answer: &Value) -> Response {
        respond(number, "application/json", self.whole(answer.to_string()))
    }

    /// An answer to the request of this number as an event stream.
    pub(super) fn events(self, number: u64, events: Vec<Bytes>) -> Response {
        respond(number, "text/event-stream; charset=utf-8", self.body(events))
    }

    /// The body of an answer that comes in one piece; told to break off, it does so in its middle.
    fn whole(self, text: String) -> Body {
        if self.cut_after_chunks.is_none() {
            return Body::from(text);
        }
        let mut first = Bytes::from(text);
        let second = first.split_off(first.len() / 2);
        Self { cut_after_chunks: Some(1), ..self }.body(vec![first, second])
    }
}

fn respond(number: u64, content_type: &'static str, body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert("request-id", number.into());
    headers.insert("x-request-id", number.into());
    response
}

/// An event of a stream that has names for its events: the `type` of its data.
pub(super) fn named_event(data: &Value) -> Bytes {
    Bytes::from(format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_join_to_the_text() {
        for text in ["", "one", "one two three four five six seven", "  spaces   apart "] {
            assert_eq!(slices(text).collect::<String>(), text);
            assert!(slices(text).all(|slice| !slice.is_empty()));
        }
    }
}
