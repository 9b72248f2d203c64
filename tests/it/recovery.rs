//! A request that the provider finds too large is sent again, smaller, before the agent hears of it.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;

use crate::support::{
    Conversation, GONE, Reply, Scene, Turn, assert_chain_holds, changed_contents, clear_all_old, lines,
};

/// Twelve files of some 3,000 tokens each: below the default threshold.
fn twelve_files() -> Conversation {
    let read = |talk: Conversation, n: usize| {
        let output = lines(&format!("row {n} of the long table, column"), 300);
        talk.step(&format!("call_{n}"), "read_file", json!({"path": format!("f{n}")}), output)
    };
    (0..12).fold(Conversation::new().system("Be exact.").user("Read them all."), read)
}

/// The provider answers so in turn; what became of the request.
async fn refused_with(scene: &Scene, replies: &[Reply]) -> Turn {
    for reply in replies {
        scene.provider.will(reply.clone());
    }
    scene.agent("full").asks(&twelve_files()).await
}

fn assert_handed_on(turn: &Turn, reply: &Reply, status: u16) {
    assert_eq!((turn.answer.status(), &turn.answer.body), (status, &reply.body()));
}

#[tokio::test]
async fn it_is_sent_once_more_with_less_and_the_agent_sees_only_the_answer() {
    let scene = Scene::with(|_| {}).await;
    let answer = Reply::telling(13_500);
    let turn = refused_with(&scene, &[Reply::overflow(48_000, 16_000), answer.clone()]).await;
    assert_handed_on(&turn, &answer, 200);
    assert_eq!(turn.outcome(), "pruned");
    let [first, second] = &turn.tries[..] else { panic!("{} tries", turn.tries.len()) };
    assert_eq!(first.body, turn.asked);
    assert!(second.body.len() < first.body.len() / 2);
    assert_eq!(second.value("content-length"), Some(second.body.len().to_string().as_str()));
    assert_chain_holds(&second.json());
    let newest = second.message(25);
    assert_eq!(newest["content"], lines("row 11 of the long table, column", 300), "the newest stays");
    let session = scene.session("full").await;
    assert_eq!((&session["input_tokens"], &session["prunes"]), (&json!(13_500), &json!(1)));
    assert!(scene.metrics().await.contains("secateur_recoveries_total{result=\"accepted\"} 1"));
}

#[tokio::test]
async fn what_was_sent_stands_and_the_next_requests_are_pruned_ahead() {
    let scene = Scene::with(|_| {}).await;
    let turn = refused_with(&scene, &[Reply::overflow(48_000, 16_000), Reply::telling(13_500)]).await;
    let sent = turn.tries[1].spelt_messages();
    let agent = scene.agent("full");
    scene.provider.will(Reply::telling(13_600));
    let talk = twelve_files().assistant("All read.").user("Good.");
    let next = agent.asks(&talk).await;
    assert_eq!(next.sent().spelt_messages()[..sent.len()], sent);
    let talk = talk.step("call_x", "read_file", json!({"path": "x"}), lines("another row", 900));
    let grown = agent.asks(&talk).await;
    assert_eq!(grown.answer.value("x-secateur-outcome"), Some("pruned"));
    assert!(grown.answer.value("x-secateur-pruned").is_some(), "the window is known now");
    assert_eq!(grown.tries.len(), 1);
    // Another session of the same model knows it too.
    let other = scene.agent("other").asks(&twelve_files()).await;
    assert!(other.sent().body.len() < other.asked.len() / 2);
}

#[tokio::test]
async fn a_stream_recovers_as_well() {
    let scene = Scene::with(|_| {}).await;
    let stream = Reply::stream(["data: {\"choices\":[]}\n\n", "data: [DONE]\n\n"]);
    scene.provider.will(Reply::overflow(48_000, 16_000)).will(stream.clone());
    let turn = scene.agent("full").asks(&twelve_files().with("stream", true)).await;
    assert_handed_on(&turn, &stream, 200);
    assert_eq!(turn.tries.len(), 2);
}

#[tokio::test]
async fn other_words_codes_and_packings_are_understood() {
    let gzip = |reply: &Reply| {
        let mut packing = GzEncoder::new(Vec::new(), Compression::default());
        packing.write_all(&reply.body()).unwrap();
        Reply::new("400 Bad Request", packing.finish().unwrap())
            .header("Content-Type", "application/json")
            .header("Content-Encoding", "gzip")
    };
    let llama = json!({"error": {"code": 400, "message": "does not fit", "type": "exceed_context_size_error",
        "n_prompt_tokens": 48_000, "n_ctx": 16_384}});
    let plain_words = json!({"error": {"message": "prompt is too long: 48000 tokens > 16000 maximum"}});
    let code_alone = json!({"error": {"message": "Too much.", "code": "context_length_exceeded"}});
    for refusal in [
        gzip(&Reply::overflow(48_000, 16_000)),
        Reply::json("413 Payload Too Large", &llama),
        Reply::json("400 Bad Request", &plain_words),
        Reply::json("400 Bad Request", &code_alone),
    ] {
        let scene = Scene::with(|_| {}).await;
        let turn = refused_with(&scene, &[refusal, Reply::telling(9_000)]).await;
        assert_eq!((turn.answer.status(), turn.tries.len()), (200, 2));
        assert!(turn.tries[1].body.len() < turn.asked.len());
    }
}

