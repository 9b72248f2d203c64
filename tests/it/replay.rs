//! Whole conversations, turn by turn with their whole raw history, through the proxy to a mock upstream that holds
//! requests to the API's rules. Generated ones always; recorded ones where there is a folder of them: the one that
//! `SECATEUR_TRANSCRIPTS` names, or `../shared/transcripts` beside the project.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::response::Response;
use secateur::mock::agent::AgentOptions;
use secateur::mock::{self, MockOptions};
use serde_json::Value;
use tokio::net::TcpListener;
use tower::ServiceExt as _;

use crate::support::{Format, Sidecar, Story};

/// The mock upstream, with a memory of the body it was sent last.
#[derive(Clone)]
struct Recording {
    mock: Router,
    last: Arc<Mutex<Vec<u8>>>,
}

impl Recording {
    /// Serves it on a free port; its URL.
    async fn open(window: u64) -> (Self, String) {
        let options = MockOptions { window, models: [].into(), ..MockOptions::default() };
        let recording = Self { mock: mock::router(options), last: Arc::default() };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(record).with_state(recording.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (recording, url)
    }

    /// The entries of the list it was sent last.
    fn last(&self, format: Format) -> Vec<String> {
        format.entries(&self.last.lock().unwrap())
    }
}

async fn record(State(recording): State<Recording>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap();
    *recording.last.lock().unwrap() = body.to_vec();
    recording.mock.oneshot(Request::from_parts(head, Body::from(body))).await.unwrap()
}

/// What a conversation came to.
#[derive(Debug, Default)]
struct Outcome {
    tokens: Vec<u64>,
    prunes: u64,
    /// Requests whose beginning was not what the one before was.
    breaks: u64,
}

/// Plays a story and checks every request that reaches the upstream.
async fn play(story: &Story, threshold: f64, window: u64) -> Outcome {
    let (recording, url) = Recording::open(window).await;
    let proxy = Sidecar::with(&url, |parts| {
        let pruning = &mut parts.pipeline.default.pruning;
        pruning.pruning_threshold = threshold;
        pruning.trigger_every_n_tokens = (threshold / 16.0) as u64;
        pruning.keep_recent_tokens = (threshold / 8.0) as u64;
    })
    .await;
    let mut client = proxy.client().await;
    let mut outcome = Outcome::default();
    let mut before: Vec<String> = Vec::new();
    for turn in &story.turns {
        let body = story.body(*turn);
        let head = "HTTP/1.1\r\nHost: p\r\nX-Session-Id: s\r\nAnthropic-Version: 2023-06-01\r\nContent-Type: application/json";
        let (path, length) = (story.format.path(), body.len());
        client.send(format!("POST {path} {head}\r\nContent-Length: {length}\r\n\r\n{body}")).await;
        let answer = client.message().await;
        let words = String::from_utf8_lossy(&answer.body);
        assert_eq!(answer.status(), 200, "{}, {turn} entries: {words}", story.name);
        let reply: Value = serde_json::from_slice(&answer.body).unwrap();
        outcome.tokens.push(story.format.input_tokens(&reply));
        let sent = recording.last(story.format);
        let prunes = settled(&proxy, outcome.tokens.len() as u64).await;
        if window > 10_000_000 {
            only_old_output_was_changed(story, *turn, &sent);
        }
        if sent.get(..before.len()) != Some(&before[..]) {
            outcome.breaks += 1;
            assert!(prunes > outcome.prunes, "{}: the beginning changed without a prune", story.name);
        }
        outcome.prunes = prunes;
        before = sent;
    }
    outcome
}

/// Waits until the session has taken in what its last answer told; prunes made so far.
async fn settled(proxy: &Sidecar, requests: u64) -> u64 {
    loop {
        let sessions: Value = serde_json::from_slice(&proxy.ask_admin("/sessions").await.body).unwrap();
        let session = &sessions["sessions"][0];
        if session["requests"] == requests {
            return session["prunes"].as_u64().unwrap();
        }
        tokio::task::yield_now().await;
    }
}

fn only_old_output_was_changed(story: &Story, turn: usize, sent: &[String]) {
    let (name, raw) = (&story.name, &story.entries[..turn]);
    assert_eq!(raw.len(), sent.len(), "{name}");
    let value = |entry: &String| -> Value { serde_json::from_str(entry).unwrap() };
    let newest = raw.iter().rposition(|entry| !story.format.outputs(&mut value(entry)).is_empty());
    let recent = raw.len().saturating_sub(10);
    for (at, (raw, sent)) in raw.iter().zip(sent).enumerate() {
        if raw == sent {
            continue;
        }
        assert!(at < recent && Some(at) != newest, "{name}, entry {at}");
        assert!(sent.len() < raw.len(), "{name}, entry {at}");
        let (mut raw, mut put_back) = (value(raw), value(sent));
        let outputs = story.format.outputs(&mut raw).into_iter().zip(story.format.outputs(&mut put_back));
        outputs.for_each(|(raw, sent)| sent.clone_from(raw));
        assert_eq!(put_back, raw, "{name}, entry {at}: more than tool outputs changed");
    }
}

/// Plays a story in full, and with the threshold at a quarter of its size.
async fn play_both(story: Story) {
    const WIDE: u64 = 20_000_000;
    let full = play(&story, 10_000_000.0, WIDE).await;
    assert_eq!((full.prunes, full.breaks), (0, 0), "{}", story.name);
    let largest = *full.tokens.iter().max().unwrap();
    let quarter = play(&story, largest as f64 / 4.0, WIDE).await;
    assert!(quarter.breaks <= quarter.prunes, "{}: {quarter:?}", story.name);
    assert!(quarter.tokens.iter().sum::<u64>() <= full.tokens.iter().sum(), "{}", story.name);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn generated_conversations_stay_valid_and_are_changed_only_at_prunes() {
    for format in Format::ALL {
        for seed in 1..=2 {
            let options = AgentOptions {
                turns: 40,
                target_tokens: Some(40_000),
                reused_ids: seed == 2,
                ..AgentOptions::default()
            };
            play_both(Story::generated(format, seed, &options)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn recorded_conversations_stay_valid_and_are_changed_only_at_prunes() {
    for story in Format::ALL.into_iter().flat_map(Story::recorded) {
        play_both(story).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upstream_with_a_quarter_of_the_room_refuses_nothing_that_reaches_the_agent() {
    for format in Format::ALL {
        let options = AgentOptions { turns: 60, target_tokens: Some(60_000), ..AgentOptions::default() };
        let story = Story::generated(format, 7, &options);
        let outcome = play(&story, 1_000_000.0, 15_000).await;
        assert!(outcome.tokens.iter().all(|tokens| *tokens <= 15_000));
        assert!(outcome.prunes > 0);
    }
}
