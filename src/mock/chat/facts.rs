use std::sync::Arc;

use quick_cache::sync::Cache;
use serde_json::Value;
use serde_json::value::RawValue;

use super::rules::{self, Speaker};
use crate::mock::error::Refusal;
use crate::mock::meter::{Meter, Piece};
use crate::model::Fingerprint;

/// Tokens that each message takes beside its text.
const FRAMING: u64 = 4;
/// Tokens that an image is worth.
const IMAGE: u64 = 765;
/// Messages remembered; an agent's ten longest conversations, with some 200 bytes each.
const REMEMBERED: usize = 50_000;

/// What is known of one message that keeps the rules.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) speaker: Speaker,
    /// Ids of the tool calls it makes.
    pub(super) calls: Vec<String>,
    /// Id of the tool call it answers.
    pub(super) answers: Option<String>,
    pub(super) piece: Piece,
}

/// Messages and tool definitions seen before, by their bytes: a client sends its whole history every time, and each
/// message is checked and counted once.
pub(in crate::mock) struct Known {
    messages: Cache<Fingerprint, Arc<Facts>>,
    tools: Cache<Fingerprint, u64>,
}

impl Default for Known {
    fn default() -> Self {
        Self { messages: Cache::new(REMEMBERED), tools: Cache::new(1000) }
    }
}

impl Known {
    /// The message at position `at` of the list.
    pub(super) fn message(&self, at: usize, raw: &RawValue, meter: &Meter) -> Result<Arc<Facts>, Refusal> {
        let print = Fingerprint::of(&[raw.get().as_bytes()]);
        if let Some(facts) = self.messages.get(&print) {
            return Ok(facts);
        }
        let place = format!("messages[{at}]");
        let message = parse(raw, &place)?;
        let said = rules::check(&message, &place)?;
        let tokens = FRAMING + said.texts.iter().map(|text| meter.count(text)).sum::<u64>();
        let piece = Piece { print, tokens: tokens + IMAGE * said.images };
        let facts = Facts { speaker: said.speaker, calls: said.calls, answers: said.answers, piece };
        let facts = Arc::new(facts);
        self.messages.insert(print, Arc::clone(&facts));
        Ok(facts)
    }

    /// The tool definitions, which count as they are written.
    pub(super) fn tools(&self, raw: &RawValue, meter: &Meter) -> Result<Piece, Refusal> {
        let print = Fingerprint::of(&[b"tools", raw.get().as_bytes()]);
        if let Some(tokens) = self.tools.get(&print) {
            return Ok(Piece { print, tokens });
        }
        rules::check_tools(&parse(raw, "tools")?)?;
        let tokens = meter.count(raw.get());
        self.tools.insert(print, tokens);
        Ok(Piece { print, tokens })
    }
}

fn parse(raw: &RawValue, place: &str) -> Result<Value, Refusal> {
    serde_json::from_str(raw.get()).map_err(|error| {
        Refusal::invalid(place, format!("`{place}` is not valid JSON at its byte {}.", error.column()))
    })
}
