//! The story of requests, told turn by turn without any HTTP.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};

use super::*;
use crate::model::{ManualClock, Usage};
use crate::prune::{ModelPolicy, Settings as Pruning};
use crate::session::{MemoryStore, Settings as SessionSettings};
use crate::tap::{Ending, TapEnd};

mod messages;
mod thinking;

const GONE: &str = "[gone]";

fn pruning() -> Pruning {
    Pruning {
        pruning_threshold: 50_000.0,
        trigger_every_n_tokens: 1_000,
        keep_recent_tokens: 1,
        keep_recent_messages: 2,
        soft_threshold: 0.0,
        hard_threshold: 0.0,
        detail_threshold: 1e9,
        hard_clear_placeholder: GONE.into(),
        ..Pruning::default()
    }
}

struct Agent {
    pipeline: Arc<Pipeline>,
    messages: Vec<Value>,
    session: &'static str,
}

impl Agent {
    fn of(settings: &Settings) -> Self {
        let clock = Arc::new(ManualClock::at(1_000_000));
        let sessions = Arc::new(MemoryStore::new(&SessionSettings::default(), clock.clone()));
        let pipeline = Arc::new(Pipeline::new(settings, sessions, clock).unwrap());
        Self { pipeline, messages: vec![json!({"role": "user", "content": "Go."})], session: "S1" }
    }

    fn new() -> Self {
        Self::of(&settings(pruning()))
    }

    /// One more call and its output.
    fn step(&mut self, n: usize, output: &str) -> &mut Self {
        let id = format!("call_{n}");
        let function = json!({"name": "read", "arguments": format!("{{\"n\":{n}}}")});
        let call = json!({"id": id, "type": "function", "function": function});
        self.messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        self.messages.push(json!({"role": "tool", "tool_call_id": id, "content": output}));
        self
    }

    fn say(&mut self, role: &str, text: &str) -> &mut Self {
        self.messages.push(json!({"role": role, "content": text}));
        self
    }

    fn body(&self) -> Bytes {
        serde_json::to_vec(&json!({"model": "m", "messages": self.messages})).unwrap().into()
    }

    fn inbound(&self, body: Bytes) -> Inbound {
        let session = self.session;
        Inbound {
            is_post: true,
            path: "/v1/chat/completions".into(),
            upstream: "u".into(),
            headers: Arc::new(move |name| (name == "x-session-id").then(|| session.to_owned())),
            body,
            content_encoding: None,
        }
    }

    async fn prepare(&self) -> Prepared {
        self.pipeline.prepare(self.inbound(self.body())).await
    }

    async fn settle(&self, turn: Turn, status: u16, input: Option<u64>) -> Option<UsageUpdate> {
        let usage = Usage { input, output: Some(5), ..Usage::default() };
        let end = TapEnd { usage, ending: Ending::Complete, bytes: 1 };
        self.pipeline.settle(turn, Settled { status, end }).await
    }

    /// A whole turn; the texts that were sent as tool output, and what was done.
    async fn turn(&self, input: u64) -> (Vec<String>, Receipt) {
        let prepared = self.prepare().await;
        let sent = outputs(&prepared.body.clone().unwrap_or_else(|| self.body()));
        self.settle(prepared.turn.unwrap(), 200, Some(input)).await;
        (sent, prepared.receipt)
    }

    async fn view(&self) -> SessionView {
        self.pipeline
            .sessions()
            .await
            .into_iter()
            .find(|s| s.explicit_id.as_deref() == Some(self.session))
            .unwrap()
    }
}

fn settings(pruning: Pruning) -> Settings {
    Settings { default: ModelPolicy { pruning, context_window: None }, ..Settings::default() }
}

fn outputs(body: &[u8]) -> Vec<String> {
    let body: Value = serde_json::from_slice(body).unwrap();
    let tools = body["messages"].as_array().unwrap().iter().filter(|m| m["role"] == "tool");
    tools.map(|m| m["content"].as_str().unwrap().to_owned()).collect()
}

fn lines(word: &str) -> String {
    (0..90).map(|n| format!("{word} {n}\n")).collect()
}

#[tokio::test]
async fn a_prune_is_made_once_and_said_again_whatever_the_figures() {
    let mut agent = Agent::new();
    agent.step(1, &lines("one"));
    assert_eq!(agent.turn(60_000).await.1.outcome, Outcome::Unchanged(Quiet::BelowThreshold));
    agent.step(2, &lines("two"));
    let (sent, receipt) = agent.turn(9_000).await;
    assert_eq!((sent, receipt.prune), (vec![GONE.to_owned(), lines("two")], Some(1)));
    agent.step(3, &lines("three"));
    let (sent, receipt) = agent.turn(9_100).await;
    assert_eq!(sent, [GONE.to_owned(), lines("two"), lines("three")]);
    assert_eq!((receipt.outcome, receipt.prune, receipt.replayed), (Outcome::Pruned, None, 1));
    assert!(receipt.tokens_before > receipt.tokens_after);
}

