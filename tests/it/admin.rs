//! The admin port, and that nothing of it shows where clients connect.

use crate::support::{Sidecar, Upstream};

#[tokio::test]
async fn health_metrics_and_sessions_are_shown() {
    let upstream = Upstream::open().await;
    let proxy = Sidecar::in_front_of(&upstream.url).await;
    assert_eq!(proxy.ask_admin("/healthz").await.status(), 200);
    assert_eq!(proxy.ask_admin("/readyz").await.status(), 200);
    let sessions = proxy.ask_admin("/sessions").await;
    assert_eq!(sessions.json(), serde_json::json!({"sessions": []}));
    assert_eq!(proxy.ask_admin("/sessions/none").await.status(), 404);
    assert_eq!(proxy.ask_admin("/v1/models").await.status(), 404);
    let metrics = proxy.ask_admin("/metrics").await;
    assert!(metrics.value("content-type").is_some_and(|kind| kind.starts_with("text/plain; version=0.0.4")));
    assert!(String::from_utf8(metrics.body).unwrap().contains("secateur_sessions 0"));
}

#[tokio::test]
async fn a_client_that_asks_for_an_admin_path_reaches_the_upstream() {
    let upstream = Upstream::open().await;
    let proxy = Sidecar::in_front_of(&upstream.url).await;
    for path in ["/healthz", "/metrics", "/sessions"] {
        let mut client = proxy.client().await;
        client.send(format!("GET {path} HTTP/1.1\r\nHost: p\r\n\r\n")).await;
        let mut side = upstream.accept().await;
        assert_eq!(side.head().await.start, format!("GET {path} HTTP/1.1"));
        side.send("HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n").await;
        assert_eq!(client.message().await.status(), 404);
    }
}
