use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use crate::model::Usage;
use crate::wire::UsageReader;

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// All of it went to the client.
    Complete,
    /// The upstream broke off.
    Failed,
    /// The client left.
    Cancelled,
}

/// What is known at the end of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TapEnd {
    /// What was read of usage.
    pub usage: Usage,
    /// How it ended.
    pub ending: Ending,
    /// Bytes that went by.
    pub bytes: u64,
}

/// An answer that ended, unread: reading can wait until the client has all of it.
pub struct Ended {
    reader: Option<UsageReader>,
    ending: Ending,
    bytes: u64,
}

pin_project! {
    /// Forwards a body, frame by frame and unaltered, and reports once: at its end, when it fails, or when it is
    /// dropped before.
    pub struct TapBody<B> {
        #[pin]
        inner: B,
        watch: Watch,
    }
}

/// Looks on, and reports when it is dropped at the latest.
struct Watch {
    reader: Option<UsageReader>,
    on_end: Option<Box<dyn FnOnce(Ended) + Send>>,
    bytes: u64,
}

impl<B: Body> TapBody<B> {
    /// Wraps `inner`; without a `reader` no usage is read. `on_end` is called once, before the
    /// last bytes are handed on, and must not block.
    pub fn new(inner: B, reader: Option<UsageReader>, on_end: impl FnOnce(Ended) + Send + 'static) -> Self {
        let mut watch = Watch { reader, on_end: Some(Box::new(on_end)), bytes: 0 };
        if inner.is_end_stream() {
            watch.end(Ending::Complete);
        }
        Self { inner, watch }
    }
}

impl<B: Body<Data = Bytes>> Body for TapBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let mut this = self.project();
        let frame = ready!(this.inner.as_mut().poll_frame(cx));
        match &frame {
            Some(Ok(frame)) => {
                if let Some(data) = frame.data_ref() {
                    this.watch.see(data);
                }
                // A server that knows the length does not ask again behind the last frame.
                if this.inner.is_end_stream() {
                    this.watch.end(Ending::Complete);
                }
            }
            Some(Err(_)) => this.watch.end(Ending::Failed),
            None => this.watch.end(Ending::Complete),
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl<B: fmt::Debug> fmt::Debug for TapBody<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TapBody").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl Ended {
    /// Reads what the answer said of usage.
    pub fn read(self) -> TapEnd {
        let usage = self.reader.map(|mut reader| reader.finish()).unwrap_or_default();
        TapEnd { usage, ending: self.ending, bytes: self.bytes }
    }
}

impl fmt::Debug for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ended").field("ending", &self.ending).finish_non_exhaustive()
    }
}

impl Watch {
    fn see(&mut self, data: &[u8]) {
        self.bytes += data.len() as u64;
        if let Some(reader) = &mut self.reader {
            reader.push(data);
        }
    }

    fn end(&mut self, ending: Ending) {
        if let Some(on_end) = self.on_end.take() {
            on_end(Ended { reader: self.reader.take(), ending, bytes: self.bytes });
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.end(Ending::Cancelled);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::convert::Infallible;
    use std::sync::{Arc, Mutex};

    use http::HeaderMap;
    use http_body_util::{BodyExt, Empty, Full, StreamBody};

    use super::*;
    use crate::wire::{Codecs, ReplyKind};

    #[derive(Clone, Default)]
    struct Report(Arc<Mutex<Vec<TapEnd>>>);

    impl Report {
        fn tap<B: Body>(&self, body: B, reader: Option<UsageReader>) -> TapBody<B> {
            let ends = Arc::clone(&self.0);
            TapBody::new(body, reader, move |ended| ends.lock().unwrap().push(ended.read()))
        }

        fn once(&self) -> TapEnd {
            let ends = self.0.lock().unwrap();
            assert_eq!(ends.len(), 1);
            ends[0]
        }
    }

    type Frames = VecDeque<Result<Frame<Bytes>, &'static str>>;

    fn frames(
        frames: Vec<Result<Frame<Bytes>, &'static str>>,
    ) -> impl Body<Data = Bytes, Error = &'static str> {
        StreamBody::new(futures_util::stream::iter(Frames::from(frames)))
    }

    fn data(text: &'static str) -> Frame<Bytes> {
        Frame::data(Bytes::from_static(text.as_bytes()))
    }

    fn reader() -> UsageReader {
        let codecs = Codecs::builtin();
        let (codec, _) = codecs.for_path("/v1/chat/completions").unwrap();
        UsageReader::new(&**codec, ReplyKind::Sse, None)
    }

    #[tokio::test]
    async fn an_empty_body_is_complete_at_once() {
        let report = Report::default();
        let body = report.tap(Empty::<Bytes>::new(), None);
        assert!(body.is_end_stream());
        assert_eq!(report.once().ending, Ending::Complete);
        drop(body.collect().await);
        assert_eq!(report.once().bytes, 0);
    }

    #[tokio::test]
    async fn frames_and_trailers_pass_and_usage_is_read() {
        let report = Report::default();
        let mut trailers = HeaderMap::new();
        trailers.insert("x-sum", "1".parse().unwrap());
        let body = frames(vec![
            Ok(data("data: {\"usage\":{\"prompt_to")),
            Ok(data("kens\":9}}\n\n")),
            Ok(Frame::trailers(trailers.clone())),
        ]);
        let collected = report.tap(body, Some(reader())).collect().await.unwrap();
        assert_eq!(collected.trailers(), Some(&trailers));
        assert_eq!(collected.to_bytes(), "data: {\"usage\":{\"prompt_tokens\":9}}\n\n");
        let usage = Usage { input: Some(9), ..Usage::default() };
        assert_eq!(report.once(), TapEnd { usage, ending: Ending::Complete, bytes: 37 });
    }

    #[tokio::test]
    async fn a_known_length_stays_known_and_ends_with_the_last_frame() {
        let report = Report::default();
        let mut body = report.tap(Full::new(Bytes::from_static(b"12345")), None);
        assert_eq!(body.size_hint().exact(), Some(5));
        let frame: Result<_, Infallible> = body.frame().await.unwrap();
        assert_eq!(frame.unwrap().into_data().unwrap(), "12345");
        assert_eq!(report.once(), TapEnd { usage: Usage::default(), ending: Ending::Complete, bytes: 5 });
        drop(body);
        report.once();
    }

    #[tokio::test]
    async fn an_error_passes_and_is_a_failure() {
        let report = Report::default();
        let mut body = report.tap(frames(vec![Ok(data("ab")), Err("reset")]), Some(reader()));
        assert!(body.frame().await.unwrap().is_ok());
        assert_eq!(body.frame().await.unwrap().unwrap_err(), "reset");
        drop(body);
        assert_eq!(report.once(), TapEnd { usage: Usage::default(), ending: Ending::Failed, bytes: 2 });
    }

    #[tokio::test]
    async fn a_body_dropped_before_its_end_is_cancelled_with_what_was_read() {
        let report = Report::default();
        let mut body = report.tap(
            frames(vec![Ok(data("data: {\"usage\":{\"prompt_tokens\":9}}\n\n")), Ok(data("x"))]),
            Some(reader()),
        );
        assert!(body.frame().await.unwrap().is_ok());
        assert!(report.0.lock().unwrap().is_empty());
        drop(body);
        assert_eq!((report.once().ending, report.once().usage.input), (Ending::Cancelled, Some(9)));
    }
}
