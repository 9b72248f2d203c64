//! OpenAI's Responses API of the mock upstream. Owns: that API's rules and the shape of its answers. It keeps no
//! answers: with a `previous_response_id` it takes what is sent for a part of something longer.

mod answer;
mod chain;
mod facts;
mod items;
mod request;
#[cfg(test)]
mod tests;

pub(super) use answer::Shape;
pub(super) use facts::Known;

use super::error::Refusal;
use super::exchange::Measured;
use super::router::{Mock, Question};
use crate::model::Fingerprint;
use items::Kind;
use request::{Input, Request};

/// Holds a request to the rules, and measures it.
pub(super) fn read(mock: &Mock, question: &Question) -> Result<Measured, Refusal> {
    let request = Request::read(&question.body)?;
    let (known, meter) = (&mock.responses, &mock.meter);
    let tools = request.tools.map(|raw| known.tools(raw, meter)).transpose()?;
    let instructions = request.instructions.map(|text| facts::said(b"instructions", &text, meter));
    let mut pieces: Vec<_> = tools.into_iter().chain(instructions).collect();
    let mut results = 0;
    match &request.input {
        Input::Text(text) => pieces.push(facts::said(b"user", text, meter)),
        Input::Items(items) => {
            let items = items.iter().enumerate();
            let items = items.map(|(at, raw)| known.item(at, raw, meter)).collect::<Result<Vec<_>, _>>()?;
            chain::check(&items, request.is_continued)?;
            pieces.extend(items.iter().map(|item| item.piece));
            results = items.iter().filter(|item| matches!(item.kind, Kind::Output { .. })).count();
        }
    }
    Ok(Measured {
        model: request.model,
        stream: request.stream,
        include_usage: true,
        output_limit: request.output_limit,
        results,
        pieces,
        marks: None,
        prefix: Fingerprint::default(),
        unbound: None,
    })
}