#[tokio::test]
async fn the_next_prune_waits_until_the_conversation_has_grown() {
    let mut agent = Agent::new();
    agent.step(1, &lines("one"));
    agent.turn(60_000).await;
    agent.step(2, &lines("two"));
    assert_eq!(agent.turn(60_100).await.1.prune, Some(1));
    agent.step(3, "small");
    let (_, receipt) = agent.turn(60_200).await;
    assert_eq!(receipt.prune, None, "grown by about 100 of 1,000 tokens");
    agent.step(4, "small too");
    agent.turn(61_300).await;
    agent.step(5, "and more");
    assert_eq!(agent.turn(61_400).await.1.prune, Some(2));
}

#[tokio::test]
async fn a_failed_request_moves_nothing() {
    let mut agent = Agent::new();
    agent.step(1, &lines("one"));
    agent.turn(60_000).await;
    agent.step(2, &lines("two"));
    let prepared = agent.prepare().await;
    assert!(agent.settle(prepared.turn.unwrap(), 500, Some(0)).await.is_none());
    assert_eq!(agent.view().await.input_tokens, Some(60_000));
    assert_eq!(agent.turn(60_050).await.0[0], GONE, "what was sent stands");
}

#[tokio::test]
async fn a_side_request_is_another_conversation() {
    let mut agent = Agent::new();
    agent.step(1, &lines("one"));
    agent.turn(60_000).await;
    let title = br#"{"model":"m","messages":[{"role":"user","content":"A title, please."}]}"#;
    let prepared = agent.pipeline.prepare(agent.inbound(Bytes::from_static(title))).await;
    assert!(prepared.body.is_none());
    agent.settle(prepared.turn.unwrap(), 200, Some(300)).await;
    assert_eq!(agent.view().await.input_tokens, Some(60_000));
    agent.step(2, &lines("two"));
    assert_eq!(agent.turn(60_100).await.1.prune, Some(1));
}

#[tokio::test]
async fn a_user_message_that_moves_every_turn_breaks_no_anchor() {
    let mut agent = Agent::of(&settings(Pruning { pruning_threshold: 1_500.0, ..pruning() }));
    agent.step(1, &lines("one").repeat(5)).say("user", "state: 1");
    agent.turn(60_000).await;
    agent.messages.pop();
    agent.step(2, &lines("two")).say("user", "state: 2");
    let (_, receipt) = agent.turn(61_000).await;
    assert!(receipt.tokens_before.unwrap() > 59_000, "{receipt:?}");
}

#[tokio::test]
async fn sessions_share_nothing() {
    let mut agent = Agent::new();
    agent.step(1, &lines("one"));
    agent.turn(60_000).await;
    agent.step(2, &lines("two"));
    let other = Agent { session: "S2", pipeline: agent.pipeline.clone(), messages: agent.messages.clone() };
    assert!(other.prepare().await.body.is_none());
    assert!(agent.prepare().await.body.is_some());
}

#[tokio::test]
async fn two_requests_at_once_carry_the_same_edits() {
    let mut agent = Agent::new();
    agent.step(1, &lines("one"));
    agent.turn(60_000).await;
    agent.step(2, &lines("two"));
    let (first, second) = tokio::join!(agent.prepare(), agent.prepare());
    assert_eq!(first.body.unwrap(), second.body.unwrap());
    assert_eq!(agent.view().await.prunes, 1);
}

#[tokio::test]
async fn observing_reports_and_sends_the_clients_bytes() {
    let mut agent = Agent::of(&Settings { mode: Mode::Observe, ..settings(pruning()) });
    agent.step(1, &lines("one"));
    agent.turn(60_000).await;
    agent.step(2, &lines("two"));
    let prepared = agent.prepare().await;
    assert!(prepared.body.is_none());
    assert_eq!(prepared.receipt.outcome, Outcome::Unchanged(Quiet::Observed));
    assert_eq!(prepared.receipt.pruned[0].0, "hard");
    assert_eq!(agent.view().await.edits, 0);
}

#[tokio::test]
async fn what_cannot_be_read_goes_by() {
    let agent = Agent::new();
    let bypass = |inbound| async { agent.pipeline.prepare(inbound).await.receipt.outcome };
    assert_eq!(
        bypass(agent.inbound(Bytes::from_static(b"\xff{"))).await,
        Outcome::Bypassed(Bypass::Undecodable)
    );
    let other = Inbound { path: "/v1/embeddings".into(), ..agent.inbound(agent.body()) };
    assert_eq!(bypass(other).await, Outcome::Bypassed(Bypass::OtherPath));
    let coded = Inbound { content_encoding: Some("lzma".into()), ..agent.inbound(agent.body()) };
    assert_eq!(bypass(coded).await, Outcome::Bypassed(Bypass::Coding));
    let off = Agent::of(&Settings { mode: Mode::Off, ..settings(pruning()) });
    assert_eq!(off.prepare().await.receipt.outcome, Outcome::Bypassed(Bypass::Off));
}

fn refusal(asked: u64, limit: u64) -> Vec<u8> {
    let message = format!(
        "This model's maximum context length is {limit} tokens. However, you requested {asked} tokens."
    );
    serde_json::to_vec(&json!({"error": {"message": message, "code": "context_length_exceeded"}})).unwrap()
}

