//! OpenAI's chat completions, and all that copies it.

mod edit;
mod message;
mod progress;
mod request;
mod usage;

use bytes::Bytes;

use self::progress::Snapshot;
use super::memo::Memo;
use super::{Codec, DecodeError, Decoded, WireFormat};
use crate::model::{EditSet, Usage};

/// The codec of chat completions.
#[derive(Debug)]
pub struct Chat {
    memo: Memo<Snapshot>,
}

impl Default for Chat {
    fn default() -> Self {
        Self { memo: Memo::new() }
    }
}

impl Codec for Chat {
    fn format(&self) -> WireFormat {
        WireFormat::Chat
    }

    fn decode(&self, body: Bytes) -> Result<Decoded, DecodeError> {
        let (known, trail) = self.memo.find(&body);
        let known = known.map(|(end, snapshot)| (end, snapshot.resume()));
        let (mut progress, top) = request::read(&body, known)?;
        let decoded = request::decoded(body.clone(), &mut progress, &top);
        self.memo.keep(&body, trail, progress.snapshots());
        Ok(decoded)
    }

    fn render(&self, decoded: &Decoded, edits: &EditSet) -> Bytes {
        edit::render(decoded, edits)
    }

    fn usage(&self, document: &[u8]) -> Usage {
        usage::read(document)
    }
}

#[cfg(test)]
mod tests;
