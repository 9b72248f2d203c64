use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use http::header::{CONTENT_TYPE, UPGRADE};
use http::{HeaderMap, Method, StatusCode};
use http_body_util::BodyExt as _;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::copy_bidirectional;
use tokio::time::Instant;

use super::refusal::Refusal;
use super::relay::Trip;
use super::{Door, answer, learn, report};
use crate::pipeline::{Bypass, Outcome};
use crate::tap::TapBody;
use crate::upstream::{AnswerBody, AsSent, RequestBody, answer_headers, request_headers};
use crate::wire::ReplyKind;

type Answer = http::Response<AnswerBody>;

/// Relays a request that is no conversation: streamed both ways, unread. A list of models that passes by tells the
/// pipeline their windows.
pub(super) async fn pass(trip: Trip, mut request: Request) -> Result<Response, Refusal> {
    let client = request.headers().contains_key(UPGRADE).then(|| hyper::upgrade::on(&mut request));
    let (parts, body) = request.into_parts();
    let headers = request_headers(&parts.headers, AsSent::Streamed, client.is_some());
    let lists_models = parts.method == Method::GET && is_model_list(parts.uri.path());
    let began = Instant::now();
    let sending = trip.door.upstream.send(parts.method, &trip.target, headers, streamed(body));
    let answer = sending.await.map_err(|error| Refusal::Upstream {
        upstream: trip.target.upstream.as_ref().trim().to_owned(),
        error,
    })?;
    report::passed(&trip.door.metrics, parts.uri.path(), answer.status(), began.elapsed());
    Ok(match client {
        Some(client) if answer.status() == StatusCode::SWITCHING_PROTOCOLS => {
            tunnel(&trip.door, client, answer)
        }
        _ => deliver(trip, answer, lists_models),
    })
}

fn streamed(body: Body) -> RequestBody {
    use http_body::Body as _;
    if body.is_end_stream() { RequestBody::whole(bytes::Bytes::new()) } else { RequestBody::stream(body) }
}

fn deliver(trip: Trip, answer: Answer, lists_models: bool) -> Response {
    let Trip { door, target, arrived, in_flight } = trip;
    let (parts, body) = answer.into_parts();
    let body = body.map_err(report::on_break(&door));
    let learns = lists_models && parts.status.is_success() && is_json(&parts.headers);
    let body = if learns {
        Body::new(learn::copy_models(body, &door, &target, parts.headers.clone()))
    } else {
        Body::new(body)
    };
    let status = parts.status;
    let tapped = TapBody::new(body, None, move |ended| {
        report::ended_unread(&door.metrics, status, arrived.elapsed(), &ended.read());
        drop(in_flight);
    });
    let mut response = Response::new(Body::new(tapped));
    *response.status_mut() = status;
    *response.headers_mut() = answer_headers(parts.headers, false);
    *response.extensions_mut() = parts.extensions;
    mark(response.headers_mut());
    response
}

/// Joins the two connections once both sides have agreed to change the protocol.
fn tunnel(door: &Arc<Door>, client: OnUpgrade, mut answer: Answer) -> Response {
    let upstream = hyper::upgrade::on(&mut answer);
    door.tasks.spawn(async move {
        let (Ok(client), Ok(upstream)) = tokio::join!(client, upstream) else { return };
        let (mut client, mut upstream) = (TokioIo::new(client), TokioIo::new(upstream));
        if let Err(error) = copy_bidirectional(&mut client, &mut upstream).await {
            tracing::debug!(%error, "a tunnelled connection broke off");
        }
    });
    let mut response = Response::new(Body::empty());
    *response.status_mut() = answer.status();
    *response.headers_mut() = answer_headers(std::mem::take(answer.headers_mut()), true);
    mark(response.headers_mut());
    response
}

fn mark(headers: &mut HeaderMap) {
    headers.insert(answer::OUTCOME, answer::outcome(Outcome::Bypassed(Bypass::OtherPath)));
}

fn is_model_list(path: &str) -> bool {
    path.trim_end_matches('/').ends_with("/models")
}

fn is_json(headers: &HeaderMap) -> bool {
    ReplyKind::of(answer::text(headers, &CONTENT_TYPE)) == Some(ReplyKind::Json)
}