#[tokio::test]
async fn an_overflow_is_pruned_and_sent_again_and_its_window_learnt() {
    let mut agent = Agent::new();
    for n in 0..12 {
        agent.step(n, &lines("row of the long table").repeat(4));
    }
    let mut prepared = agent.prepare().await;
    assert!(prepared.body.is_none(), "nothing says yet that it is too large");
    let mut turn = prepared.turn.take().unwrap();
    let recovery = agent.pipeline.recover(&mut turn, 400, &refusal(48_000, 16_000)).await.unwrap();
    assert_eq!((recovery.cause, recovery.limit), (Cause::Overflow, Some(16_000)));
    assert!(recovery.tokens_after <= Some(14_400) && recovery.body.len() < agent.body().len() / 2);
    agent.settle(turn, 200, Some(14_000)).await;
    let (sent, receipt) = agent.turn(14_000).await;
    assert_eq!(sent, outputs(&recovery.body), "what was sent stands");
    assert_eq!(receipt.prune, None);
    agent.step(12, &lines("row of the long table").repeat(12));
    assert!(agent.prepare().await.receipt.prune.is_some(), "the learnt window is at risk again");
}

#[tokio::test]
async fn what_was_recovered_is_not_at_risk_again_at_once() {
    for answer in [500, 2_500] {
        let mut agent = Agent::new();
        for n in 0..8 {
            agent.step(n, &lines("row"));
        }
        let body = json!({"model": "m", "max_tokens": answer, "messages": agent.messages});
        let body = Bytes::from(body.to_string());
        let mut turn = agent.pipeline.prepare(agent.inbound(body.clone())).await.turn.unwrap();
        let refused = refusal(3_000 + answer, 4_000);
        let recovery = agent.pipeline.recover(&mut turn, 400, &refused).await.unwrap();
        agent.settle(turn, 200, recovery.tokens_after).await;
        let again = agent.pipeline.prepare(agent.inbound(body)).await;
        assert_eq!((again.body, again.receipt.prune), (Some(recovery.body), None), "{answer}");
    }
}

#[tokio::test]
async fn a_request_is_recovered_twice_at_most_and_never_from_other_refusals() {
    let mut agent = Agent::new();
    for n in 0..12 {
        agent.step(n, &lines("row of the long table").repeat(4));
    }
    let mut turn = agent.prepare().await.turn.unwrap();
    assert!(agent.pipeline.recover(&mut turn, 429, &refusal(48_000, 16_000)).await.is_none());
    assert!(agent.pipeline.recover(&mut turn, 400, b"{\"error\":\"bad\"}").await.is_none());
    assert!(agent.pipeline.recover(&mut turn, 400, &refusal(48_000, 40_000)).await.is_some());
    assert!(agent.pipeline.recover(&mut turn, 400, &refusal(41_000, 40_000)).await.is_some());
    assert!(agent.pipeline.recover(&mut turn, 400, &refusal(41_000, 40_000)).await.is_none());
}

/// Turns whose earlier part the provider keeps: only what is new is sent.
#[tokio::test]
async fn figures_of_what_the_provider_keeps_do_not_measure_what_is_sent() {
    let agent = Agent::new();
    for n in 0..4 {
        // So large that it is counted, and that twice as much would be pruned.
        let words = format!("{n} {}", "many words of an output ".repeat(6_000));
        let output = json!({"type": "function_call_output", "call_id": "c", "output": words});
        let body = json!({"model": "m", "previous_response_id": n.to_string(), "input": [output]});
        let body = serde_json::to_vec(&body).unwrap();
        let inbound = Inbound { path: "/v1/responses".into(), ..agent.inbound(body.into()) };
        let prepared = agent.pipeline.prepare(inbound).await;
        assert_eq!(prepared.receipt.outcome, Outcome::Unchanged(Quiet::BelowThreshold));
        assert!((30_000..31_000).contains(&prepared.receipt.tokens_before.unwrap()));
        agent.settle(prepared.turn.unwrap(), 200, Some(70_000 + n)).await;
        assert_eq!(agent.view().await.input_tokens, Some(70_000 + n));
    }
}

#[tokio::test]
async fn only_what_is_sent_can_make_room_for_what_the_provider_keeps() {
    let agent = Agent::new();
    let words = "many words of an output ".repeat(6_000);
    let output = json!({"type": "function_call_output", "call_id": "c", "output": words});
    let body = json!({"model": "m", "previous_response_id": "r", "input": [output]});
    let body = serde_json::to_vec(&body).unwrap();
    let inbound = Inbound { path: "/v1/responses".into(), ..agent.inbound(body.clone().into()) };
    let mut turn = agent.pipeline.prepare(inbound).await.turn.unwrap();
    let refusal = br#"{"error":{"message":"prompt is too long: 130000 tokens > 128000 maximum"}}"#;
    let recovery = agent.pipeline.recover(&mut turn, 400, refusal).await.unwrap();
    // Half of what is sent, about a tenth of what the provider counts.
    assert!(recovery.tokens_after <= Some(115_200) && recovery.body.len() < body.len() * 6 / 10);
}
