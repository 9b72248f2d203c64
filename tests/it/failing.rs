//! What goes wrong between client, proxy and upstream is told once, in the API's shape, and costs nothing twice.

use crate::support::{Message, Sidecar, Upstream, Wire};

const CHAT: &str = "POST /v1/chat/completions HTTP/1.1\r\nHost: p\r\nContent-Length: 2\r\n\r\n{}";
const OTHER: &str = "POST /v1/files HTTP/1.1\r\nHost: p\r\nContent-Length: 2\r\n\r\n{}";

fn assert_is_ours(answer: &Message, status: u16, code: &str) {
    assert_eq!(answer.status(), status);
    assert_eq!(answer.value("content-type"), Some("application/json"));
    assert_eq!(answer.value("x-secateur-outcome"), Some("error"));
    let body = answer.json();
    assert_eq!(body["error"]["code"], code);
    assert_eq!(body["error"]["type"], "secateur_error");
    assert!(body["error"]["message"].is_string());
}

#[tokio::test]
async fn an_error_of_ours_has_the_shape_of_the_clients_api() {
    let upstream = Upstream::open().await;
    let url = upstream.url.clone();
    drop(upstream);
    let proxy = Sidecar::in_front_of(&url).await;
    for (path, kind) in
        [("/v1/messages", Some("error")), ("/v1/chat/completions", None), ("/v1/responses", None)]
    {
        let mut client = proxy.client().await;
        client.send(format!("POST {path} HTTP/1.1\r\nHost: p\r\nContent-Length: 2\r\n\r\n{{}}")).await;
        let answer = client.message().await;
        assert_eq!(answer.status(), 502);
        assert_eq!(answer.json()["type"].as_str(), kind, "{path}");
        assert_eq!(answer.json()["error"]["code"], "upstream_unreachable", "{path}");
    }
}

#[tokio::test]
async fn an_upstream_that_is_not_there_is_a_502() {
    let gone = Upstream::open().await.url;
    let proxy = Sidecar::in_front_of(&gone).await;
    for request in [CHAT, OTHER] {
        let mut client = proxy.client().await;
        client.send(request).await;
        let answer = client.message().await;
        assert_is_ours(&answer, 502, "upstream_unreachable");
        let message = answer.json()["error"]["message"].to_string();
        assert!(message.contains(&gone) && message.contains("refused"), "{message}");
    }
}

#[tokio::test]
async fn an_upstream_that_does_not_answer_is_a_504() {
    let upstream = Upstream::open().await;
    let proxy = Sidecar::with(&upstream.url, |parts| parts.upstream.first_byte_timeout_ms = 20).await;
    for request in [CHAT, OTHER] {
        let mut client = proxy.client().await;
        client.send(request).await;
        let mut side = upstream.accept().await;
        side.message().await;
        assert_is_ours(&client.message().await, 504, "upstream_timeout");
        side.until_closed().await;
    }
}

#[tokio::test]
async fn an_upstream_that_reads_and_closes_is_a_502_and_is_not_asked_again() {
    let upstream = Upstream::open().await;
    let proxy = Sidecar::in_front_of(&upstream.url).await;
    for request in [CHAT, OTHER] {
        let mut client = proxy.client().await;
        client.send(request).await;
        let mut side = upstream.accept().await;
        side.message().await;
        drop(side);
        assert_is_ours(&client.message().await, 502, "upstream_no_answer");
        assert!(!upstream.has_visitor().await);
    }
}

#[tokio::test]
async fn a_connection_that_was_closed_while_idle_costs_nothing() {
    let upstream = Upstream::open().await;
    let proxy = Sidecar::in_front_of(&upstream.url).await;
    let mut client = proxy.client().await;
    for _ in 0..3 {
        client.send(CHAT).await;
        let mut side = upstream.accept().await;
        side.message().await;
        side.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
        assert_eq!(client.message().await.status(), 200);
        side.close().await;
    }
    assert!(!upstream.has_visitor().await);
}

#[tokio::test]
async fn an_answer_that_falls_silent_or_breaks_off_cuts_the_client_off() {
    let upstream = Upstream::open().await;
    let proxy = Sidecar::with(&upstream.url, |parts| parts.upstream.idle_timeout_ms = 20).await;
    for (request, is_silent) in [(CHAT, true), (OTHER, true), (CHAT, false), (OTHER, false)] {
        let mut client = proxy.client().await;
        client.send(request).await;
        let mut side = upstream.accept().await;
        side.message().await;
        side.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n").await;
        assert_eq!(client.head().await.status(), 200);
        assert_eq!(client.chunk().await, b"abc");
        if is_silent {
            side.until_closed().await;
        } else {
            drop(side);
        }
        assert_eq!(client.rest().await, b"", "no end of the chunked body may be made up");
    }
    let metrics = String::from_utf8(proxy.ask_admin("/metrics").await.body).unwrap();
    assert!(metrics.contains("secateur_upstream_errors_total{kind=\"upstream_idle\"} 2"), "{metrics}");
    assert!(metrics.contains("secateur_upstream_errors_total{kind=\"upstream_broken\"} 2"), "{metrics}");
}

