use std::sync::Arc;
use std::time::Duration;

use axum::response::{IntoResponse as _, Response};
use http::{StatusCode, header};
use serde_json::json;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::api::Api;
use super::error::Refusal;
use super::messages;
use super::meter::{CacheFigures, Piece};
use super::reply::{Figures, Pace, Reply};
use super::router::{Mock, Question};
use super::script::Step;
use crate::model::Fingerprint;

/// Bodies of more bytes than this are read on a thread of their own, so that counting stops no stream.
const LARGE_BODY: usize = 32 * 1024;

/// A request that keeps the rules, and what it is worth.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) model: String,
    pub(super) stream: bool,
    /// Whether a stream is to tell its usage.
    pub(super) include_usage: bool,
    /// Tokens the answer may have at most; 0 when the request sets no limit.
    pub(super) output_limit: u64,
    /// Number of tool results.
    pub(super) results: usize,
    /// The tool definitions and whatever else stands in front, then what was said.
    pub(super) pieces: Vec<Piece>,
    /// How many pieces stand in front of each mark up to which is cached; `None`: caching goes by itself.
    pub(super) marks: Option<Vec<usize>>,
    /// What thinking in the answer is bound to.
    pub(super) prefix: Fingerprint,
    /// The refusal of the first thinking that is not bound to what stands in front of it.
    pub(super) unbound: Option<Refusal>,
}

/// Answers one request, or says in its API's shape why not.
pub(super) async fn answer(mock: &Arc<Mock>, api: Api, question: Question) -> Response {
    let number = question.number;
    match prepare(mock, api, question).await {
        Ok(response) => response,
        Err(refusal) => refusal.respond(api, number),
    }
}

/// Answers how many tokens a request has.
pub(super) async fn count(mock: &Arc<Mock>, question: Question) -> Response {
    let number = question.number;
    match on_a_thread(mock, question, |mock, question| messages::read(mock, question, false)).await {
        Ok((measured, _)) => {
            let answer = json!({"input_tokens": measured.input()}).to_string();
            ([(header::CONTENT_TYPE, "application/json")], answer).into_response()
        }
        Err(refusal) => refusal.respond(Api::Messages, number),
    }
}

async fn prepare(mock: &Arc<Mock>, api: Api, question: Question) -> Result<Response, Refusal> {
    let (measured, question) =
        on_a_thread(mock, question, move |mock, question| api.read(mock, question)).await?;
    let step = mock.options.script.step_for(question.number, &measured.model, &question.body);
    sleep(Duration::from_millis(step.map_or(0, |s| s.delay_ms))).await;
    measured.admit(mock, api, step)?;
    let mut reply = Reply::new(question.number, step, measured.plain_text());
    if step.and_then(|s| s.usage).unwrap_or(true) {
        let owner = question.credential.then(Fingerprint::of(&[measured.model.as_bytes()]));
        let CacheFigures { read, written } =
            mock.meter.cached(owner, &measured.pieces, measured.marks.as_deref());
        reply.figures = Some(Figures {
            input: measured.input(),
            cached: read,
            written,
            output: reply.texts().map(|text| mock.meter.count(text)).sum(),
            thinking: reply.thinking.as_deref().map_or(0, |text| mock.meter.count(text)),
        });
    }
    let pace = Pace::new(step, mock.options.chunk_delay_ms);
    Ok(api.respond(&reply, &measured, pace, mock.options.clock.now_ms() / 1000))
}

async fn on_a_thread(
    mock: &Arc<Mock>,
    question: Question,
    read: impl FnOnce(&Mock, &Question) -> Result<Measured, Refusal> + Send + 'static,
) -> Result<(Measured, Question), Refusal> {
    if question.body.len() <= LARGE_BODY {
        return read(mock, &question).map(|measured| (measured, question));
    }
    let mock = Arc::clone(mock);
    let reading = spawn_blocking(move || read(&mock, &question).map(|measured| (measured, question)));
    reading.await.unwrap_or_else(|_| {
        Err(Refusal::with_status(StatusCode::INTERNAL_SERVER_ERROR, "The request could not be read."))
    })
}

impl Measured {
    /// Tokens of the request.
    pub(super) fn input(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.tokens).sum()
    }

    /// What the script has against the request, whether its thinking is bound where it stands, and whether it fits
    /// into the window.
    fn admit(&self, mock: &Mock, api: Api, step: Option<&Step>) -> Result<(), Refusal> {
        if let Some((step, status)) = step.and_then(|s| Some((s, StatusCode::from_u16(s.status?).ok()?))) {
            let message =
                step.message.clone().unwrap_or_else(|| format!("The script answers with {status}."));
            let retry_after = step.retry_after;
            return Err(Refusal { retry_after, ..Refusal::with_status(status, message) });
        }
        if step.and_then(|s| s.bind_thinking).unwrap_or(mock.options.bind_thinking)
            && let Some(refusal) = &self.unbound
        {
            return Err(refusal.clone());
        }
        let window = step.and_then(|s| s.window).unwrap_or_else(|| mock.options.window_of(&self.model));
        api.fits(self.input(), self.output_limit, window)
    }

    fn plain_text(&self) -> String {
        format!(
            "The mock upstream has read {} tokens of input with {} tool results, and has nothing to add.",
            self.input(),
            self.results
        )
    }
}
