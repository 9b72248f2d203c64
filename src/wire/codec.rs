use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use super::chat::Chat;
use super::messages::Messages;
use super::responses::Responses;
use super::{Envelope, UsageFigures};
use crate::model::{EditSet, Transcript};

/// What a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WireFormat {
    /// OpenAI's chat completions, and all that copies it.
    Chat,
    /// OpenAI's Responses API.
    Responses,
    /// Anthropic's Messages.
    Messages,
}

/// What a request of a wire format is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// It asks for an answer.
    Generate,
    /// It asks how large it is: its answer is no use of the model, and says nothing of usage.
    Count,
}

impl WireFormat {
    /// Its name in logs, metrics and fixtures.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Messages => "messages",
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

    /// How the paths of its requests end, and what those are for.
    fn endings(&self) -> &'static [(&'static str, Purpose)];

    /// Reads a request body (content coding already undone). Every wire message yields at least one item.
    ///
    /// # Errors
    /// When the body is not JSON of the expected shape, or repeats a member that we would have to read.
    fn decode(&self, body: Bytes) -> Result<Decoded, DecodeError>;

    /// The body with `edits` spliced in: everything else keeps its bytes. With no edits, the original buffer.
    fn render(&self, decoded: &Decoded, edits: &EditSet) -> Bytes;

    /// `edits`, and all reasoning behind the item at `index` left out. `None` when this format does not allow that, or
    /// when there is none behind it that is still there.
    fn without_reasoning(&self, decoded: &Decoded, edits: &EditSet, index: usize) -> Option<EditSet> {
        let _ = (decoded, edits, index);
        None
    }

    /// What is to read the usage out of one answer.
    fn usage_figures(&self) -> Box<dyn UsageFigures>;
}

/// The codecs, by path.
#[derive(Clone)]
pub struct Codecs(Vec<Arc<dyn Codec>>);

impl Codecs {
    /// All formats that are built in.
    pub fn builtin() -> Self {
        Self(vec![Arc::new(Chat::default()), Arc::new(Responses::default()), Arc::new(Messages::default())])
    }

    /// The codec for a request path (without query), and what the request is for: found by how the path ends, so that
    /// prefixed and Azure-style paths work. `None` for paths that are passed through.
    pub fn for_path(&self, path: &str) -> Option<(&Arc<dyn Codec>, Purpose)> {
        let path = path.trim_end_matches('/');
        self.0.iter().find_map(|codec| {
            let (_, purpose) = codec.endings().iter().find(|(ending, _)| path.ends_with(ending))?;
            Some((codec, *purpose))
        })
    }

    /// Every codec, for what must hold for all of them.
    pub fn all(&self) -> impl Iterator<Item = &Arc<dyn Codec>> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_path_tells_format_and_purpose() {
        let codecs = Codecs::builtin();
        let found = |path| codecs.for_path(path).map(|(codec, purpose)| (codec.format(), purpose));
        let (chat, messages) = (WireFormat::Chat, WireFormat::Messages);
        for (path, expected) in [
            ("/v1/chat/completions", Some((chat, Purpose::Generate))),
            ("/openai/deployments/d/chat/completions/", Some((chat, Purpose::Generate))),
            ("/v1/messages", Some((messages, Purpose::Generate))),
            ("/anthropic/v1/messages/", Some((messages, Purpose::Generate))),
            ("/v1/messages/count_tokens", Some((messages, Purpose::Count))),
            ("/v1/messages/batches", None),
            ("/v1/messages/batches/b/results", None),
            ("/v1/models", None),
            ("/", None),
        ] {
            assert_eq!(found(path), expected, "{path}");
        }
    }
}
