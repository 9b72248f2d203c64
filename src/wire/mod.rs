//! Bytes to model and back. Owns: the wire formats and their codecs (one folder each), the envelope that splices
//! edits into the original bytes, event streams, content codings, and what an answer says of usage, of overflow, of
//! thinking that is refused and of model windows. Does not own: what to edit (`prune`), or HTTP (`server`, `upstream`).
//!
//! To add a wire format: a folder with what it has of its own (a dialect, which the shared codec of `list` takes, or
//! else a [`Codec`]), a variant of [`WireFormat`], a line in [`Codecs::builtin`], and a folder of fixtures.

mod chat;
mod codec;
mod coding;
mod entry;
mod envelope;
mod error_body;
mod figures;
mod json;
mod list;
mod members;
mod memo;
mod messages;
mod models;
mod numbers;
mod overflow;
mod progress;
mod reader;
mod responses;
mod splice;
mod sse;
mod thinking;
mod usage;

#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod testing;

pub use codec::{Codec, Codecs, DecodeError, Decoded, Purpose, WireFormat};
pub use coding::{Coding, CodingError, Inflater, decode_all};
pub use envelope::Envelope;
pub use models::{ModelWindow, read_windows};
pub use overflow::{Overflow, read_overflow};
pub use reader::{ReplyKind, UsageReader};
pub use sse::EventReader;
pub use thinking::{ThinkingFault, ThinkingRefusal, read_thinking_refusal};
pub use usage::UsageFigures;
