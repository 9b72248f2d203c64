//! Keys and words of a conversation stay out of all that the program says, at the most talkative level.

use std::fs;
use std::net::SocketAddr;

use serde_json::json;
use tempfile::TempDir;

use crate::support::{
    Conversation, Message, Provider, Reply, Served, Wire, eventually, lines, secateur, within,
};

/// Everything that must never be said; each stands in what is sent.
const SECRETS: [&str; 14] = [
    "sk-authorization",
    "sk-api-key",
    "sk-azure",
    "sk-goog",
    "sk-cookie",
    "sk-proxy",
    "sk-own-header",
    "sk-in-query",
    "user words",
    "secret sheep",
    "argument words",
    "words of the answer",
    "words of the refusal",
    "words of no json",
];

const KEYS: &str = "Authorization: Bearer sk-authorization\r\nX-Api-Key: sk-api-key\r\nApi-Key: sk-azure\r\n\
    X-Goog-Api-Key: sk-goog\r\nCookie: session=sk-cookie\r\nProxy-Authorization: Basic sk-proxy\r\n\
    X-My-Token: sk-own-header\r\n";

/// A program that says all it can, and prunes whatever is old.
struct Talkative {
    provider: Provider,
    served: Served,
    listen: SocketAddr,
    _folder: TempDir,
}

impl Talkative {
    async fn start(level: &str, format: &str) -> Self {
        let provider = Provider::answering(60_000).await;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secateur.toml");
        let gone = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
        let config = format!(
            "[upstream]\nurl = \"{}\"\n[upstreams.gone]\nurl = \"http://{gone}\"\n\
             [pruning]\npruning_threshold = 50000\ntrigger_every_n_tokens = 1000\nkeep_recent_tokens = 1\nkeep_recent_messages = 2\n\
             soft_threshold = 0\nhard_threshold = 0\n[log]\nlevel = \"{level}\"\nformat = \"{format}\"\n",
            provider.url
        );
        fs::write(&file, config).unwrap();
        let mut command = secateur(&["serve", "--config", file.to_str().unwrap()]);
        let served = Served::run(command.args(["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"]));
        let listen = served.listen();
        Self { provider, served, listen, _folder: folder }
    }

    async fn posts(&self, path: &str, headers: &str, body: &[u8]) -> Message {
        let mut wire = Wire::connect(self.listen).await;
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: p\r\n{KEYS}{headers}Content-Length: {}\r\n\r\n",
            body.len()
        );
        wire.send([head.as_bytes(), body].concat()).await;
        wire.message().await
    }

    async fn ask_admin(&self, path: &str) -> Message {
        let mut wire = Wire::connect(self.served.admin()).await;
        wire.send(format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n")).await;
        wire.message().await
    }
}

fn talk() -> Conversation {
    Conversation::new()
        .user("user words")
        .step("call_a", "count", json!({"n": "argument words"}), lines("secret sheep", 80))
        .step("call_b", "count", json!({"n": "more argument words"}), lines("more secret sheep", 80))
}

/// One request of every kind, well and badly answered.
async fn everything(program: &Talkative) -> Vec<Message> {
    let chat = "/v1/chat/completions?key=sk-in-query";
    let said = Reply::with_usage(&json!({"prompt_tokens": 60_000, "x": "words of the answer"}));
    let refused =
        json!({"error": {"message": "words of the refusal sk-authorization", "code": "invalid_api_key"}});
    let too_large =
        json!({"error": {"message": "words of the refusal: 48000 tokens > 16000 maximum context"}});
    program.provider.will(said.clone()).will(said);
    let body = talk().body();
    program.posts(chat, "X-Session-Id: s1\r\n", &body).await;
    eventually(async || program.ask_admin("/sessions").await.text().contains("60000").then_some(())).await;
    let pruned = program.posts(chat, "X-Session-Id: s1\r\n", &body).await;
    assert_eq!(pruned.value("x-secateur-outcome"), Some("pruned"));
    for reply in [
        Reply::json("401 Unauthorized", &refused),
        Reply::json("400 Bad Request", &too_large),
        Reply::telling(9_000),
        Reply::json("500 Oops", &refused),
        Reply::stream(["data: {\"words of the answer\":1}\n\n", "data: words of the answer\n\n"]),
    ] {
        program.provider.will(reply);
    }
    let mut answers = Vec::new();
    for _ in 0..4 {
        answers.push(program.posts(chat, "", &body).await);
    }
    let statuses: Vec<u16> = answers.iter().map(Message::status).collect();
    assert_eq!(statuses, [401, 200, 500, 200]);
    program.posts(chat, "", b"words of no json").await;
    program.posts(chat, "Content-Encoding: gzip\r\n", b"words of no json").await;
    program.posts("/v1/embeddings?key=sk-in-query", "", b"words of no json").await;
    program
        .posts("/v1/responses?key=sk-in-query", "Connection: upgrade\r\nUpgrade: websocket\r\n", b"")
        .await;
    let mut own = Vec::new();
    for path in ["/gone/v1/chat/completions?key=sk-in-query", "/gone/v1/files?key=sk-in-query"] {
        let answer = program.posts(path, "", &body).await;
        assert_eq!(answer.status(), 502);
        own.push(answer);
    }
    program.provider.will(Reply::none()).will(Reply::stream(["x"]).breaking_off());
    let cut = program.posts(chat, "", &body).await;
    assert_eq!(cut.status(), 502);
    own.push(cut);
    own
}

fn assert_silent(what: &str, said: &str) {
    for secret in SECRETS {
        assert!(!said.contains(secret), "{what} says {secret:?}:\n{said}");
    }
}

#[tokio::test]
#[cfg(unix)]
async fn no_key_and_no_word_is_ever_said() {
    // The second makes every library talk as well.
    for (level, format) in [("trace", "text"), ("trace,hyper=trace", "json")] {
        let program = Talkative::start(level, format).await;
        for answer in everything(&program).await {
            assert_silent("an answer of ours", answer.text());
        }
        for path in ["/metrics", "/sessions", "/healthz", "/readyz"] {
            assert_silent(path, program.ask_admin(path).await.text());
        }
        let sessions = program.ask_admin("/sessions").await.json();
        for session in sessions["sessions"].as_array().unwrap() {
            let id = session["id"].as_str().unwrap();
            assert_silent(id, program.ask_admin(&format!("/sessions/{id}")).await.text());
        }
        let Talkative { served, .. } = program;
        served.signal("-TERM");
        let (code, log) = within(tokio::task::spawn_blocking(|| served.end())).await.unwrap();
        assert_eq!(code, Some(0));
        assert_silent("the log", &log);
        // It did talk.
        for event in ["usage_update", "prune", "bypass", "recover", "no answer from the upstream"] {
            assert!(log.contains(event), "{event}:\n{log}");
        }
    }
}
