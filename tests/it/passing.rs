//! What is not pruned passes: every byte, at once, both ways.

use crate::support::{Sidecar, Upstream};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

#[tokio::test]
async fn target_headers_and_body_arrive_as_sent_and_nothing_is_added() {
    let upstream = Upstream::open().await;
    let proxy = Sidecar::in_front_of(&upstream.url).await;
    let mut client = proxy.client().await;
    client
        .send(
            "POST /v1/%2F//embeddings?q=%27a%27&x=%zz HTTP/1.1\r\nHost: proxy\r\nAuthorization: Bearer k\r\n\
             X-Two: 1\r\nX-Session-Id: s\r\nAccept: application/json\r\nX-Secateur-Note: n\r\nX-Two: 2\r\nConnection: keep-alive, X-Own\r\n\
             X-Own: gone\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\0\u{1}\u{2}\u{3}",
        )
        .await;
    let mut side = upstream.accept().await;
    let seen = side.message().await;
    assert_eq!(seen.start, "POST /v1/%2F//embeddings?q=%27a%27&x=%zz HTTP/1.1");
    assert_eq!(seen.body, [0, 1, 2, 3]);
    assert_eq!(seen.value("host"), upstream.url.strip_prefix("http://"));
    let mut others: Vec<_> = seen.headers.iter().filter(|(name, _)| name != "host").collect();
    others.retain(|(name, _)| name != "x-two");
    assert_eq!(
        others.iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>(),
        [
            "authorization: Bearer k",
            "x-session-id: s",
            "accept: application/json",
            "content-encoding: gzip",
            "content-length: 4"
        ]
    );
    let twice: Vec<_> =
        seen.headers.iter().filter(|(name, _)| name == "x-two").map(|(_, v)| v.as_str()).collect();
    assert_eq!(twice, ["1", "2"]);

    side.send(
        "HTTP/1.1 299 Odd Words\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nKeep-Alive: timeout=5\r\n\
         Content-Encoding: br\r\nX-Ratelimit: 7\r\nContent-Length: 3\r\n\r\n\u{1}\u{2}\u{3}",
    )
    .await;
    let answer = client.message().await;
    assert_eq!(answer.start, "HTTP/1.1 299 Odd Words");
    assert_eq!(
        answer.names(),
        [
            "set-cookie",
            "set-cookie",
            "content-encoding",
            "x-ratelimit",
            "content-length",
            "x-secateur-outcome"
        ]
    );
    assert_eq!(answer.value("x-secateur-outcome"), Some("bypassed; reason=other_path"));
    assert_eq!(answer.body, [1, 2, 3]);
}

#[tokio::test]
async fn a_conversation_that_cannot_be_read_arrives_as_sent() {
    let upstream = Upstream::open().await;
    let proxy = Sidecar::in_front_of(&upstream.url).await;
    let mut client = proxy.client().await;
    client
        .send(
            "POST /v1/chat/completions HTTP/1.1\r\nHost: p\r\nTransfer-Encoding: chunked\r\n\r\n\
             3\r\n{\"m\r\n2\r\n!!\r\n0\r\n\r\n",
        )
        .await;
    let mut side = upstream.accept().await;
    let seen = side.message().await;
    assert_eq!(seen.body, b"{\"m!!");
    assert_eq!(seen.names(), ["content-length", "accept", "host"]);
    side.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 3\r\n\r\nno!").await;
    let answer = client.message().await;
    assert_eq!((answer.status(), answer.body.as_slice()), (400, b"no!".as_slice()));
    assert_eq!(answer.value("x-secateur-outcome"), Some("bypassed; reason=undecodable"));
}

#[tokio::test]
async fn each_piece_of_an_answer_passes_before_the_next_is_sent() {
    let upstream = Upstream::open().await;
    let proxy = Sidecar::in_front_of(&upstream.url).await;
    let mut client = proxy.client().await;
    client.send("GET /v1/stream HTTP/1.1\r\nHost: p\r\n\r\n").await;
    let mut side = upstream.accept().await;
    assert_eq!(side.head().await.names(), ["accept", "host"]);
    side.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        .await;
    assert_eq!(client.head().await.status(), 200);
    for piece in ["data: a\n\n", ": comment\r\n", "d", "ata: \u{1F600}\r\r"] {
        side.send(format!("{:x}\r\n{piece}\r\n", piece.len())).await;
        assert_eq!(client.chunk().await, piece.as_bytes());
    }
    side.send("0\r\n\r\n").await;
    assert_eq!(client.chunk().await, b"");
}

#[tokio::test]
async fn each_piece_of_an_upload_passes_before_the_next_is_sent() {
    let upstream = Upstream::open().await;
    let proxy = Sidecar::in_front_of(&upstream.url).await;
    let mut client = proxy.client().await;
    client.send("POST /v1/files HTTP/1.1\r\nHost: p\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n").await;
    let mut side = upstream.accept().await;
    assert_eq!(side.head().await.value("transfer-encoding"), Some("chunked"));
    assert_eq!(side.chunk().await, b"ab");
    client.send("1\r\nc\r\n0\r\n\r\n").await;
    assert_eq!(side.chunk().await, b"c");
    assert_eq!(side.chunk().await, b"");
    side.send(OK).await;
    assert_eq!(client.message().await.body, b"ok");
}

