use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use http::header::UPGRADE;
use http::{HeaderMap, Method};
use tokio::time::Instant;

use super::door::{Door, InFlight};
use super::refusal::Refusal;
use super::{answer, converse, pass, report};
use crate::upstream::Target;

/// A request on its way: what is known of it from its arrival to the last byte of its answer.
pub(super) struct Trip {
    pub(super) door: Arc<Door>,
    pub(super) target: Target,
    pub(super) arrived: Instant,
    pub(super) in_flight: InFlight,
}

/// Hands a request on to its upstream and the answer back.
pub(super) async fn relay(State(door): State<Arc<Door>>, request: Request) -> Response {
    let format = door.pipeline.codec(request.uri().path()).map(|codec| codec.format());
    match forward(&door, request).await {
        Ok(response) => response,
        Err(refusal) => {
            report::refused(&door.metrics, &refusal);
            refusal.answer(format)
        }
    }
}

async fn forward(door: &Arc<Door>, request: Request) -> Result<Response, Refusal> {
    if offers_websocket(request.headers()) && ends_with_responses(request.uri().path()) {
        return Err(Refusal::WebSocket);
    }
    let trip = Trip {
        target: door.targets.resolve(request.uri())?,
        arrived: Instant::now(),
        in_flight: door.enter(),
        door: Arc::clone(door),
    };
    match door.pipeline.codec(request.uri().path()) {
        Some(codec) if request.method() == Method::POST => {
            let codec = Arc::clone(codec);
            converse::converse(trip, codec, request).await
        }
        _ => pass::pass(trip, request).await,
    }
}

/// Clients that try a WebSocket first go on with plain requests at once when it is refused; an upstream's answer
/// would cost them retries.
fn ends_with_responses(path: &str) -> bool {
    path.trim_end_matches('/').ends_with("/responses")
}

fn offers_websocket(headers: &HeaderMap) -> bool {
    answer::text(headers, &UPGRADE).is_some_and(|protocol| protocol.trim().eq_ignore_ascii_case("websocket"))
}
