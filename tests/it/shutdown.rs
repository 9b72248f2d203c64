//! The end: no new connections, answers under way end, nothing idle holds it up.

use crate::support::{Sidecar, Upstream, within};
use tokio::net::TcpStream;

#[tokio::test]
async fn idle_connections_do_not_hold_it_up() {
    let upstream = Upstream::open().await;
    let proxy = Sidecar::in_front_of(&upstream.url).await;
    let unused = proxy.client().await;
    let mut used = proxy.client().await;
    used.send("GET /v1/x HTTP/1.1\r\nHost: p\r\n\r\n").await;
    let mut side = upstream.accept().await;
    side.head().await;
    side.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    assert_eq!(used.message().await.body, b"ok");
    within(proxy.end()).await.unwrap();
    assert_eq!(unused.rest().await, b"");
    assert_eq!(used.rest().await, b"");
}

#[tokio::test]
async fn an_answer_under_way_ends_first() {
    let upstream = Upstream::open().await;
    let proxy = Sidecar::in_front_of(&upstream.url).await;
    let listen = proxy.listen;
    let mut client = proxy.client().await;
    client.send("GET /v1/x HTTP/1.1\r\nHost: p\r\n\r\n").await;
    let mut side = upstream.accept().await;
    side.head().await;
    side.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n").await;
    client.head().await;
    assert_eq!(client.chunk().await, b"a");
    let end = proxy.end();
    within(async { while TcpStream::connect(listen).await.is_ok() {} }).await;
    side.send("1\r\nb\r\n0\r\n\r\n").await;
    assert_eq!(client.chunk().await, b"b");
    assert_eq!(client.chunk().await, b"");
    within(end).await.unwrap();
}

#[tokio::test]
async fn an_answer_that_does_not_end_is_cut_off_after_the_grace_period() {
    let upstream = Upstream::open().await;
    let proxy = Sidecar::with(&upstream.url, |parts| parts.server.shutdown_grace_ms = 20).await;
    let mut client = proxy.client().await;
    client.send("GET /v1/x HTTP/1.1\r\nHost: p\r\n\r\n").await;
    let mut side = upstream.accept().await;
    side.head().await;
    side.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n").await;
    client.head().await;
    within(proxy.end()).await.unwrap();
    side.until_closed().await;
    assert_eq!(client.rest().await, b"1\r\na\r\n");
}
