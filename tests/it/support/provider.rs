use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::{Message, Wire};

/// An upstream that answers by itself, and remembers what it was sent.
pub(crate) struct Provider {
    /// Its base URL.
    pub(crate) url: String,
    desk: Arc<Desk>,
}

struct Desk {
    received: Mutex<Vec<Message>>,
    arrived: watch::Sender<usize>,
    next: Mutex<VecDeque<Reply>>,
    usual: Reply,
}

/// What a provider answers.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    status: String,
    headers: Vec<(String, String)>,
    pieces: Vec<Vec<u8>>,
    is_stream: bool,
    breaks_off: bool,
    waits_for: usize,
}

impl Provider {
    /// One whose answers tell that the request had `input` tokens.
    pub(crate) async fn answering(input: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        let desk = Arc::new(Desk {
            received: Mutex::default(),
            arrived: watch::Sender::new(0),
            next: Mutex::default(),
            usual: Reply::telling(input),
        });
        let serving = Arc::clone(&desk);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(Arc::clone(&serving).serve(Wire::new(stream)));
            }
        });
        Self { url, desk }
    }

    /// The next request that nobody has a reply for yet gets this one.
    pub(crate) fn will(&self, reply: Reply) -> &Self {
        self.desk.next.lock().expect("no test panicked here").push_back(reply);
        self
    }

    /// All requests so far, in order.
    pub(crate) fn received(&self) -> Vec<Message> {
        self.desk.received.lock().expect("no test panicked here").clone()
    }
}

impl Desk {
    async fn serve(self: Arc<Self>, mut wire: Wire) {
        while let Some(request) = wire.next().await {
            let reply = self.take_in(request);
            let mut arrived = self.arrived.subscribe();
            if arrived.wait_for(|so_far| *so_far >= reply.waits_for).await.is_err() {
                return;
            }
            reply.write(&mut wire).await;
            if reply.breaks_off {
                return;
            }
        }
    }

    fn take_in(&self, request: Message) -> Reply {
        let reply = self.next.lock().expect("no test panicked here").pop_front();
        self.received.lock().expect("no test panicked here").push(request);
        self.arrived.send_modify(|so_far| *so_far += 1);
        reply.unwrap_or_else(|| self.usual.clone())
    }
}

impl Reply {
    /// Any status and body.
    pub(crate) fn new(status: &str, body: impl AsRef<[u8]>) -> Self {
        Self {
            status: status.to_owned(),
            headers: Vec::new(),
            pieces: vec![body.as_ref().to_vec()],
            is_stream: false,
            breaks_off: false,
            waits_for: 0,
        }
    }

    /// A JSON body.
    pub(crate) fn json(status: &str, body: &Value) -> Self {
        Self::new(status, body.to_string()).header("Content-Type", "application/json")
    }

    /// A short answer that tells that the request had `input` tokens and the answer 5.
    pub(crate) fn telling(input: u64) -> Self {
        Self::with_usage(&json!({"prompt_tokens": input, "completion_tokens": 5, "total_tokens": input + 5}))
    }

    /// A short answer with this `usage`.
    pub(crate) fn with_usage(usage: &Value) -> Self {
        let message = json!({"role": "assistant", "content": "Well."});
        let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
        Self::json(
            "200 OK",
            &json!({"id": "c", "object": "chat.completion", "choices": [choice], "usage": usage}),
        )
    }

    /// A refusal as too large for the model, by numbers and by code.
    pub(crate) fn overflow(asked: u64, limit: u64) -> Self {
        let message =
            format!("The context is limited to {limit} tokens, and the request has {asked} of them.");
        let error = json!({"message": message, "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded"});
        Self::json("400 Bad Request", &json!({"error": error}))
    }

    /// An event stream, each of the pieces written by itself.
    pub(crate) fn stream(pieces: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Self {
        let pieces = pieces.into_iter().map(|piece| piece.as_ref().to_vec()).collect();
        Self { is_stream: true, pieces, ..Self::new("200 OK", "") }
            .header("Content-Type", "text/event-stream")
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A header's value.
    pub(crate) fn header_of(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// Is written only when the provider has got this many requests in all.
    pub(crate) fn once_received(self, requests: usize) -> Self {
        Self { waits_for: requests, ..self }
    }

    /// The connection breaks off behind what is written.
    pub(crate) fn breaking_off(self) -> Self {
        Self { breaks_off: true, ..self }
    }

    /// No answer: the connection is closed when the request has come.
    pub(crate) fn none() -> Self {
        Self::new("", "").breaking_off()
    }

    /// Its body.
    pub(crate) fn body(&self) -> Vec<u8> {
        self.pieces.concat()
    }

    async fn write(&self, wire: &mut Wire) {
        if self.status.is_empty() {
            return;
        }
        let mut head = format!("HTTP/1.1 {}\r\n", self.status);
        for (name, value) in &self.headers {
            head.extend([name, ": ", value, "\r\n"]);
        }
        if !self.is_stream {
            let body = self.body();
            wire.send(format!("{head}Content-Length: {}\r\n\r\n", body.len())).await;
            wire.send(body).await;
            return;
        }
        wire.send(format!("{head}Transfer-Encoding: chunked\r\n\r\n")).await;
        for piece in self.pieces.iter().filter(|piece| !piece.is_empty()) {
            let size = format!("{:x}\r\n", piece.len());
            wire.send([size.as_bytes(), piece, b"\r\n"].concat()).await;
        }
        if !self.breaks_off {
            wire.send("0\r\n\r\n").await;
        }
    }
}
