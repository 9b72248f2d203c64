//! The program itself, told to end while it is at work.

use tokio::net::TcpStream;

use crate::support::{Conversation, Served, Upstream, Wire, within};

#[tokio::test]
#[cfg(unix)]
async fn a_running_stream_ends_and_then_the_program_with_0() {
    for signal in ["-TERM", "-INT"] {
        let upstream = Upstream::open().await;
        let served = Served::start(&["serve", "--upstream", &upstream.url]);
        let (listen, admin) = (served.listen(), served.admin());
        let body = Conversation::new().user("Tell a long story.").with("stream", true).body();
        let mut client = Wire::connect(listen).await;
        let length = body.len();
        let head =
            format!("POST /v1/chat/completions HTTP/1.1\r\nHost: p\r\nContent-Length: {length}\r\n\r\n");
        client.send([head.as_bytes(), &body].concat()).await;
        let mut side = upstream.accept().await;
        assert_eq!(side.message().await.body, body);
        side.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            .await;
        client.head().await;

        served.signal(signal);
        within(async { while TcpStream::connect(listen).await.is_ok() {} }).await;
        let mut asking = Wire::connect(admin).await;
        asking.send("GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n").await;
        assert_eq!(asking.message().await.status(), 503, "nobody is to send it more");

        for piece in ["data: {\"choices\":[]}\n\n", "data: [DONE]\n\n"] {
            side.send(format!("{:x}\r\n{piece}\r\n", piece.len())).await;
            assert_eq!(client.chunk().await, piece.as_bytes());
        }
        side.send("0\r\n\r\n").await;
        assert_eq!(client.chunk().await, b"");
        let (code, log) = within(tokio::task::spawn_blocking(|| served.end())).await.unwrap();
        assert_eq!(code, Some(0), "{log}");
        assert!(log.contains("shutting down"), "{log}");
    }
}
