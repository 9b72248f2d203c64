use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use super::Envelope;
use super::chat::Chat;
use super::responses::Responses;
use crate::model::{EditSet, Transcript, Usage};

/// What a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WireFormat {
    /// OpenAI's chat completions, and all that copies it.
    Chat,
    /// OpenAI's Responses API.
    Responses,
}

impl WireFormat {
    /// Its name in logs, metrics and fixtures.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Responses => "responses",
        }
    }
}

impl fmt::Display for WireFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a body could not be read as a conversation. It then passes unread and unchanged.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// Not JSON, or not of the shape that the format demands where we must look.
    #[error("the body is not a {format} request")]
    Json {
        /// The format expected.
        format: WireFormat,
        /// What the parser says.
        #[source]
        source: serde_json::Error,
    },
    /// There is no list of messages.
    #[error("the body has no list of messages")]
    NoMessages,
}

/// A request, read.
#[derive(Debug, Clone)]
pub struct Decoded {
    /// The conversation.
    pub transcript: Transcript,
    /// Where everything stands in the original bytes.
    pub envelope: Envelope,
}

/// Reads and writes one wire format. Pure: the same bytes give the same answer, whatever a codec may cache.
pub trait Codec: Send + Sync {
    /// Which format it is.
    fn format(&self) -> WireFormat;

    /// Reads a request body (content coding already undone). Every wire message yields at least one item.
    ///
    /// # Errors
    /// When the body is not JSON of the expected shape, or repeats a member that we would have to read.
    fn decode(&self, body: Bytes) -> Result<Decoded, DecodeError>;

    /// The body with `edits` spliced in: everything else keeps its bytes. With no edits, the original buffer.
    fn render(&self, decoded: &Decoded, edits: &EditSet) -> Bytes;

    /// What one JSON document of an answer (the whole answer, or one event's data) says of usage.
    /// Unknown members stay `None`; a document that is no JSON says nothing.
    fn usage(&self, document: &[u8]) -> Usage;
}

/// The codecs, by path.
#[derive(Clone)]
pub struct Codecs(Vec<(&'static str, Arc<dyn Codec>)>);

impl Codecs {
    /// All formats that are built in.
    pub fn builtin() -> Self {
        Self(vec![
            ("/chat/completions", Arc::new(Chat::default())),
            ("/responses", Arc::new(Responses::default())),
        ])
    }

    /// The codec for a request path (without query): found by how the path ends, so that prefixed and Azure-style
    /// paths work. `None` for paths that are passed through.
    pub fn for_path(&self, path: &str) -> Option<&Arc<dyn Codec>> {
        let path = path.trim_end_matches('/');
        self.0.iter().find(|(ending, _)| path.ends_with(ending)).map(|(_, codec)| codec)
    }

    /// Every codec, for what must hold for all of them.
    pub fn all(&self) -> impl Iterator<Item = &Arc<dyn Codec>> {
        self.0.iter().map(|(_, codec)| codec)
    }
}
