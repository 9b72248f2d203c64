use std::fmt;

use memchr::memmem::Finder;

use super::{Codec, Coding, EventReader, Inflater, UsageFigures};
use crate::model::Usage;

/// The largest JSON answer that is read. A larger one passes unread.
const LARGEST_DOCUMENT: usize = 32 << 20;
/// The largest event that is read. A larger one passes unread.
const LARGEST_EVENT: usize = 8 << 20;
/// What an event must hold to be looked into: nearly all carry only a few letters of text.
const SIGNS: [&str; 2] = ["usage", "timings"];

/// How an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyKind {
    /// One JSON document.
    Json,
    /// An event stream.
    Sse,
}

/// Reads the usage out of an answer that passes by. It never fails: what it cannot read says nothing.
pub struct UsageReader {
    events: Events,
    body: Body,
    inflater: Option<Inflater>,
}

/// Who reads, and what it is given.
struct Events {
    signs: [Finder<'static>; 2],
    figures: Box<dyn UsageFigures>,
}

enum Body {
    Json(Vec<u8>),
    Sse(EventReader),
    /// Too large, or in a coding that is not known.
    Unread,
}

impl ReplyKind {
    /// By the answer's `Content-Type`; `None` when there is no usage to be expected.
    pub fn of(content_type: Option<&str>) -> Option<Self> {
        let essence = content_type?.split(';').next()?.trim().to_ascii_lowercase();
        match essence.as_str() {
            "text/event-stream" => Some(Self::Sse),
            "application/json" => Some(Self::Json),
            other => other.ends_with("+json").then_some(Self::Json),
        }
    }
}

impl UsageReader {
    /// A reader for an answer of `kind` in the given `Content-Encoding`.
    pub fn new(codec: &dyn Codec, kind: ReplyKind, content_encoding: Option<&str>) -> Self {
        let events = Events { signs: SIGNS.map(Finder::new), figures: codec.usage_figures() };
        let body = match kind {
            ReplyKind::Json => Body::Json(Vec::new()),
            ReplyKind::Sse => Body::Sse(EventReader::new(LARGEST_EVENT)),
        };
        match Coding::of(content_encoding) {
            Ok(codings) if codings.is_empty() => Self { events, body, inflater: None },
            Ok(codings) => Self { events, body, inflater: Some(Inflater::new(&codings)) },
            Err(_) => Self { events, body: Body::Unread, inflater: None },
        }
    }

    /// Takes the next bytes of the answer, cut anywhere.
    pub fn push(&mut self, bytes: &[u8]) {
        let Self { events, body, inflater } = self;
        match inflater {
            Some(inflater) => inflater.push(bytes, |plain| body.push(plain, events)),
            None => body.push(bytes, events),
        }
    }

    /// What was read, at the answer's end.
    pub fn finish(&mut self) -> Usage {
        let Self { events, body, inflater } = self;
        if let Some(inflater) = inflater {
            inflater.finish(|plain| body.push(plain, events));
        }
        match std::mem::replace(&mut self.body, Body::Unread) {
            Body::Json(document) => self.events.figures.read(&document),
            Body::Sse(mut stream) => stream.finish(|data| self.events.read(data)),
            Body::Unread => {}
        }
        self.events.figures.usage()
    }
}

impl Body {
    fn push(&mut self, bytes: &[u8], events: &mut Events) {
        match self {
            Self::Json(document) if document.len() + bytes.len() <= LARGEST_DOCUMENT => {
                document.extend_from_slice(bytes);
            }
            Self::Json(_) => *self = Self::Unread,
            Self::Sse(stream) => stream.push(bytes, |data| events.read(data)),
            Self::Unread => {}
        }
    }
}

impl Events {
    fn read(&mut self, data: &[u8]) {
        if self.signs.iter().any(|sign| sign.find(data).is_some()) {
            self.figures.read(data);
        }
    }
}

impl fmt::Debug for UsageReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UsageReader").field("usage", &self.events.figures.usage()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::wire::chat::Chat;

    fn read(kind: ReplyKind, coding: Option<&str>, chunks: &[&[u8]]) -> Usage {
        let mut reader = UsageReader::new(&Chat::default(), kind, coding);
        for chunk in chunks {
            reader.push(chunk);
        }
        reader.finish()
    }

    fn known(input: u64, output: u64) -> Usage {
        Usage { input: Some(input), output: Some(output), ..Usage::default() }
    }

    const STREAM: &str = concat!(
        ": OPENROUTER PROCESSING\r\n\r\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\"usage é\"}}],\"usage\":null}\r\n\r\n",
        "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\r\n\r\n",
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":900,\"completion_tokens\":4}}\r\n\r\n",
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":0}}\r\n\r\n",
        "data: [DONE]\r\n\r\n",
    );

    #[test]
    fn content_types_tell_the_kind() {
        assert_eq!(ReplyKind::of(Some("text/event-stream; charset=utf-8")), Some(ReplyKind::Sse));
        assert_eq!(ReplyKind::of(Some("Application/JSON")), Some(ReplyKind::Json));
        assert_eq!(ReplyKind::of(Some("application/problem+json")), Some(ReplyKind::Json));
        assert_eq!(ReplyKind::of(Some("text/html")), None);
        assert_eq!(ReplyKind::of(None), None);
    }

    #[test]
    fn a_document_and_a_stream_are_read() {
        let document = br#"{"usage":{"prompt_tokens":7,"completion_tokens":2}}"#;
        assert_eq!(read(ReplyKind::Json, None, &[&document[..9], &document[9..]]), known(7, 2));
        assert_eq!(read(ReplyKind::Sse, None, &[STREAM.as_bytes()]), known(900, 4));
    }

    #[test]
    fn an_error_event_says_nothing_of_usage() {
        let stream = "data: {\"error\":{\"message\":\"usage limit\",\"code\":429}}\n\n";
        assert_eq!(read(ReplyKind::Sse, None, &[stream.as_bytes()]), Usage::default());
    }

    #[test]
    fn what_cannot_be_read_says_nothing() {
        assert_eq!(read(ReplyKind::Json, Some("gzip"), &[b"no gzip", b"at all"]), Usage::default());
        assert_eq!(
            read(ReplyKind::Json, Some("new"), &[b"{\"usage\":{\"prompt_tokens\":7}}"]),
            Usage::default()
        );
        let large = vec![b' '; LARGEST_DOCUMENT];
        assert_eq!(
            read(ReplyKind::Json, None, &[&large, b"{\"usage\":{\"prompt_tokens\":7}}"]),
            Usage::default()
        );
    }

    proptest! {
        #[test]
        fn chunk_borders_do_not_matter(cuts in vec(any::<prop::sample::Index>(), 0..9), packed: bool) {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(STREAM.as_bytes()).unwrap();
            let (bytes, coding) = if packed {
                (encoder.finish().unwrap(), Some("gzip"))
            } else {
                (STREAM.as_bytes().to_vec(), None)
            };
            let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            at.extend([0, bytes.len()]);
            at.sort_unstable();
            let chunks: Vec<&[u8]> = at.windows(2).map(|cut| &bytes[cut[0]..cut[1]]).collect();
            prop_assert_eq!(read(ReplyKind::Sse, coding, &chunks), known(900, 4));
        }
    }
}
