use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http::header::{CONTENT_LENGTH, EXPECT};
use http_body_util::BodyExt as _;
use tokio::time::timeout;

/// Why a request's body could not be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum BodyError {
    #[error("the request body is larger than {limit} bytes, the limit set by `server.max_body_bytes`")]
    TooLarge { limit: usize },
    #[error("the request body ended before it was complete")]
    Incomplete(#[source] axum::Error),
}

/// How long a body that is too large is still read and dropped: a client that is cut off while it sends would not
/// see the answer that tells it why.
const PATIENCE: Duration = Duration::from_secs(2);

/// The first piece of memory for a body without a declared length, and the most that a declared length is trusted.
const LEAST: usize = 16 * 1024;
const TRUSTED: usize = 8 * 1024 * 1024;

/// Reads a body to its end, without copying it when it came in one piece.
///
/// # Errors
/// When it is longer than `limit` bytes, or the client breaks off.
pub(super) async fn collect(mut body: Body, headers: &HeaderMap, limit: usize) -> Result<Bytes, BodyError> {
    let declared = declared_length(headers);
    if declared.is_some_and(|length| length > limit as u64) {
        // A client that waits for leave to send has sent nothing yet.
        if !headers.contains_key(EXPECT) {
            drain(body).await;
        }
        return Err(BodyError::TooLarge { limit });
    }
    let Some(first) = next(&mut body).await? else { return Ok(Bytes::new()) };
    let Some(second) = next(&mut body).await? else { return within(first, limit) };
    let expected = declared.map_or(LEAST, |length| usize::try_from(length).unwrap_or(TRUSTED).min(TRUSTED));
    let mut whole = BytesMut::with_capacity(expected.max(first.len() + second.len()));
    whole.extend_from_slice(&first);
    whole.extend_from_slice(&second);
    while whole.len() <= limit {
        let Some(data) = next(&mut body).await? else { return Ok(whole.freeze()) };
        whole.extend_from_slice(&data);
    }
    drop(whole);
    drain(body).await;
    Err(BodyError::TooLarge { limit })
}

fn within(whole: Bytes, limit: usize) -> Result<Bytes, BodyError> {
    if whole.len() > limit { Err(BodyError::TooLarge { limit }) } else { Ok(whole) }
}

/// The next piece of data; trailers are left out.
async fn next(body: &mut Body) -> Result<Option<Bytes>, BodyError> {
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame.map_err(BodyError::Incomplete)?.into_data() {
            return Ok(Some(data));
        }
    }
    Ok(None)
}

async fn drain(mut body: Body) {
    let reading = async { while let Some(Ok(_)) = body.frame().await {} };
    if timeout(PATIENCE, reading).await.is_err() {
        tracing::debug!("stopped reading a body that is too large");
    }
}

fn declared_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use futures_util::stream;
    use proptest::prelude::*;

    use super::*;

    fn pieces(pieces: Vec<Vec<u8>>) -> Body {
        Body::from_stream(stream::iter(pieces.into_iter().map(Ok::<_, std::io::Error>)))
    }

    fn read(body: Body, limit: usize) -> Result<Bytes, BodyError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(collect(body, &HeaderMap::new(), limit))
    }

    proptest! {
        #[test]
        fn any_chunking_gives_the_same_bytes_or_the_same_refusal(
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..50), 0..20),
            limit in 0_usize..600,
        ) {
            let whole = chunks.concat();
            match read(pieces(chunks), limit) {
                Ok(read) => prop_assert!(read == whole && whole.len() <= limit),
                Err(BodyError::TooLarge { .. }) => prop_assert!(whole.len() > limit),
                Err(BodyError::Incomplete(_)) => prop_assert!(false, "nothing broke off"),
            }
        }
    }

    #[test]
    fn a_body_in_one_piece_is_not_copied() {
        let sent = Bytes::from(vec![7; 5_000]);
        let read = read(Body::from(sent.clone()), 10_000).unwrap();
        assert_eq!(read.as_ptr(), sent.as_ptr());
    }

    #[test]
    fn a_client_that_breaks_off_is_told_from_one_that_sends_too_much() {
        let broken = stream::iter([Ok(vec![1_u8; 10]), Err(std::io::Error::other("gone"))]);
        assert!(matches!(read(Body::from_stream(broken), 100), Err(BodyError::Incomplete(_))));
    }
}