#[tokio::test]
async fn a_client_that_leaves_takes_its_request_with_it() {
    let upstream = Upstream::open().await;
    let proxy = Sidecar::in_front_of(&upstream.url).await;
    for request in [CHAT, OTHER] {
        for streaming in [false, true] {
            let mut client = proxy.client().await;
            client.send(request).await;
            let mut side = upstream.accept().await;
            side.message().await;
            if streaming {
                side.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n").await;
                client.head().await;
            }
            drop(client);
            side.until_closed().await;
        }
    }
}

#[tokio::test]
async fn a_body_over_the_limit_is_a_413_before_it_is_sent() {
    let upstream = Upstream::open().await;
    let proxy = Sidecar::in_front_of(&upstream.url).await;
    let mut client = proxy.client().await;
    let huge = 300 * 1024 * 1024;
    client
        .send(format!(
            "POST /v1/chat/completions HTTP/1.1\r\nHost: p\r\nExpect: 100-continue\r\nContent-Length: {huge}\r\n\r\n"
        ))
        .await;
    assert_is_ours(&client.message().await, 413, "body_too_large");
    assert!(!upstream.has_visitor().await);
}

#[tokio::test]
async fn a_client_that_sends_too_much_is_heard_out_so_that_it_sees_why() {
    let upstream = Upstream::open().await;
    let limit = secateur::server::Settings::LEAST_BODY_LIMIT;
    let proxy = Sidecar::with(&upstream.url, |parts| parts.server.max_body_bytes = limit).await;
    let mut client = proxy.client().await;
    client.send("POST /v1/chat/completions HTTP/1.1\r\nHost: p\r\nTransfer-Encoding: chunked\r\n\r\n").await;
    let piece = vec![b' '; 0x0010_0000];
    for _ in 0..=limit / 0x0010_0000 {
        client.send("100000\r\n").await;
        client.send(&piece).await;
        client.send("\r\n").await;
    }
    client.send("0\r\n\r\n").await;
    assert_is_ours(&client.message().await, 413, "body_too_large");
    assert!(!upstream.has_visitor().await);
}

#[tokio::test]
async fn a_client_that_stops_in_the_middle_of_its_body_sends_nothing_on() {
    let upstream = Upstream::open().await;
    let proxy = Sidecar::in_front_of(&upstream.url).await;
    let mut client = proxy.client().await;
    client.send("POST /v1/chat/completions HTTP/1.1\r\nHost: p\r\nContent-Length: 9\r\n\r\n{").await;
    client.finish().await;
    assert_is_ours(&client.message().await, 400, "body_incomplete");
    assert!(!upstream.has_visitor().await);
}

#[tokio::test]
async fn a_refusal_too_long_to_be_read_is_handed_on_whole() {
    let upstream = Upstream::open().await;
    let proxy = Sidecar::in_front_of(&upstream.url).await;
    let chat = r#"{"model":"m","messages":[{"role":"user","content":"Hello"}]}"#;
    let mut client = proxy.client().await;
    let head =
        format!("POST /v1/chat/completions HTTP/1.1\r\nHost: p\r\nContent-Length: {}\r\n\r\n", chat.len());
    client.send(head + chat).await;
    let mut side = upstream.accept().await;
    assert_eq!(side.message().await.body, chat.as_bytes());
    let words = "no ".repeat(1024 * 1024);
    side.send(format!("HTTP/1.1 400 Bad Request\r\nContent-Length: {}\r\n\r\n", words.len())).await;
    let (answer, ()) = tokio::join!(client.message(), side.send(&words));
    assert_eq!(answer.status(), 400);
    assert!(answer.body == words.as_bytes());
}

#[tokio::test]
async fn an_error_of_the_upstream_is_handed_on_whole() {
    let upstream = Upstream::open().await;
    let proxy = Sidecar::in_front_of(&upstream.url).await;
    for status in ["400 Bad Request", "413 Too Large", "429 Slow Down", "500 Oops", "529 Overloaded"] {
        let mut client = proxy.client().await;
        client.send(CHAT).await;
        let mut side = upstream.accept().await;
        side.message().await;
        side.send(format!(
            "HTTP/1.1 {status}\r\nRetry-After: 7\r\nConnection: close\r\nContent-Length: 5\r\n\r\nwords"
        ))
        .await;
        let answer = client.message().await;
        assert_eq!(answer.start, format!("HTTP/1.1 {status}"));
        assert_eq!((answer.value("retry-after"), answer.body.as_slice()), (Some("7"), b"words".as_slice()));
        assert!(!upstream.has_visitor().await);
    }
}

#[tokio::test]
async fn what_is_no_path_is_refused() {
    let upstream = Upstream::open().await;
    let proxy = Sidecar::in_front_of(&upstream.url).await;
    for request in
        ["OPTIONS * HTTP/1.1\r\nHost: p\r\n\r\n", "CONNECT host:443 HTTP/1.1\r\nHost: host:443\r\n\r\n"]
    {
        let mut client = Wire::connect(proxy.listen).await;
        client.send(request).await;
        assert_is_ours(&client.message().await, 400, "not_a_path");
    }
}
