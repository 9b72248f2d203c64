use std::sync::Arc;

use axum::Router;
use axum::routing::get;

use super::{Door, admin, layers, relay};

/// What clients reach: every path and method is relayed, so that nothing of ours can collide with an upstream's.
pub fn proxy_router(door: Arc<Door>) -> Router {
    layers::around_relay(Router::new().fallback(relay::relay).with_state(door))
}

/// What people and machines that look after the proxy reach.
pub fn admin_router(door: Arc<Door>) -> Router {
    Router::new()
        .route("/healthz", get(admin::show_health))
        .route("/readyz", get(admin::show_readiness))
        .route("/metrics", get(admin::show_metrics))
        .route("/sessions", get(admin::list_sessions))
        .route("/sessions/{id}", get(admin::show_session))
        .with_state(door)
}
