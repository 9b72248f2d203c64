use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};

use super::BoxError;

/// The body of a request on its way to an upstream.
pub struct RequestBody(Kind);

enum Kind {
    Whole(Full<Bytes>),
    Stream { inner: UnsyncBoxBody<Bytes, BoxError>, progress: Progress },
}

/// How many pieces of a body were handed to the connection.
#[derive(Debug, Clone, Default)]
pub(super) struct Progress(Arc<AtomicU64>);

impl Progress {
    pub(super) fn pieces(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl RequestBody {
    /// Bytes that are all there.
    pub fn whole(bytes: Bytes) -> Self {
        Self(Kind::Whole(Full::new(bytes)))
    }

    /// Bytes that are still coming in.
    pub fn stream<B>(body: B) -> Self
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Self(Kind::Stream { inner: body.map_err(Into::into).boxed_unsync(), progress: Progress::default() })
    }

    /// The bytes, when all of them are there: what can be sent a second time.
    pub(super) fn to_resend(&self) -> Option<Self> {
        match &self.0 {
            Kind::Whole(bytes) => Some(Self(Kind::Whole(bytes.clone()))),
            Kind::Stream { .. } => None,
        }
    }

    /// What tells how far a body that streams has come.
    pub(super) fn progress(&self) -> Option<Progress> {
        match &self.0 {
            Kind::Whole(_) => None,
            Kind::Stream { progress, .. } => Some(progress.clone()),
        }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match &mut self.0 {
            Kind::Whole(bytes) => Pin::new(bytes).poll_frame(cx).map_err(|never| match never {}),
            Kind::Stream { inner, progress } => {
                let frame = ready!(Pin::new(inner).poll_frame(cx));
                progress.0.fetch_add(1, Ordering::Relaxed);
                Poll::Ready(frame)
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Kind::Whole(bytes) => bytes.is_end_stream(),
            Kind::Stream { inner, .. } => inner.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Whole(bytes) => bytes.size_hint(),
            Kind::Stream { inner, .. } => inner.size_hint(),
        }
    }
}
