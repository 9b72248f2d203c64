//! What an answer's figures are taken for, and what is no figure.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::support::{Conversation, Reply, Scene, lines};

fn hello() -> Conversation {
    Conversation::new().user("Hello.")
}

/// What the session is taken to hold when the provider answers so.
async fn input_tokens(reply: Reply) -> Value {
    let scene = Scene::clearing(2).await;
    let body = reply.body();
    scene.provider.will(reply);
    let turn = scene.agent("one").asks(&hello()).await;
    assert_eq!(turn.answer.body, body);
    scene.session("one").await["input_tokens"].clone()
}

#[tokio::test]
async fn the_answers_figures_are_the_sessions() {
    let scene = Scene::clearing(2).await;
    let usage = json!({"prompt_tokens": 31_007, "completion_tokens": 250, "total_tokens": 31_257,
        "prompt_tokens_details": {"cached_tokens": 30_720}});
    scene.provider.will(Reply::with_usage(&usage));
    scene.agent("figures").asks(&hello()).await.assert_untouched();
    let session = scene.session("figures").await;
    for (name, expected) in [
        ("input_tokens", json!(31_007)),
        ("cached_tokens", json!(30_720)),
        ("output_tokens", json!(250)),
        ("requests", json!(1)),
        ("prunes", json!(0)),
        ("edits", json!(0)),
        ("saved_tokens", json!(0)),
        ("model", json!("m")),
    ] {
        assert_eq!(session[name], expected, "{name}");
    }
    let id = session["id"].as_str().unwrap();
    assert_eq!(scene.proxy.ask_admin(&format!("/sessions/{id}")).await.json(), session);
}

#[tokio::test]
async fn compatible_servers_have_names_of_their_own() {
    for usage in [
        json!({"prompt_tokens": 812}),
        json!({"prompt": 812}),
        json!({"input": 812}),
        json!({"input_tokens": 812, "output_tokens": 1}),
        json!({"promptTokenCount": 812}),
        json!({"inputTokenCount": 812}),
        json!({"tokens": {"input": 812}}),
    ] {
        assert_eq!(input_tokens(Reply::with_usage(&usage)).await, 812, "{usage}");
    }
}

#[tokio::test]
async fn what_is_absent_nothing_or_absurd_is_unknown() {
    for usage in [
        json!(null),
        json!({}),
        json!([]),
        json!("812"),
        json!({"prompt_tokens": null}),
        json!({"prompt_tokens": 0, "completion_tokens": 0}),
        json!({"prompt_tokens": -5}),
        json!({"prompt_tokens": 2_000_001}),
        json!({"prompt_tokens": {"n": 812}}),
    ] {
        assert_eq!(input_tokens(Reply::with_usage(&usage)).await, Value::Null, "{usage}");
    }
    assert_eq!(input_tokens(Reply::new("200 OK", "<html>well</html>")).await, Value::Null);
}

#[tokio::test]
async fn an_answer_without_a_figure_leaves_the_last_one() {
    let scene = Scene::clearing(2).await;
    let agent = scene.agent("last");
    let refusal = |status| {
        let usage = json!({"prompt_tokens": 3, "completion_tokens": 1});
        Reply::json(status, &json!({"error": {"message": "no"}, "usage": usage}))
    };
    let mut talk = hello();
    scene.provider.will(Reply::telling(41_000));
    agent.asks(&talk).await;
    for reply in [
        Reply::with_usage(&json!(null)),
        Reply::telling(0),
        refusal("400 Bad Request"),
        refusal("401 Unauthorized"),
        refusal("500 Oops"),
    ] {
        scene.provider.will(reply.clone());
        talk = talk.assistant("Yes?").user("Nothing.");
        let turn = agent.asks(&talk).await;
        turn.assert_untouched();
        assert_eq!(turn.answer.body, reply.body());
        assert_eq!(scene.session("last").await["input_tokens"], 41_000);
    }
}

#[tokio::test]
async fn the_size_is_the_last_requests_and_no_sum() {
    let scene = Scene::clearing(2).await;
    let agent = scene.agent("sum");
    let mut talk = hello();
    for n in 1..=6_u64 {
        talk = talk.step(&format!("call_{n}"), "count", json!({"n": n}), lines(&format!("sheep {n}"), 60));
        scene.provider.will(Reply::telling(30_000 + n * 100));
        let turn = agent.asks(&talk).await;
        turn.assert_untouched();
        assert_eq!(scene.session("sum").await["input_tokens"], 30_000 + n * 100);
    }
}

#[tokio::test]
async fn pruning_begins_with_the_real_count() {
    let scene = Scene::clearing(2).await;
    let agent = scene.agent("real");
    // A few hundred tokens by any estimate; the provider knows better.
    let talk = hello().step("call_1", "count", json!({"n": 1}), lines("sheep", 80)).step(
        "call_2",
        "count",
        json!({"n": 2}),
        lines("goat", 80),
    );
    scene.provider.will(Reply::telling(49_000)).will(Reply::telling(51_000));
    agent.asks(&talk).await.assert_untouched();
    let talk = talk.assistant("Eighty.").user("Sure?");
    agent.asks(&talk).await.assert_untouched();
    assert_eq!(agent.asks(&talk.assistant("Sure.").user("Good.")).await.changed(), [2]);
}

#[tokio::test]
async fn without_any_figure_the_estimate_counts() {
    let scene = Scene::pruning(|pruning| {
        crate::support::clear_all_old(pruning, 2);
        pruning.pruning_threshold = 3_000.0;
    })
    .await;
    let agent = scene.agent("estimate");
    let mut talk = hello();
    for n in 0..4 {
        talk = talk.step(&format!("call_{n}"), "count", json!({"n": n}), lines(&format!("sheep {n}"), 200));
        scene.provider.will(Reply::with_usage(&json!(null)));
        let turn = agent.asks(&talk).await;
        assert_eq!(turn.changed().is_empty(), n < 2, "call {n}");
        assert_eq!(scene.session("estimate").await["input_tokens"], Value::Null);
    }
}

#[tokio::test]
async fn a_packed_answer_stays_packed_and_is_read() {
    let scene = Scene::clearing(2).await;
    let plain = Reply::telling(23_456).body();
    let mut packing = GzEncoder::new(Vec::new(), Compression::default());
    packing.write_all(&plain).unwrap();
    let packed = packing.finish().unwrap();
    let reply = Reply::new("200 OK", &packed)
        .header("Content-Type", "application/json; charset=utf-8")
        .header("Content-Encoding", "gzip");
    scene.provider.will(reply);
    let turn = scene.agent("packed").header("Accept-Encoding", "gzip").asks(&hello()).await;
    assert_eq!(turn.sent().value("accept-encoding"), Some("gzip"));
    assert_eq!(turn.answer.value("content-encoding"), Some("gzip"));
    assert_eq!(turn.answer.body, packed);
    assert_eq!(scene.session("packed").await["input_tokens"], 23_456);
}

#[tokio::test]
async fn a_client_that_asks_for_no_packing_gets_none_asked_for() {
    let scene = Scene::clearing(2).await;
    let turn = scene.agent("plain").asks(&hello()).await;
    assert_eq!(turn.sent().value("accept-encoding"), None);
    let turn = scene.agent("plain").header("Accept-Encoding", "identity").asks(&hello()).await;
    assert_eq!(turn.sent().value("accept-encoding"), Some("identity"));
}
