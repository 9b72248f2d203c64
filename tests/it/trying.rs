//! What a stranger tries first: the demo, and a long conversation with the mock upstream through the proxy.

use secateur::mock::agent::chat::{self, History};
use secateur::mock::agent::{Agent, AgentOptions};
use secateur::mock::{self, MockOptions, Script};
use tokio::process::Command;

use crate::support::{Message, Sidecar, Wire, within};

async fn demo(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_secateur"));
    let output = within(command.arg("demo").args(arguments).output()).await.expect("the binary starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("a table is text")
}

#[tokio::test]
async fn the_demo_shows_each_request_and_ends() {
    let arguments = ["--seed", "3", "--turns", "30", "--tokens", "40000", "--threshold", "16000"];
    let shown = demo(&arguments).await;
    let row = |line: &&str| line.trim_start().starts_with(|c: char| c.is_ascii_digit()) && line.contains('%');
    assert_eq!(shown.lines().filter(row).count(), 30, "{shown}");
    assert!(shown.contains("prune 1: ") && shown.contains("the same "), "{shown}");
    assert!(shown.contains("tokens sent") && shown.contains("billed equivalent"), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 100), "{shown}");
    assert_eq!(demo(&arguments).await, shown, "the seed decides");
}

fn post(body: &str) -> String {
    let length = body.len();
    format!("POST /v1/chat/completions HTTP/1.1\r\nHost: api\r\nContent-Length: {length}\r\n\r\n{body}")
}

/// Plays a conversation through the proxy, and returns how the requests fared.
async fn play(proxy: &Sidecar, options: &AgentOptions) -> Vec<Message> {
    let conversation = Agent::new(8).conversation(options);
    let mut history = History::new(&conversation);
    let mut wire = Wire::connect(proxy.listen).await;
    let mut answers = Vec::new();
    while let Some(messages) = history.advance() {
        wire.send(post(&chat::body(&conversation, "mock", &messages))).await;
        answers.push(wire.message().await);
    }
    answers
}

fn pruned(answer: &Message) -> bool {
    answer.value("x-secateur-outcome") == Some("pruned")
}

#[tokio::test]
async fn a_long_conversation_is_pruned_and_never_refused() {
    let mock = mock::spawn(MockOptions::default()).await.expect("a free port");
    let url = format!("http://{mock}");
    for reused_ids in [false, true] {
        let proxy = Sidecar::with(&url, |parts| {
            parts.pipeline.default.pruning.pruning_threshold = 15_000.0;
        });
        let proxy = proxy.await;
        let options =
            AgentOptions { target_tokens: Some(60_000), parallel: 0.4, reused_ids, ..Default::default() };
        let answers = play(&proxy, &options).await;
        assert!(answers.iter().all(|answer| answer.status() == 200));
        assert!(answers.iter().filter(|answer| pruned(answer)).count() > 20);
    }
}

#[tokio::test]
async fn a_conversation_beyond_the_window_goes_on() {
    let models = [("mock".to_owned(), 30_000)].into();
    let mock = mock::spawn(MockOptions { models, ..MockOptions::default() }).await.expect("a free port");
    let proxy = Sidecar::in_front_of(&format!("http://{mock}")).await;
    let options = AgentOptions { target_tokens: Some(60_000), ..AgentOptions::default() };
    let answers = play(&proxy, &options).await;
    let refused = answers.iter().filter(|answer| answer.status() != 200).count();
    assert_eq!(refused, 0, "the default threshold lies above the window: only recovery helps");
    assert!(pruned(&answers[answers.len() - 1]));
}

#[tokio::test]
async fn a_stream_that_the_script_cuts_breaks_off_at_the_client() {
    let script = Script::parse("{\"request\": 1, \"cut_after_chunks\": 2}").expect("a script");
    let mock = mock::spawn(MockOptions { script, ..MockOptions::default() }).await.expect("a free port");
    let proxy = Sidecar::in_front_of(&format!("http://{mock}")).await;
    let body = r#"{"model":"mock","stream":true,"messages":[{"role":"user","content":"go"}]}"#;
    let mut wire = proxy.client().await;
    wire.send(post(body)).await;
    assert_eq!(wire.head().await.status(), 200);
    let rest = String::from_utf8(wire.rest().await).expect("events are text");
    assert_eq!(rest.matches("data: ").count(), 2);
    assert!(!rest.contains("[DONE]") && !rest.ends_with("0\r\n\r\n"), "{rest}");
    let mut again = proxy.client().await;
    again.send(post(&body.replace("true", "false"))).await;
    assert_eq!(again.message().await.status(), 200);
}
