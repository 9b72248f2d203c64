use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use futures_util::StreamExt as _;
use http_body::Body;
use http_body_util::BodyDataStream;

use super::BoxError;

/// The body of a request on its way to an upstream.
pub struct RequestBody {
    inner: Option<reqwest::Body>,
    progress: Progress,
    is_stream: bool,
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
        let inner = (!bytes.is_empty()).then(|| bytes.into());
        Self { inner, progress: Progress::default(), is_stream: false }
    }

    /// Bytes that are still coming in. Trailers end here.
    pub fn stream<B>(body: B) -> Self
    where
        B: Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: Into<BoxError>,
    {
        let progress = Progress::default();
        let counted = progress.clone();
        let pieces = BodyDataStream::new(body).inspect(move |_| {
            counted.0.fetch_add(1, Ordering::Relaxed);
        });
        Self { inner: Some(reqwest::Body::wrap_stream(pieces)), progress, is_stream: true }
    }

    /// Whether its length is told by nothing but its end.
    pub(super) fn is_of_unknown_length(&self) -> bool {
        self.is_stream
    }

    /// What tells how far it has come.
    pub(super) fn progress(&self) -> Progress {
        self.progress.clone()
    }

    pub(super) fn into_inner(self) -> Option<reqwest::Body> {
        self.inner
    }
}
