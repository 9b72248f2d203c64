use std::sync::Arc;

use serde_json::value::RawValue;

use super::items::{self, Kind};
use crate::mock::error::Refusal;
use crate::mock::memo::Memo;
use crate::mock::meter::{FRAMING, IMAGE, Meter, Piece};
use crate::model::Fingerprint;

/// How encrypted reasoning of the mock's own begins. Others are taken as they are.
const OWN: &str = "mock.";

/// What is known of one item that keeps the rules.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) kind: Kind,
    pub(super) piece: Piece,
}

/// Items and tool definitions seen before.
#[derive(Default)]
pub(in crate::mock) struct Known {
    items: Memo<Item>,
    tools: Memo<Piece>,
}

impl Known {
    /// The item at position `at` of the list.
    pub(super) fn item(&self, at: usize, raw: &RawValue, meter: &Meter) -> Result<Arc<Item>, Refusal> {
        self.items.get(
            raw,
            || format!("input[{at}]"),
            |item, place, print| {
                let said = items::check(item, place)?;
                let tokens = FRAMING + said.texts.iter().map(|text| meter.count(text)).sum::<u64>();
                Ok(Item { kind: said.kind, piece: Piece { print, tokens: tokens + IMAGE * said.images } })
            },
        )
    }

    /// The tool definitions, which count as they are written.
    pub(super) fn tools(&self, raw: &RawValue, meter: &Meter) -> Result<Piece, Refusal> {
        let piece = self.tools.get(
            raw,
            || "tools".to_owned(),
            |tools, _, print| {
                items::check_tools(tools)?;
                Ok(Piece { print, tokens: meter.count(raw.get()) })
            },
        )?;
        Ok(*piece)
    }
}

/// A text that stands for itself.
pub(super) fn said(role: &[u8], text: &str, meter: &Meter) -> Piece {
    Piece { print: Fingerprint::of(&[role, text.as_bytes()]), tokens: FRAMING + meter.count(text) }
}

/// What stands for reasoning that the client must not read.
pub(super) fn encrypt(id: &str) -> String {
    format!("{OWN}{id}.{}", Fingerprint::of(&[b"reasoning", id.as_bytes()]))
}

/// Whether encrypted reasoning is as it was sent out, as far as can be told.
pub(super) fn is_intact(encrypted: &str) -> bool {
    let Some(own) = encrypted.strip_prefix(OWN) else { return true };
    own.split_once('.').is_some_and(|(id, _)| encrypt(id) == encrypted)
}
