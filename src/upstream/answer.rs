use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt as _;
use tokio::time::{Instant, Sleep, sleep};

use super::UpstreamError;

/// The body of an answer, frame by frame as the upstream sends it. Ends with an error when the upstream breaks off
/// or stays silent for too long; dropping it cancels the answer.
pub struct AnswerBody {
    /// Read before and put back; goes first.
    ahead: Option<Bytes>,
    /// Met while reading ahead; told behind what was read.
    failure: Option<UpstreamError>,
    rest: Option<reqwest::Body>,
    silence: Silence,
}

/// How long nothing has come.
struct Silence {
    limit: Duration,
    alarm: Option<Pin<Box<Sleep>>>,
    running: bool,
}

impl AnswerBody {
    pub(super) fn new(incoming: reqwest::Body, idle_timeout: Duration) -> Self {
        Self {
            ahead: None,
            failure: None,
            rest: Some(incoming),
            silence: Silence { limit: idle_timeout, alarm: None, running: false },
        }
    }

    /// Reads the answer to its end if that comes within `limit` bytes, and gives all of it. The body is as unread
    /// afterwards: its bytes come (again) when it is polled. `None` when it is longer or breaks off.
    pub async fn peek_all(&mut self, limit: usize) -> Option<Bytes> {
        let mut read = BytesMut::new();
        let mut is_whole = false;
        while read.len() <= limit && !is_whole && self.failure.is_none() {
            match self.frame().await {
                Some(Ok(frame)) => read.extend_from_slice(&frame.into_data().unwrap_or_default()),
                Some(Err(error)) => self.failure = Some(error),
                None => is_whole = true,
            }
        }
        let read = read.freeze();
        self.ahead = (!read.is_empty()).then(|| read.clone());
        is_whole.then_some(read)
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = UpstreamError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, UpstreamError>>> {
        let this = &mut *self;
        if let Some(ahead) = this.ahead.take() {
            return Poll::Ready(Some(Ok(Frame::data(ahead))));
        }
        if let Some(failure) = this.failure.take() {
            return Poll::Ready(Some(Err(failure)));
        }
        let Some(rest) = &mut this.rest else { return Poll::Ready(None) };
        let outcome = match Pin::new(rest).poll_frame(cx) {
            Poll::Pending => match this.silence.poll(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(error) => Some(Err(error)),
            },
            Poll::Ready(frame) => frame.map(|result| result.map_err(|e| UpstreamError::Broken(e.into()))),
        };
        this.silence.running = false;
        if !matches!(outcome, Some(Ok(_))) {
            this.rest = None;
        }
        Poll::Ready(outcome)
    }

    fn is_end_stream(&self) -> bool {
        self.ahead.is_none() && self.failure.is_none() && self.rest.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        let ahead = self.ahead.as_ref().map_or(0, |bytes| bytes.len() as u64);
        if self.failure.is_some() {
            return SizeHint::default();
        }
        let rest = self.rest.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint);
        let mut both = SizeHint::new();
        if let Some(upper) = rest.upper() {
            both.set_upper(upper + ahead);
        }
        both.set_lower(rest.lower() + ahead);
        both
    }
}

impl Silence {
    /// Starts the alarm with the first poll that finds nothing, so that an answer that is all there costs no timer.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<UpstreamError> {
        let limit = self.limit;
        let alarm = self.alarm.get_or_insert_with(|| Box::pin(sleep(limit)));
        if !self.running {
            alarm.as_mut().reset(Instant::now() + limit);
            self.running = true;
        }
        alarm.as_mut().poll(cx).map(|()| UpstreamError::Idle(limit.as_millis() as u64))
    }
}
