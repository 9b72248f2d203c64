use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::CONTENT_TYPE;
use serde_json::json;

use super::{Door, answer};
use crate::telemetry::Sessions;

/// Whether the process runs.
pub(super) async fn show_health() -> &'static str {
    "ok\n"
}

/// Whether requests should be sent here; not any more once the program is told to end.
pub(super) async fn show_readiness(State(door): State<Arc<Door>>) -> (StatusCode, &'static str) {
    if door.closing.is_cancelled() {
        (StatusCode::SERVICE_UNAVAILABLE, "shutting down\n")
    } else {
        (StatusCode::OK, "ready\n")
    }
}

/// All metrics in the text format of Prometheus.
pub(super) async fn show_metrics(State(door): State<Arc<Door>>) -> Response {
    let stats = door.pipeline.store_stats();
    door.metrics.sessions(&Sessions {
        kept: stats.sessions,
        bytes: stats.bytes,
        evicted: [("full", stats.evicted_full), ("idle", stats.evicted_idle)],
    });
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], door.metrics.render()).into_response()
}

/// All sessions, latest first.
pub(super) async fn list_sessions(State(door): State<Arc<Door>>) -> Response {
    answer::json(StatusCode::OK, &json!({"sessions": door.pipeline.sessions().await}))
}

/// One session.
pub(super) async fn show_session(State(door): State<Arc<Door>>, Path(id): Path<String>) -> Response {
    if let Some(session) = door.pipeline.session(&id).await {
        return answer::json(StatusCode::OK, &json!(session));
    }
    let error = json!({"error": {
        "message": "there is no such session; GET /sessions lists those that are remembered",
        "type": "secateur_error", "param": null, "code": "no_such_session",
    }});
    answer::json(StatusCode::NOT_FOUND, &error)
}
