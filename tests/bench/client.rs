//! A client that costs little: HTTP/1.1 over one kept connection, written by hand.

use std::net::SocketAddr;

use anyhow::{Context as _, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// A kept connection.
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// How an answer's body is framed.
enum Framing {
    Length(usize),
    Chunked,
}

impl Connection {
    /// Connects.
    ///
    /// # Errors
    /// When nobody listens.
    pub(crate) async fn open(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(64 * 1024) })
    }

    /// Sends a request, as [`request`] wrote it, and reads the answer to its end. `on_data` sees the body piece by
    /// piece as it comes. Returns the answer's head.
    ///
    /// # Errors
    /// When the connection breaks off, or the answer's status is not 200.
    pub(crate) async fn exchange(
        &mut self,
        request: &[u8],
        mut on_data: impl FnMut(&[u8]),
    ) -> anyhow::Result<String> {
        self.buffer.clear();
        self.stream.write_all(request).await?;
        let end = loop {
            if let Some(at) = memchr::memmem::find(&self.buffer, b"\r\n\r\n") {
                break at + 4;
            }
            self.fill().await?;
        };
        let head = std::str::from_utf8(&self.buffer[..end])?.to_ascii_lowercase();
        self.buffer.drain(..end);
        ensure!(head.starts_with("http/1.1 200 "), "the answer is {head}");
        match framing(&head)? {
            Framing::Length(mut left) => {
                while left > 0 {
                    if self.buffer.is_empty() {
                        self.fill().await?;
                    }
                    on_data(&self.buffer);
                    left -= self.buffer.len();
                    self.buffer.clear();
                }
            }
            Framing::Chunked => while self.chunk(&mut on_data).await? {},
        }
        Ok(head)
    }

    /// Reads one chunk; `false` after the last.
    async fn chunk(&mut self, on_data: &mut impl FnMut(&[u8])) -> anyhow::Result<bool> {
        let line = loop {
            if let Some(at) = memchr::memmem::find(&self.buffer, b"\r\n") {
                break at;
            }
            self.fill().await?;
        };
        let size = usize::from_str_radix(std::str::from_utf8(&self.buffer[..line])?, 16)?;
        let whole = line + 2 + size + 2;
        while self.buffer.len() < whole {
            self.fill().await?;
        }
        on_data(&self.buffer[line + 2..line + 2 + size]);
        self.buffer.drain(..whole);
        Ok(size > 0)
    }

    async fn fill(&mut self) -> anyhow::Result<()> {
        let read = self.stream.read_buf(&mut self.buffer).await?;
        ensure!(read > 0, "the connection broke off");
        Ok(())
    }
}

/// Writes a request for a conversation of a session, whole.
pub(crate) fn request(into: &mut Vec<u8>, session: &str, body: &[&[u8]]) {
    let length: usize = body.iter().map(|piece| piece.len()).sum();
    into.clear();
    into.extend_from_slice(
        format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: bench\r\nuser-agent: bench/1\r\naccept: application/json\r\n\
             accept-encoding: identity\r\nauthorization: Bearer sk-bench\r\ncontent-type: application/json\r\n\
             x-session-id: {session}\r\ncontent-length: {length}\r\n\r\n"
        )
        .as_bytes(),
    );
    for piece in body {
        into.extend_from_slice(piece);
    }
}

fn framing(head: &str) -> anyhow::Result<Framing> {
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    match length {
        Some(length) => Ok(Framing::Length(length.trim().parse()?)),
        None => head
            .contains("transfer-encoding: chunked")
            .then_some(Framing::Chunked)
            .context("the answer has no length"),
    }
}
