use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};

use super::Door;
use super::converse::without_coding;
use crate::upstream::Target;

/// Largest list of models that is read, in bytes, with and without content coding.
pub(super) const LIMIT: usize = 16 * 1024 * 1024;

/// Hands a body on and keeps a copy, which is given away when the body was complete.
pub(super) struct Copied<B, F> {
    inner: B,
    copy: BytesMut,
    on_whole: Option<F>,
}

/// A list of models on its way to the client, from which the pipeline learns their windows once it is complete.
pub(super) fn copy_models<B: Body<Data = Bytes>>(
    body: B,
    door: &Arc<Door>,
    target: &Target,
    headers: HeaderMap,
) -> Copied<B, impl FnOnce(Bytes) + Send + Unpin + 'static> {
    let (door, upstream) = (Arc::clone(door), Arc::clone(&target.upstream));
    Copied::new(body, move |list| {
        let pipeline = Arc::clone(&door.pipeline);
        door.tasks.spawn_blocking(move || pipeline.learn_windows(&upstream, &without_coding(&headers, list)));
    })
}

impl<B: Body<Data = Bytes>, F: FnOnce(Bytes)> Copied<B, F> {
    fn new(inner: B, on_whole: F) -> Self {
        Self { inner, copy: BytesMut::new(), on_whole: Some(on_whole) }
    }

    fn keep(&mut self, data: &[u8]) {
        if self.copy.len() + data.len() > LIMIT {
            self.on_whole = None;
            self.copy = BytesMut::new();
        } else if self.on_whole.is_some() {
            self.copy.extend_from_slice(data);
        }
    }

    fn finish(&mut self) {
        if let Some(on_whole) = self.on_whole.take() {
            on_whole(std::mem::take(&mut self.copy).freeze());
        }
    }
}

impl<B, F> Body for Copied<B, F>
where
    B: Body<Data = Bytes> + Unpin,
    F: FnOnce(Bytes) + Unpin,
{
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let frame = ready!(Pin::new(&mut self.inner).poll_frame(cx));
        match &frame {
            Some(Ok(part)) => {
                if let Some(data) = part.data_ref() {
                    self.keep(data);
                }
                // A connection that knows the length does not ask again behind the last byte.
                if self.inner.is_end_stream() {
                    self.finish();
                }
            }
            Some(Err(_)) => self.on_whole = None,
            None => self.finish(),
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

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Mutex;

    use futures_util::{StreamExt as _, stream};
    use http_body_util::{BodyExt as _, Full, StreamBody};

    use super::*;

    #[tokio::test]
    async fn a_whole_body_is_given_away_once_and_passes_unchanged() {
        let pieces =
            ["one ", "two ", "three"].map(|piece| Ok::<_, Infallible>(Frame::data(Bytes::from(piece))));
        let given = Mutex::new(Vec::new());
        let body = StreamBody::new(stream::iter(pieces).boxed());
        let copied = Copied::new(body, |whole| given.lock().unwrap().push(whole));
        assert_eq!(copied.collect().await.unwrap().to_bytes(), "one two three");
        assert_eq!(*given.lock().unwrap(), ["one two three"]);
    }

    #[tokio::test]
    async fn a_body_of_known_length_is_complete_with_its_last_byte() {
        let given = Mutex::new(0);
        let mut copied =
            Copied::new(Full::new(Bytes::from("all")), |whole| *given.lock().unwrap() += whole.len());
        assert!(copied.frame().await.is_some());
        drop(copied);
        assert_eq!(*given.lock().unwrap(), 3);
    }

    #[tokio::test]
    async fn a_body_that_breaks_off_gives_nothing() {
        let pieces = [Ok(Frame::data(Bytes::from("half"))), Err("gone")];
        let copied = Copied::new(StreamBody::new(stream::iter(pieces)), |_| panic!("was not whole"));
        assert_eq!(copied.collect().await.unwrap_err(), "gone");
    }

    #[tokio::test]
    async fn a_body_that_is_left_gives_nothing() {
        let pieces = ["half", "rest"].map(|piece| Ok::<_, Infallible>(Frame::data(Bytes::from(piece))));
        let mut copied = Copied::new(StreamBody::new(stream::iter(pieces)), |_| panic!("was not whole"));
        assert!(copied.frame().await.is_some());
    }
}
