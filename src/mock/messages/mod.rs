//! Anthropic's Messages API of the mock upstream. Owns: that API's rules, what thinking is bound to, and the shape of
//! answers.

mod answer;
mod blocks;
mod bound;
mod chain;
mod facts;
mod request;
#[cfg(test)]
mod tests;

pub(super) use answer::Shape;
pub(super) use facts::Known;

use super::error::Refusal;
use super::exchange::Measured;
use super::router::{Mock, Question};
use bound::Binding;
use facts::Block;
use request::Request;

/// Most marks for the cache in a request.
const MOST_MARKS: usize = 4;

/// Holds a request to the rules, and measures it. A request that is only counted needs no limit for its answer.
pub(super) fn read(mock: &Mock, question: &Question, is_answered: bool) -> Result<Measured, Refusal> {
    if !question.headers.contains_key("anthropic-version") {
        return Err(Refusal::invalid("anthropic-version", "header is required"));
    }
    let request = Request::read(&question.body, is_answered)?;
    let (known, meter) = (&mock.messages, &mock.meter);
    let tools = request.tools.map(|raw| known.tools(raw, meter)).transpose()?;
    let system = request.system.map(|raw| known.system(raw, meter)).transpose()?;
    let messages = request.messages.iter().enumerate();
    let messages = messages.map(|(at, raw)| known.message(at, raw, meter)).collect::<Result<Vec<_>, _>>()?;
    chain::check(&messages, request.thinks)?;

    let mut binding = Binding::default();
    system.iter().flat_map(|blocks| blocks.iter()).for_each(|block| binding.follow(block));
    for (at, message) in messages.iter().enumerate() {
        message.blocks.iter().enumerate().for_each(|(block, facts)| binding.check(at, block, facts));
    }
    let front = tools.iter().chain(&system).flat_map(|blocks| blocks.iter());
    let all: Vec<&Block> = front.chain(messages.iter().flat_map(|message| &message.blocks)).collect();
    let marks = marks(&all, request.marks_last)?;
    Ok(Measured {
        results: all.iter().filter(|block| block.result().is_some()).count(),
        pieces: all.iter().map(|block| block.piece).collect(),
        model: request.model,
        stream: request.stream,
        include_usage: true,
        output_limit: request.output_limit,
        marks: Some(marks),
        prefix: binding.prefix,
        unbound: binding.broken,
    })
}

/// How many blocks stand in front of each mark for the cache.
fn marks(all: &[&Block], marks_last: bool) -> Result<Vec<usize>, Refusal> {
    let found = all.iter().map(|block| block.marks).sum::<usize>() + usize::from(marks_last);
    if found > MOST_MARKS {
        let message = format!(
            "A request may have at most {MOST_MARKS} blocks with `cache_control`, but this one has {found}."
        );
        return Err(Refusal::with_status(http::StatusCode::BAD_REQUEST, message));
    }
    let marked = all.iter().enumerate().filter(|(_, block)| block.marks > 0).map(|(at, _)| at + 1);
    Ok(marked.chain(marks_last.then_some(all.len())).collect())
}

/// Whether a request of so many tokens, the answer it may have, and the window go together.
pub(super) fn fits(input: u64, output_limit: u64, window: u64) -> Result<(), Refusal> {
    let message = if input > window {
        format!("prompt is too long: {input} tokens > {window} maximum")
    } else if input + output_limit > window {
        format!(
            "input length and `max_tokens` exceed context limit: {input} + {output_limit} > {window}, decrease one of \
             them"
        )
    } else {
        return Ok(());
    };
    Err(Refusal::with_status(http::StatusCode::BAD_REQUEST, message))
}
