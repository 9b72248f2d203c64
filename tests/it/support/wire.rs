use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// One connection, seen as bytes.
pub(crate) struct Wire {
    stream: TcpStream,
    read: Vec<u8>,
}

/// A request or an answer, as it was on the wire.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    /// The request line or status line.
    pub(crate) start: String,
    /// Header lines in order, names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    /// The body, chunks joined.
    pub(crate) body: Vec<u8>,
}

/// Waits for `event`, and fails the test when it does not come.
pub(crate) async fn within<T>(event: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(20), event).await.expect("the event comes in time")
}

/// Looks until there is something to be seen.
pub(crate) async fn eventually<T>(mut look: impl AsyncFnMut() -> Option<T>) -> T {
    within(async {
        loop {
            if let Some(seen) = look().await {
                return seen;
            }
            tokio::task::yield_now().await;
        }
    })
    .await
}

impl Wire {
    pub(crate) fn new(stream: TcpStream) -> Self {
        stream.set_nodelay(true).expect("a socket");
        Self { stream, read: Vec::new() }
    }

    pub(crate) async fn connect(address: SocketAddr) -> Self {
        Self::new(within(TcpStream::connect(address)).await.expect("someone listens"))
    }

    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        within(self.stream.write_all(bytes.as_ref())).await.expect("the other side reads");
    }

    /// Reads up to and with `end`.
    pub(crate) async fn until(&mut self, end: &str) -> Vec<u8> {
        loop {
            let found = self.read.windows(end.len()).position(|window| window == end.as_bytes());
            if let Some(place) = found {
                return self.read.drain(..place + end.len()).collect();
            }
            let got = within(self.stream.read_buf(&mut self.read)).await.expect("a working connection");
            assert!(got > 0, "closed before {end:?} came; got {:?}", String::from_utf8_lossy(&self.read));
        }
    }

    /// Reads exactly this many bytes.
    pub(crate) async fn exactly(&mut self, bytes: usize) -> Vec<u8> {
        while self.read.len() < bytes {
            let got = within(self.stream.read_buf(&mut self.read)).await.expect("a working connection");
            assert!(got > 0, "closed too early; got {:?}", String::from_utf8_lossy(&self.read));
        }
        self.read.drain(..bytes).collect()
    }

    /// Reads until the other side closes or resets the connection.
    pub(crate) async fn rest(mut self) -> Vec<u8> {
        self.until_closed().await;
        self.read
    }

    /// Waits until the other side closes or resets the connection.
    pub(crate) async fn until_closed(&mut self) {
        while matches!(within(self.stream.read_buf(&mut self.read)).await, Ok(1..)) {}
    }

    /// Says that it will send no more; it still reads.
    pub(crate) async fn finish(&mut self) {
        within(self.stream.shutdown()).await.expect("a working connection");
    }

    /// Closes its own side, and waits until the other side has closed too.
    pub(crate) async fn close(mut self) {
        within(self.stream.shutdown()).await.expect("a working connection");
        self.until_closed().await;
    }

    /// Reads a head.
    pub(crate) async fn head(&mut self) -> Message {
        let head = String::from_utf8(self.until("\r\n\r\n").await).expect("heads are text");
        let mut lines = head.trim_end().split("\r\n");
        let start = lines.next().unwrap_or_default().to_owned();
        let pair = |line: &str| line.split_once(": ").map(|(n, v)| (n.to_lowercase(), v.to_owned()));
        Message { start, headers: lines.filter_map(pair).collect(), body: Vec::new() }
    }

    /// Waits for the next message, however long it takes; `None` when the other side closes instead.
    pub(crate) async fn next(&mut self) -> Option<Message> {
        if self.read.is_empty() && !matches!(self.stream.read_buf(&mut self.read).await, Ok(1..)) {
            return None;
        }
        Some(self.message().await)
    }

    /// Reads a chunk of a chunked body; empty at its end.
    pub(crate) async fn chunk(&mut self) -> Vec<u8> {
        let size = String::from_utf8(self.until("\r\n").await).expect("chunk sizes are text");
        let size = usize::from_str_radix(size.trim(), 16).expect("chunk sizes are hexadecimal");
        let data = self.exactly(size).await;
        self.until("\r\n").await;
        data
    }

    /// Reads a head and its body.
    pub(crate) async fn message(&mut self) -> Message {
        let mut message = self.head().await;
        if message.value("transfer-encoding").is_some() {
            loop {
                let chunk = self.chunk().await;
                if chunk.is_empty() {
                    break;
                }
                message.body.extend(chunk);
            }
        } else if let Some(length) = message.value("content-length") {
            message.body = self.exactly(length.parse().expect("a number")).await;
        }
        message
    }
}

impl Message {
    /// The value of a header that stands at most once.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        let mut all = self.headers.iter().filter(|(n, _)| n == name).map(|(_, value)| value.as_str());
        let value = all.next();
        assert_eq!(all.next(), None, "{name} stands more than once");
        value
    }

    /// The names of its headers, in order.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.headers.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// The status code of an answer.
    pub(crate) fn status(&self) -> u16 {
        self.start.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status line")
    }

    /// The body as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }

    /// The body as text.
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("text")
    }

    /// The messages of a chat request as they are spelt.
    pub(crate) fn spelt_messages(&self) -> Vec<String> {
        let request = super::Members::of(&self.body);
        let messages: Vec<Box<serde_json::value::RawValue>> =
            serde_json::from_str(request.get("messages").expect("messages")).expect("a list");
        messages.iter().map(|message| message.get().to_owned()).collect()
    }

    /// The message at this place of a chat request.
    pub(crate) fn message(&self, place: usize) -> serde_json::Value {
        self.json()["messages"][place].clone()
    }
}