#[tokio::test]
async fn it_is_sent_again_twice_at_most_and_then_the_last_refusal_passes() {
    let scene = Scene::with(|_| {}).await;
    let last = Reply::overflow(40_300, 40_000).header("X-Request-Id", "third").header("Retry-After", "9");
    let replies = [Reply::overflow(48_000, 40_000), Reply::overflow(41_000, 40_000), last.clone()];
    let turn = refused_with(&scene, &replies).await;
    assert_handed_on(&turn, &last, 400);
    assert_eq!(turn.answer.value("x-request-id"), Some("third"));
    let sizes: Vec<usize> = turn.tries.iter().map(|sent| sent.body.len()).collect();
    assert!(sizes.len() == 3 && sizes[0] > sizes[1] && sizes[1] > sizes[2], "{sizes:?}");
    assert!(scene.metrics().await.contains("secateur_recoveries_total{result=\"refused\"} 1"));
}

#[tokio::test]
async fn a_refusal_that_nothing_helps_against_passes_and_leaves_the_figures() {
    let scene = Scene::with(|_| {}).await;
    let agent = scene.agent("brief");
    let talk = Conversation::new().user(lines("please", 2_000));
    agent.asks(&talk).await.assert_untouched();
    let refusal = Reply::overflow(48_000, 16_000);
    scene.provider.will(refusal.clone());
    let turn = agent.asks(&talk.assistant("No.").user("Please.")).await;
    turn.assert_untouched();
    assert_handed_on(&turn, &refusal, 400);
    let session = scene.session("brief").await;
    assert_eq!((&session["input_tokens"], &session["prunes"]), (&json!(60_000), &json!(0)));
}

#[tokio::test]
async fn refusals_of_another_kind_pass_and_are_not_tried_again() {
    let words = Reply::overflow(48_000, 16_000).body();
    let too_long = json!({"error": {"message": "max_tokens is too large: 50000. At most 16384 are allowed.", "code": "invalid_value"}});
    for (status, reply) in [
        (429, Reply::new("429 Too Many Requests", &words).header("Retry-After", "12")),
        (500, Reply::new("500 Oops", &words)),
        (503, Reply::new("503 Busy", &words).header("Retry-After", "12")),
        (401, Reply::new("401 Unauthorized", &words)),
        (422, Reply::new("422 Unprocessable", &words)),
        (400, Reply::json("400 Bad Request", &too_long)),
        (400, Reply::new("400 Bad Request", "")),
    ] {
        let scene = Scene::with(|_| {}).await;
        let turn = refused_with(&scene, std::slice::from_ref(&reply)).await;
        turn.assert_untouched();
        assert_handed_on(&turn, &reply, status);
        if reply.header_of("Retry-After").is_some() {
            assert_eq!(turn.answer.value("retry-after"), Some("12"));
        }
        assert_eq!(scene.session("full").await["input_tokens"], json!(null));
    }
}

#[tokio::test]
async fn when_the_smaller_request_gets_no_answer_the_refusal_passes() {
    let scene = Scene::with(|_| {}).await;
    let refusal = Reply::overflow(48_000, 16_000);
    let turn = refused_with(&scene, &[refusal.clone(), Reply::none()]).await;
    assert_handed_on(&turn, &refusal, 400);
    assert_eq!(turn.tries.len(), 2);
    assert!(scene.metrics().await.contains("secateur_recoveries_total{result=\"failed\"} 1"));
}

#[tokio::test]
async fn a_smaller_request_that_is_limited_is_answered_with_that() {
    let scene = Scene::with(|_| {}).await;
    let limited = Reply::new("429 Too Many Requests", "slow down").header("Retry-After", "3");
    let turn = refused_with(&scene, &[Reply::overflow(48_000, 16_000), limited.clone()]).await;
    assert_handed_on(&turn, &limited, 429);
    assert_eq!((turn.tries.len(), turn.answer.value("retry-after")), (2, Some("3")));
    // The agent's own retry carries what was decided.
    let again = scene.agent("full").asks(&twelve_files()).await;
    assert_eq!(again.sent().body, turn.tries[1].body);
}

#[tokio::test]
async fn what_was_pruned_before_stays_pruned_when_more_must_go() {
    let scene = Scene::pruning(|pruning| {
        clear_all_old(pruning, 2);
        (pruning.soft_threshold, pruning.hard_threshold) = (30_000.0, 30_000.0);
        pruning.prune_to = 0.95;
    })
    .await;
    let agent = scene.agent("full");
    agent.asks(&twelve_files()).await.assert_untouched();
    let talk = twelve_files().step("call_x", "read_file", json!({"path": "x"}), lines("another row", 300));
    let pruned = agent.asks(&talk).await;
    let cleared = pruned.changed();
    assert!(!cleared.is_empty() && cleared.len() < 12, "{cleared:?}");
    scene.provider.will(Reply::overflow(70_000, 16_000)).will(Reply::telling(14_000));
    let turn = agent.asks(&talk.user("And now?")).await;
    let again = &turn.tries[1];
    assert!(changed_contents(&turn.asked, &again.body).len() > cleared.len());
    for place in cleared {
        assert_eq!(again.message(place)["content"], GONE);
    }
    assert_eq!(scene.session("full").await["prunes"], 2);
}

#[tokio::test]
async fn a_single_output_larger_than_the_window_is_trimmed_itself() {
    let scene = Scene::with(|_| {}).await;
    scene.provider.will(Reply::overflow(30_000, 8_000)).will(Reply::telling(7_000));
    let talk = Conversation::new().user("Show the log.").step(
        "call_a",
        "log",
        json!({}),
        lines("2026-01-01 12:00 INFO request served in ms", 1_500),
    );
    let turn = scene.agent("giant").asks(&talk).await;
    assert_eq!((turn.answer.status(), turn.tries.len()), (200, 2));
    assert_eq!(changed_contents(&turn.asked, &turn.tries[1].body), [2]);
}
