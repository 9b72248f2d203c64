//! OpenAI's chat completions.

use bytes::Bytes;

use super::{Codec, DecodeError, Decoded, WireFormat};
use crate::model::{EditSet, Usage};

/// The codec of chat completions.
#[derive(Debug, Default)]
pub struct Chat {}

impl Codec for Chat {
    fn format(&self) -> WireFormat {
        WireFormat::Chat
    }
    fn decode(&self, _body: Bytes) -> Result<Decoded, DecodeError> {
        Err(DecodeError::NoMessages)
    }
    fn render(&self, decoded: &Decoded, _edits: &EditSet) -> Bytes {
        decoded.transcript.source.clone()
    }
    fn usage(&self, _document: &[u8]) -> Usage {
        Usage::default()
    }
}
