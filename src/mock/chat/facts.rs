use std::sync::Arc;

use serde_json::value::RawValue;

use super::rules::{self, Speaker};
use crate::mock::error::Refusal;
use crate::mock::memo::Memo;
use crate::mock::meter::{FRAMING, IMAGE, Meter, Piece};

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

/// Messages and tool definitions seen before.
#[derive(Default)]
pub(in crate::mock) struct Known {
    messages: Memo<Facts>,
    tools: Memo<Piece>,
}

impl Known {
    /// The message at position `at` of the list.
    pub(super) fn message(&self, at: usize, raw: &RawValue, meter: &Meter) -> Result<Arc<Facts>, Refusal> {
        self.messages.get(
            raw,
            || format!("messages[{at}]"),
            |message, place, print| {
                let said = rules::check(message, place)?;
                let tokens = FRAMING + said.texts.iter().map(|text| meter.count(text)).sum::<u64>();
                let piece = Piece { print, tokens: tokens + IMAGE * said.images };
                Ok(Facts { speaker: said.speaker, calls: said.calls, answers: said.answers, piece })
            },
        )
    }

    /// The tool definitions, which count as they are written.
    pub(super) fn tools(&self, raw: &RawValue, meter: &Meter) -> Result<Piece, Refusal> {
        let piece = self.tools.get(
            raw,
            || "tools".to_owned(),
            |tools, _, print| {
                rules::check_tools(tools)?;
                Ok(Piece { print, tokens: meter.count(raw.get()) })
            },
        )?;
        Ok(*piece)
    }
}
