//! Event streams: every byte passes as it came, and the figures in them are read.

use std::time::Duration;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::support::{Conversation, Reply, Scene, Turn, Upstream, check_cases};

fn streaming() -> Conversation {
    Conversation::new().user("Tell a story.").with("stream", true)
}

fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}

fn words(text: &str) -> String {
    event(
        &json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}], "usage": null}),
    )
}

fn finish() -> String {
    event(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": null}))
}

fn usage(input: u64) -> String {
    let usage = json!({"prompt_tokens": input, "completion_tokens": 9, "total_tokens": input + 9});
    event(&json!({"choices": [], "usage": usage}))
}

const DONE: &str = "data: [DONE]\n\n";

/// Streams the pieces to an agent; what its session is taken to hold then.
async fn input_tokens(pieces: &[impl AsRef<[u8]>]) -> Value {
    let scene = Scene::clearing(2).await;
    stream(&scene, pieces).await;
    scene.session("tale").await["input_tokens"].clone()
}

async fn stream(scene: &Scene, pieces: &[impl AsRef<[u8]>]) -> Turn {
    let reply = Reply::stream(pieces);
    scene.provider.will(reply.clone());
    let turn = scene.agent("tale").asks(&streaming()).await;
    turn.assert_untouched();
    assert_eq!(turn.answer.body, reply.body());
    assert_eq!(turn.answer.value("content-type"), Some("text/event-stream"));
    turn
}

#[tokio::test]
async fn figures_behind_the_finish_count() {
    let pieces = [words("Once"), words(" upon"), finish(), usage(52_811), DONE.to_owned()];
    assert_eq!(input_tokens(&pieces).await, 52_811);
}

#[tokio::test]
async fn a_later_nothing_leaves_the_figure() {
    let pieces = [words("Once"), usage(700), usage(0), finish(), words("more"), DONE.to_owned()];
    assert_eq!(input_tokens(&pieces).await, 700);
    let pieces = [usage(5), usage(700), event(&json!({"usage": {"completion_tokens": 12}}))];
    assert_eq!(input_tokens(&pieces).await, 700, "the last one counts, and nothing is added up");
}

#[tokio::test]
async fn no_figure_at_all_is_unknown_and_not_zero() {
    let pieces = [words("Once"), finish(), DONE.to_owned()];
    assert_eq!(input_tokens(&pieces).await, Value::Null);
    let scene = Scene::clearing(2).await;
    stream(&scene, &[usage(700)]).await;
    stream(&scene, &pieces).await;
    assert_eq!(scene.session("tale").await["input_tokens"], 700);
}

#[tokio::test]
async fn all_line_ends_comments_and_other_fields_are_read() {
    let figures = json!({"usage": {"prompt_tokens": 4_321}}).to_string();
    let (first, second) = figures.split_at(10);
    for stream in [
        format!(": hello\r\n\r\ndata: {{}}\r\n\r\ndata: {figures}\r\n\r\ndata: [DONE]\r\n\r\n"),
        format!("\u{feff}data: {{}}\r\rdata: {figures}\r\rdata: [DONE]\r\r"),
        format!("data:{figures}\n\n:\n\ndata:[DONE]\n\n"),
        format!("event: chunk\nid: 7\nretry: 10\ndata: {figures}\nunknown\n\n"),
        format!(": PROCESSING\n\n: PROCESSING\n\ndata: {figures}\n\n"),
        format!("data: {first}\ndata: {second}\n\n"),
        format!("data: {figures}\n\ndata: {{broken\n\ndata:\n\ndata: 7\n\n"),
    ] {
        assert_eq!(input_tokens(&[&stream]).await, 4_321, "{stream:?}");
    }
}

#[tokio::test]
async fn characters_may_come_in_halves() {
    let text = [words("Es war einmal … 昔々 🏰"), usage(999), DONE.to_owned()].concat();
    let bytes: Vec<[u8; 1]> = text.bytes().map(|byte| [byte]).collect();
    assert_eq!(input_tokens(&bytes).await, 999);
}

#[tokio::test]
async fn bytes_that_are_no_text_pass() {
    let pieces: [&[u8]; 3] =
        [b"data: \xff\xfe\n\n", b"data: {\"usage\":{\"prompt_tokens\":65}}\n\n", b"\x00\x80"];
    assert_eq!(input_tokens(&pieces).await, 65);
}

#[tokio::test]
async fn an_error_in_the_stream_reaches_the_client_and_changes_no_figure() {
    let scene = Scene::clearing(2).await;
    stream(&scene, &[usage(700), DONE.to_owned()]).await;
    let error = json!({"error": {"code": 502, "message": "The provider went away"}, "choices": [], "usage": {"prompt_tokens": 0}});
    stream(&scene, &[words("Once"), event(&error)]).await;
    assert_eq!(scene.session("tale").await["input_tokens"], 700);
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_not_ended_for_it() {
    let scene = Scene::clearing(2).await;
    scene.provider.will(Reply::stream([words("Once"), usage(640)]).breaking_off());
    let mut client = scene.agent("tale").begins(&streaming().body()).await;
    client.head().await;
    assert_eq!(client.chunk().await, words("Once").as_bytes());
    assert_eq!(client.chunk().await, usage(640).as_bytes());
    assert_eq!(client.rest().await, b"", "no end is made up");
    scene.has_settled(1).await;
    assert_eq!(scene.session("tale").await["input_tokens"], 640, "what was told was told");
}

#[tokio::test]
async fn each_event_passes_before_the_next_is_sent() {
    let upstream = Upstream::open().await;
    let proxy = crate::support::Sidecar::in_front_of(&upstream.url).await;
    let mut client = proxy.client().await;
    let body = streaming().body();
    let head =
        format!("POST /v1/chat/completions HTTP/1.1\r\nHost: p\r\nContent-Length: {}\r\n\r\n", body.len());
    client.send([head.as_bytes(), &body].concat()).await;
    let mut side = upstream.accept().await;
    assert_eq!(side.message().await.body, body);
    side.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        .await;
    assert_eq!(client.head().await.status(), 200);
    for piece in [words("Once"), ": still here\n\n".into(), words(" upon"), "data: {\"cho".into(), finish()] {
        side.send(format!("{:x}\r\n{piece}\r\n", piece.len())).await;
        assert_eq!(client.chunk().await, piece.as_bytes());
    }
    side.send("0\r\n\r\n").await;
    assert_eq!(client.chunk().await, b"");
}

#[tokio::test]
async fn a_stream_may_last_longer_than_any_limit() {
    const LIMIT: Duration = Duration::from_millis(500);
    let upstream = Upstream::open().await;
    let scene = Scene::with(|parts| {
        parts.upstream.url = Some(upstream.url.clone());
        parts.upstream.first_byte_timeout_ms = LIMIT.as_millis() as u64;
        parts.upstream.connect_timeout_ms = LIMIT.as_millis() as u64;
    })
    .await;
    let mut client = scene.agent("tale").begins(&streaming().body()).await;
    let mut side = upstream.accept().await;
    side.message().await;
    let began = Instant::now();
    side.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        .await;
    assert_eq!(client.head().await.status(), 200);
    while began.elapsed() < LIMIT + LIMIT / 4 {
        side.send("2\r\n:\n\r\n").await;
        assert_eq!(client.chunk().await, b":\n");
    }
    side.send("0\r\n\r\n").await;
    assert_eq!(client.chunk().await, b"");
}

#[tokio::test]
async fn a_client_that_leaves_ends_the_generation_and_what_was_told_counts() {
    let upstream = Upstream::open().await;
    let scene = Scene::with(|parts| parts.upstream.url = Some(upstream.url.clone())).await;
    let mut client = scene.agent("tale").begins(&streaming().body()).await;
    let mut side = upstream.accept().await;
    side.message().await;
    let piece = usage(321) + &words("Once");
    side.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        .await;
    side.send(format!("{:x}\r\n{piece}\r\n", piece.len())).await;
    client.head().await;
    assert_eq!(client.chunk().await, piece.as_bytes());
    drop(client);
    side.until_closed().await;
    scene.has_settled(1).await;
    let session = scene.session("tale").await;
    assert_eq!((&session["input_tokens"], &session["output_tokens"]), (&json!(321), &json!(9)));
}

/// A stream with its figure somewhere in it.
fn any_stream() -> impl Strategy<Value = (String, u64)> {
    let line_end = select(vec!["\n", "\r\n", "\r"]);
    let event = prop_oneof![
        "[ -~é→🦀]{0,20}".prop_map(|text| json!({"choices": [{"delta": {"content": text}}], "usage": null})),
        (0_u64..2).prop_map(|none| json!({"usage": {"prompt_tokens": 0, "completion_tokens": none}})),
        Just(json!("a comment")),
    ];
    let events = prop::collection::vec(event, 0..6);
    (events.clone(), 1_u64..2_000_000, events, line_end).prop_map(|(before, input, after, end)| {
        let mut stream = String::new();
        let figure = json!({"choices": [], "usage": {"prompt_tokens": input}});
        for data in before.into_iter().chain([figure]).chain(after) {
            let field = if data.is_string() { "" } else { "data" };
            stream.extend([field, ": ", &data.to_string(), end, end]);
        }
        (stream, input)
    })
}

#[test]
fn any_chunking_gives_the_client_the_same_bytes_and_the_session_the_same_figure() {
    let cuts = prop::collection::vec(any::<Index>(), 0..12);
    let check = async |scene: &Scene, case: u32, ((text, input), cuts): ((String, u64), Vec<Index>)| {
        let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
        places.extend([0, text.len()]);
        places.sort_unstable();
        let pieces = places.windows(2).map(|ends| &text.as_bytes()[ends[0]..ends[1]]);
        scene.provider.will(Reply::stream(pieces));
        let session = format!("case {case}");
        let turn = scene.agent(&session).asks(&streaming()).await;
        assert_eq!(turn.answer.body, text.as_bytes());
        assert_eq!(scene.session(&session).await["input_tokens"], input);
    };
    check_cases(40, Scene::clearing(2), &(any_stream(), cuts), &check);
}
