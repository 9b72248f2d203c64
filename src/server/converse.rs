use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderMap, Method, StatusCode};
use http_body_util::BodyExt as _;
use tokio::time::Instant;

use super::refusal::Refusal;
use super::relay::Trip;
use super::{answer, body, report};
use crate::pipeline::{Inbound, Prepared, Receipt, Settled, Turn};
use crate::tap::TapBody;
use crate::upstream::{AnswerBody, AsSent, RequestBody, UpstreamError, answer_headers, request_headers};
use crate::wire::{Codec, Coding, ReplyKind, UsageReader, decode_all};

type Answer = http::Response<AnswerBody>;

/// An answer that says a request is too large is short; a longer one is handed on unread.
const REFUSAL_LIMIT: usize = 1024 * 1024;

/// The client's request, kept for as long as it may have to be sent again.
struct Call {
    trip: Trip,
    method: Method,
    headers: Arc<HeaderMap>,
}

/// Relays a request of a known wire format: read, prune, send; recover if it is too large for the model; hand the
/// answer on while reading its usage.
pub(super) async fn converse(
    trip: Trip,
    codec: Arc<dyn Codec>,
    request: Request,
) -> Result<Response, Refusal> {
    let (parts, body) = request.into_parts();
    let raw = body::collect(body, &parts.headers, trip.door.settings.body_limit()).await?;
    let Parts { method, uri, headers, .. } = parts;
    let call = Call { trip, method, headers: Arc::new(headers) };
    let inbound = call.inbound(uri.path(), raw.clone());
    let began = Instant::now();
    let Prepared { body, mut receipt, mut turn } = call.trip.door.pipeline.prepare(inbound).await;
    report::prepared(&call.trip.door.metrics, &receipt, began.elapsed());
    let sent = body.map_or((raw, false), |edited| (edited, true));
    let first = call.send(sent, &receipt).await.map_err(|error| call.refusal(error))?;
    let last = match &mut turn {
        Some(turn) => {
            let last = call.recover(turn, first, &mut receipt).await;
            turn.accepted();
            last
        }
        None => first,
    };
    Ok(call.deliver(&codec, last, receipt, turn))
}

impl Call {
    fn inbound(&self, path: &str, body: Bytes) -> Inbound {
        let headers = Arc::clone(&self.headers);
        Inbound {
            is_post: true,
            path: path.to_owned(),
            upstream: self.trip.target.upstream.as_ref().to_owned(),
            content_encoding: answer::text(&self.headers, &CONTENT_ENCODING).map(str::to_owned),
            headers: Arc::new(move |name| headers.get(name)?.to_str().ok().map(str::to_owned)),
            body,
        }
    }

    /// Sends the client's own bytes, or edited ones.
    async fn send(&self, (body, edited): (Bytes, bool), receipt: &Receipt) -> Result<Answer, UpstreamError> {
        let as_sent = if edited { AsSent::Edited(body.len()) } else { AsSent::Collected(body.len()) };
        let headers = request_headers(&self.headers, as_sent, false);
        let door = &self.trip.door;
        let began = Instant::now();
        let sending =
            door.upstream.send(self.method.clone(), &self.trip.target, headers, RequestBody::whole(body));
        let answer = sending.await?;
        door.metrics.answered(report::format(receipt), answer.status().as_u16(), began.elapsed());
        Ok(answer)
    }

    /// While the answer says that the request is too large and the pipeline knows a smaller one, sends that. The
    /// last answer an upstream gave is the result, unread.
    async fn recover(&self, turn: &mut Turn, mut answer: Answer, receipt: &mut Receipt) -> Answer {
        let mut tries = 0_u32;
        while matches!(answer.status(), StatusCode::BAD_REQUEST | StatusCode::PAYLOAD_TOO_LARGE) {
            let Some(words) = answer.body_mut().peek_all(REFUSAL_LIMIT).await else { break };
            let words = without_coding(answer.headers(), words);
            let status = answer.status().as_u16();
            let pipeline = &self.trip.door.pipeline;
            let Some(recovery) = pipeline.recover(turn, status, &words).await else { break };
            tries += 1;
            receipt.recovered(&recovery);
            match self.send((recovery.body, true), receipt).await {
                Ok(next) => answer = next,
                Err(error) => {
                    report::resend_failed(&self.trip.door.metrics, receipt, &error);
                    return answer;
                }
            }
        }
        if tries > 0 {
            report::recovered(&self.trip.door.metrics, receipt, tries, answer.status());
        }
        answer
    }

    /// The answer as the client gets it: the upstream's status, headers and bytes, read on their way.
    fn deliver(
        self,
        codec: &Arc<dyn Codec>,
        answer: Answer,
        receipt: Receipt,
        turn: Option<Turn>,
    ) -> Response {
        let Trip { door, arrived, in_flight, .. } = self.trip;
        let (parts, body) = answer.into_parts();
        let reader = ReplyKind::of(answer::text(&parts.headers, &CONTENT_TYPE)).map(|kind| {
            UsageReader::new(codec.as_ref(), kind, answer::text(&parts.headers, &CONTENT_ENCODING))
        });
        let mut headers = answer_headers(parts.headers, false);
        answer::tell(&mut headers, &receipt);
        let status = parts.status;
        let breaks = report::on_break(&door);
        let tapped = TapBody::new(body.map_err(breaks), reader, move |ended| {
            let total = arrived.elapsed();
            drop(in_flight);
            // A task of its own, so that the client need not wait for it.
            let tasks = door.tasks.clone();
            tasks.spawn(async move {
                let end = ended.read();
                report::ended(&door.metrics, &receipt, status, total, &end);
                let Some(turn) = turn else { return };
                let settled = Settled { status: status.as_u16(), end };
                if let Some(update) = door.pipeline.settle(turn, settled).await {
                    report::settled(&update);
                }
            });
        });
        let mut response = Response::new(Body::new(tapped));
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        *response.extensions_mut() = parts.extensions;
        response
    }

    fn refusal(&self, error: UpstreamError) -> Refusal {
        Refusal::Upstream { upstream: self.trip.target.upstream.as_ref().trim().to_owned(), error }
    }
}

/// An answer's bytes without content coding; as they are when that cannot be undone.
pub(super) fn without_coding(headers: &HeaderMap, bytes: Bytes) -> Bytes {
    match Coding::of(answer::text(headers, &CONTENT_ENCODING)) {
        Ok(codings) if !codings.is_empty() => {
            decode_all(&codings, &bytes, super::learn::LIMIT).map_or(bytes, Bytes::from)
        }
        Ok(_) | Err(_) => bytes,
    }
}
