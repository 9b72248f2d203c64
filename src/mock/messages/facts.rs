use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;

use super::blocks;
use crate::mock::error::Refusal;
use crate::mock::memo::Memo;
use crate::mock::meter::{FRAMING, IMAGE, Meter, Piece};
use crate::model::Fingerprint;

/// Who speaks in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    System,
    User,
    Assistant,
}

/// What a block is for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The text and its signature; `None` when they are kept from the client.
    Thinking(Option<(String, String)>),
    /// A tool call, with its id.
    Call(String),
    /// What a tool answered, with the id of its call.
    Result(String),
    /// What the provider's own tools do.
    Server,
    Other,
}

/// What is known of one block that keeps the rules.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) kind: Kind,
    pub(super) piece: Piece,
    /// Marks for the cache, on the block and within it. They are no part of what is cached.
    pub(super) marks: usize,
}

/// What is known of one message that keeps the rules.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) speaker: Speaker,
    pub(super) blocks: Vec<Block>,
    /// Whether its text ends with white space.
    pub(super) ends_blank: bool,
}

/// Messages, tool definitions and instructions seen before.
#[derive(Default)]
pub(in crate::mock) struct Known {
    messages: Memo<Message>,
    system: Memo<Vec<Block>>,
    tools: Memo<Vec<Block>>,
}

impl Known {
    /// The message at position `at` of the list.
    pub(super) fn message(&self, at: usize, raw: &RawValue, meter: &Meter) -> Result<Arc<Message>, Refusal> {
        self.messages.get(
            raw,
            || format!("messages.{at}"),
            |message, place, _| {
                let speaker = match blocks::field(message, "role", place)? {
                    "user" => Speaker::User,
                    // Newer clients put instructions between the messages, never in front of them.
                    "system" if at > 0 => Speaker::User,
                    "assistant" => Speaker::Assistant,
                    other => {
                        let message = format!("`{other}` is not one of the roles `user` and `assistant`");
                        return Err(Refusal::invalid(format!("{place}.role"), message));
                    }
                };
                let content = &message["content"];
                let mut blocks = content_blocks(content, speaker, &format!("{place}.content"), meter)?;
                if let Some(first) = blocks.first_mut() {
                    first.piece.tokens += FRAMING;
                }
                let last =
                    content.as_array().and_then(|list| list.last()).map_or(content, |last| &last["text"]);
                let ends_blank = last.as_str().is_some_and(|text| text.ends_with(char::is_whitespace));
                Ok(Message { speaker, blocks, ends_blank })
            },
        )
    }

    /// The instructions.
    pub(super) fn system(&self, raw: &RawValue, meter: &Meter) -> Result<Arc<Vec<Block>>, Refusal> {
        self.system.get(
            raw,
            || "system".to_owned(),
            |system, place, _| content_blocks(system, Speaker::System, place, meter),
        )
    }

    /// The tool definitions.
    pub(super) fn tools(&self, raw: &RawValue, meter: &Meter) -> Result<Arc<Vec<Block>>, Refusal> {
        self.tools.get(
            raw,
            || "tools".to_owned(),
            |tools, place, _| {
                let list =
                    tools.as_array().ok_or_else(|| Refusal::invalid(place, "Input should be a list"))?;
                list.iter()
                    .enumerate()
                    .map(|(at, tool)| definition(tool, &format!("{place}.{at}"), meter))
                    .collect()
            },
        )
    }
}

impl Block {
    /// The id of the call that it answers.
    pub(super) fn result(&self) -> Option<&str> {
        match &self.kind {
            Kind::Result(id) => Some(id),
            _ => None,
        }
    }

    /// The id of the call that it makes.
    pub(super) fn call(&self) -> Option<&str> {
        match &self.kind {
            Kind::Call(id) => Some(id),
            _ => None,
        }
    }
}

/// A text is the same as a list of one block with it.
fn content_blocks(
    content: &Value,
    speaker: Speaker,
    place: &str,
    meter: &Meter,
) -> Result<Vec<Block>, Refusal> {
    let block = |value: &Value, place: &str| {
        let said = blocks::check(value, speaker, place)?;
        let tokens = said.texts.iter().map(|text| meter.count(text)).sum::<u64>();
        let piece = Piece { print: print(speaker, value), tokens: tokens + IMAGE * said.images };
        Ok(Block { kind: said.kind, piece, marks: said.marks })
    };
    match content {
        Value::Null => Err(Refusal::invalid(place, "Field required")),
        Value::String(text) if text.is_empty() => Ok(Vec::new()),
        Value::String(text) => Ok(vec![block(&serde_json::json!({"type": "text", "text": text}), place)?]),
        Value::Array(list) => {
            list.iter().enumerate().map(|(at, value)| block(value, &format!("{place}.{at}"))).collect()
        }
        _ => Err(Refusal::invalid(place, "Input should be a string or a list of blocks")),
    }
}

fn definition(tool: &Value, place: &str, meter: &Meter) -> Result<Block, Refusal> {
    blocks::field(tool, "name", place)?;
    let is_own = tool["type"].is_null() || tool["type"] == "custom";
    if is_own && !tool["input_schema"].is_object() {
        return Err(Refusal::invalid(format!("{place}.input_schema"), "Field required, as an object"));
    }
    let marks = usize::from(blocks::mark(&tool["cache_control"], &format!("{place}.cache_control"))?);
    let text = without_marks(tool).to_string();
    let piece = Piece { print: Fingerprint::of(&[b"tool", text.as_bytes()]), tokens: meter.count(&text) };
    Ok(Block { kind: Kind::Other, piece, marks })
}

fn print(speaker: Speaker, block: &Value) -> Fingerprint {
    let role: &[u8] = match speaker {
        Speaker::System => b"system",
        Speaker::User => b"user",
        Speaker::Assistant => b"assistant",
    };
    Fingerprint::of(&[role, without_marks(block).to_string().as_bytes()])
}

/// A block without the marks for the cache on it and within its content.
fn without_marks(block: &Value) -> Value {
    let mut block = block.clone();
    if let Some(object) = block.as_object_mut() {
        object.shift_remove("cache_control");
        for inner in object.get_mut("content").and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(inner) = inner.as_object_mut() {
                inner.shift_remove("cache_control");
            }
        }
    }
    block
}
