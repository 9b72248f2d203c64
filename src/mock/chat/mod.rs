//! The chat completions API of the mock upstream. Owns: that API's rules and the shape of its answers.

mod answer;
mod chain;
mod facts;
mod request;
mod rules;
#[cfg(test)]
mod tests;

pub(super) use answer::Shape;
pub(super) use facts::Known;

use super::error::Refusal;
use super::exchange::Measured;
use super::router::{Mock, Question};
use crate::model::Fingerprint;
use request::Chat;

/// Holds a request to the rules, and measures it.
pub(super) fn read(mock: &Mock, question: &Question) -> Result<Measured, Refusal> {
    let chat = Chat::read(&question.body)?;
    let known = &mock.chat;
    let tools = chat.tools.map(|raw| known.tools(raw, &mock.meter)).transpose()?;
    let messages = chat.messages.iter().enumerate();
    let facts =
        messages.map(|(at, raw)| known.message(at, raw, &mock.meter)).collect::<Result<Vec<_>, _>>()?;
    chain::check(&facts)?;
    Ok(Measured {
        model: chat.model,
        stream: chat.stream,
        include_usage: chat.include_usage,
        output_limit: chat.output_limit,
        results: facts.iter().filter(|f| f.answers.is_some()).count(),
        pieces: tools.into_iter().chain(facts.iter().map(|f| f.piece)).collect(),
        marks: None,
        prefix: Fingerprint::default(),
        unbound: None,
    })
}
