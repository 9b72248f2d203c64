//! The chat completions API of the mock upstream. Owns: that API's rules and the shape of its answers.

mod answer;
mod chain;
mod facts;
mod request;
mod rules;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

pub(super) use facts::Known;

use super::error::Refusal;
use super::meter::Piece;
use super::reply::{Figures, Pace, Reply};
use super::router::{Mock, Question};
use super::script::Step;
use crate::model::Fingerprint;
use request::Chat;

/// Bodies of more bytes than this are read on a thread of their own, so that counting stops no stream.
const LARGE_BODY: usize = 32 * 1024;

/// Answers one request.
pub(super) async fn answer(mock: &Arc<Mock>, question: Question) -> Response {
    let question = Arc::new(question);
    let read = if question.body.len() > LARGE_BODY {
        let (mock, question) = (Arc::clone(mock), Arc::clone(&question));
        spawn_blocking(move || Measured::read(&mock, &question)).await.unwrap_or_else(|_| {
            Err(Refusal::with_status(StatusCode::INTERNAL_SERVER_ERROR, "The request could not be read."))
        })
    } else {
        Measured::read(mock, &question)
    };
    let measured = match read {
        Ok(measured) => measured,
        Err(refusal) => return refusal.into_response(),
    };
    let step = mock.options.script.step_for(question.number, &measured.model, &question.body);
    sleep(Duration::from_millis(step.map_or(0, |s| s.delay_ms))).await;
    if let Err(refusal) = measured.admit(mock, step) {
        return refusal.into_response();
    }
    let mut reply = Reply::new(question.number, step, measured.plain_text());
    if step.and_then(|s| s.usage).unwrap_or(true) {
        let owner = question.credential.then(Fingerprint::of(&[measured.model.as_bytes()]));
        reply.figures = Some(Figures {
            input: measured.input(),
            cached: mock.meter.cached(owner, &measured.pieces),
            output: reply.texts().map(|text| mock.meter.count(text)).sum(),
        });
    }
    let created = mock.options.clock.now_ms() / 1000;
    let shape = answer::Shape { reply: &reply, model: &measured.model, created };
    let pace = Pace::new(step, mock.options.chunk_delay_ms);
    if measured.stream { shape.stream(pace, measured.include_usage) } else { shape.json(pace) }
}

/// A request that keeps the rules, and what it is worth.
struct Measured {
    model: String,
    stream: bool,
    include_usage: bool,
    output_limit: u64,
    results: usize,
    /// The tool definitions, then every message.
    pieces: Vec<Piece>,
}

impl Measured {
    fn read(mock: &Mock, question: &Question) -> Result<Self, Refusal> {
        let chat = Chat::read(&question.body)?;
        let known = &mock.chat;
        let tools = chat.tools.map(|raw| known.tools(raw, &mock.meter)).transpose()?;
        let messages = chat.messages.iter().enumerate();
        let facts =
            messages.map(|(at, raw)| known.message(at, raw, &mock.meter)).collect::<Result<Vec<_>, _>>()?;
        chain::check(&facts)?;
        Ok(Self {
            model: chat.model,
            stream: chat.stream,
            include_usage: chat.include_usage,
            output_limit: chat.output_limit,
            results: facts.iter().filter(|f| f.answers.is_some()).count(),
            pieces: tools.into_iter().chain(facts.iter().map(|f| f.piece)).collect(),
        })
    }

    fn input(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.tokens).sum()
    }

    /// What the script has against the request, and whether it fits into the window.
    fn admit(&self, mock: &Mock, step: Option<&Step>) -> Result<(), Refusal> {
        if let Some((step, status)) = step.and_then(|s| Some((s, StatusCode::from_u16(s.status?).ok()?))) {
            let message =
                step.message.clone().unwrap_or_else(|| format!("The script answers with {status}."));
            let retry_after = step.retry_after;
            return Err(Refusal { retry_after, ..Refusal::with_status(status, message) });
        }
        let window = step.and_then(|s| s.window).unwrap_or_else(|| mock.options.window_of(&self.model));
        let asked = self.input() + self.output_limit;
        if asked > window { Err(Refusal::overflow(asked, window)) } else { Ok(()) }
    }

    fn plain_text(&self) -> String {
        format!(
            "The mock upstream has read {} tokens of input with {} tool results, and has nothing to add.",
            self.input(),
            self.results
        )
    }
}
