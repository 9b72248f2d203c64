//! A model's window is learnt from the lists of models that pass by, and pruning keeps requests within it.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::support::{Conversation, Reply, Scene, eventually, lines};

/// Some 20,000 tokens, for a model of this name.
fn long_talk(model: &str) -> Conversation {
    let read = |talk: Conversation, n: usize| {
        talk.step(&format!("call_{n}"), "read", json!({"n": n}), lines(&format!("page {n} line"), 250))
    };
    (0..12).fold(Conversation::new().user("Read on."), read).with("model", model)
}

/// Asks for the list of models, which the provider answers so.
async fn list(scene: &Scene, reply: Reply) {
    scene.provider.will(reply.clone());
    let answer = scene.get("/v1/models?limit=5").await;
    assert_eq!((answer.status(), &answer.body), (200, &reply.body()));
}

fn models(models: &Value) -> Reply {
    Reply::json("200 OK", &json!({"object": "list", "data": models}))
}

#[tokio::test]
async fn a_list_of_models_tells_it() {
    let scene = Scene::with(|_| {}).await;
    scene.agent("before").asks(&long_talk("tiny")).await.assert_untouched();
    list(
        &scene,
        models(&json!([{"id": "tiny", "context_length": 9_000}, {"id": "vast", "context_length": 400_000}])),
    )
    .await;
    // It is read behind the answer, so a client may be quicker.
    let turn = eventually(async || {
        let turn = scene.agent("after").asks(&long_talk("tiny")).await;
        (turn.outcome() == "pruned").then_some(turn)
    })
    .await;
    assert!(turn.sent().body.len() < turn.asked.len() / 2);
    scene.agent("vast").asks(&long_talk("vast")).await.assert_untouched();
    scene.agent("other").asks(&long_talk("unlisted")).await.assert_untouched();
}

#[tokio::test]
async fn a_packed_list_passes_packed_and_tells_it_too() {
    let scene = Scene::with(|_| {}).await;
    let mut packing = GzEncoder::new(Vec::new(), Compression::default());
    packing.write_all(&models(&json!([{"id": "tiny", "max_model_len": 9_000}])).body()).unwrap();
    let packed = Reply::new("200 OK", packing.finish().unwrap())
        .header("Content-Type", "application/json")
        .header("Content-Encoding", "gzip");
    list(&scene, packed).await;
    eventually(async || {
        let turn = scene.agent("after").asks(&long_talk("tiny")).await;
        (turn.outcome() == "pruned").then_some(())
    })
    .await;
}

#[tokio::test]
async fn room_for_the_answer_is_left() {
    let scene = Scene::with(|parts| parts.pipeline.default.context_window = Some(24_000)).await;
    scene.agent("short").asks(&long_talk("m")).await.assert_untouched();
    let turn = scene.agent("long").asks(&long_talk("m").with("max_completion_tokens", 12_000)).await;
    assert_eq!(turn.outcome(), "pruned");
    assert!(turn.sent().body.len() < turn.asked.len() / 2 + 2_000, "{}", turn.sent().body.len());
}

#[tokio::test]
async fn a_window_belongs_to_its_upstream() {
    let elsewhere = crate::support::Provider::answering(60_000).await;
    let scene = Scene::with(|parts| {
        let named = secateur::upstream::NamedUpstream { url: elsewhere.url.clone() };
        parts.upstream.named.insert("local".to_owned(), named);
    })
    .await;
    list(&scene, models(&json!([{"id": "tiny", "context_length": 9_000}]))).await;
    eventually(async || {
        let turn = scene.agent("here").asks(&long_talk("tiny")).await;
        (turn.outcome() == "pruned").then_some(())
    })
    .await;
    let body = long_talk("tiny").body();
    let mut client = scene.proxy.client().await;
    let head = format!(
        "POST /local/v1/chat/completions HTTP/1.1\r\nHost: p\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    client.send([head.as_bytes(), &body].concat()).await;
    assert_eq!(client.message().await.status(), 200);
    assert!(elsewhere.received()[0].body == body);
}