#[tokio::test]
async fn a_client_that_waits_for_leave_to_send_gets_it() {
    let upstream = Upstream::open().await;
    let proxy = Sidecar::in_front_of(&upstream.url).await;
    for path in ["/v1/chat/completions", "/v1/files"] {
        let mut client = proxy.client().await;
        let head = "HTTP/1.1\r\nHost: p\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n";
        client.send(format!("POST {path} {head}")).await;
        let (mut side, seen) = tokio::join!(
            async {
                assert_eq!(client.head().await.status(), 100);
                client.send("{}").await;
            },
            async {
                let mut side = upstream.accept().await;
                let seen = side.message().await;
                side.send(format!("HTTP/1.1 200 OK\r\nConnection: close\r\n{}", &OK[17..])).await;
                (side, seen)
            }
        )
        .1;
        assert_eq!(seen.value("expect"), None);
        assert_eq!(seen.body, b"{}");
        assert_eq!(client.message().await.status(), 200);
        side.until_closed().await;
    }
}

#[tokio::test]
async fn a_redirect_is_handed_on_and_not_followed() {
    let upstream = Upstream::open().await;
    let decoy = Upstream::open().await;
    let proxy = Sidecar::in_front_of(&upstream.url).await;
    let mut client = proxy.client().await;
    client.send("POST /v1/chat/completions HTTP/1.1\r\nHost: p\r\nContent-Length: 2\r\n\r\n{}").await;
    let mut side = upstream.accept().await;
    side.message().await;
    side.send(format!("HTTP/1.1 307 Go\r\nLocation: {}/x\r\nContent-Length: 0\r\n\r\n", decoy.url)).await;
    let answer = client.message().await;
    assert_eq!(answer.status(), 307);
    assert_eq!(answer.value("location"), Some(format!("{}/x", decoy.url).as_str()));
    assert!(!decoy.has_visitor().await);
}

#[tokio::test]
async fn answers_without_a_body_keep_their_length() {
    let upstream = Upstream::open().await;
    let proxy = Sidecar::in_front_of(&upstream.url).await;
    let mut client = proxy.client().await;
    client.send("HEAD /v1/files/1 HTTP/1.1\r\nHost: p\r\n\r\n").await;
    let mut side = upstream.accept().await;
    side.head().await;
    side.send("HTTP/1.1 200 OK\r\nContent-Length: 12345\r\n\r\n").await;
    assert_eq!(client.head().await.value("content-length"), Some("12345"));
    client.send("OPTIONS /v1/x HTTP/1.1\r\nHost: p\r\n\r\n").await;
    assert!(side.head().await.start.starts_with("OPTIONS /v1/x "));
    side.send("HTTP/1.1 204 No Content\r\n\r\n").await;
    assert_eq!(client.head().await.status(), 204);
    client.send("POST /v1/cancel HTTP/1.1\r\nHost: p\r\nContent-Length: 0\r\n\r\n").await;
    assert_eq!(side.head().await.value("content-length"), Some("0"));
    side.send(OK).await;
    assert_eq!(client.message().await.body, b"ok");
}

#[tokio::test]
async fn a_websocket_is_refused_where_it_costs_retries_and_tunnelled_elsewhere() {
    let upstream = Upstream::open().await;
    let proxy = Sidecar::in_front_of(&upstream.url).await;
    let offer = "HTTP/1.1\r\nHost: p\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
    let mut refused = proxy.client().await;
    refused.send(format!("GET /v1/responses {offer}")).await;
    let answer = refused.message().await;
    assert_eq!(answer.status(), 426);
    assert_eq!(answer.json()["error"]["code"], "websocket_not_supported");
    assert!(!upstream.has_visitor().await);

    let mut client = proxy.client().await;
    client.send(format!("GET /v1/realtime {offer}")).await;
    let mut side = upstream.accept().await;
    assert_eq!(side.head().await.value("upgrade"), Some("websocket"));
    side.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n").await;
    assert_eq!(client.head().await.status(), 101);
    client.send("ping").await;
    assert_eq!(side.exactly(4).await, b"ping");
    side.send("pong").await;
    assert_eq!(client.exactly(4).await, b"pong");
    drop(side);
    assert_eq!(client.rest().await, b"");
}

#[tokio::test]
async fn a_base_path_and_a_named_upstream_are_reached() {
    let (main, other) = (Upstream::open().await, Upstream::open().await);
    let proxy = Sidecar::with(&format!("{}/api/v1/", main.url), |parts| {
        let named = secateur::upstream::NamedUpstream { url: other.url.clone() };
        parts.upstream.named.insert("local".to_owned(), named);
    })
    .await;
    for (path, upstream, arrives) in
        [("/v1/models", &main, "/api/v1/models"), ("/local/v1/models?a", &other, "/v1/models?a")]
    {
        let mut client = proxy.client().await;
        client.send(format!("GET {path} HTTP/1.1\r\nHost: p\r\n\r\n")).await;
        let mut side = upstream.accept().await;
        assert_eq!(side.head().await.start, format!("GET {arrives} HTTP/1.1"));
        side.send(OK).await;
        assert_eq!(client.message().await.status(), 200);
    }
}
