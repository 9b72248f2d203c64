//! `observe` plans and reports, `off` does nothing; both forward every request as it came.

use secateur::pipeline::Mode;
use serde_json::json;

use crate::support::{Conversation, Reply, Scene, clear_all_old, lines};

async fn scene(mode: Mode) -> Scene {
    Scene::with(|parts| {
        clear_all_old(&mut parts.pipeline.default.pruning, 2);
        parts.pipeline.mode = mode;
    })
    .await
}

fn talk() -> Conversation {
    Conversation::new().user("Count.").step("call_a", "count", json!({"n": 1}), lines("sheep", 80)).step(
        "call_b",
        "count",
        json!({"n": 2}),
        lines("goat", 80),
    )
}

#[tokio::test]
async fn observing_reads_figures_and_reports_what_it_would_do() {
    let scene = scene(Mode::Observe).await;
    let agent = scene.agent("seen");
    for expected in
        ["unchanged; reason=below_threshold", "unchanged; reason=observed", "unchanged; reason=observed"]
    {
        let turn = agent.asks(&talk()).await;
        turn.assert_untouched();
        assert_eq!(turn.outcome(), expected);
        let planned = expected.ends_with("observed").then_some("hard=1");
        assert_eq!(turn.answer.value("x-secateur-pruned"), planned);
        assert_eq!(turn.answer.value("x-secateur-tokens-after").is_some(), planned.is_some());
    }
    let session = scene.session("seen").await;
    assert_eq!((&session["input_tokens"], &session["edits"]), (&json!(60_000), &json!(0)));
    let metrics = scene.metrics().await;
    assert!(metrics.contains("outcome=\"unchanged\",reason=\"observed\"} 2"));
    assert!(
        metrics.contains("secateur_prunes_total{format=\"chat\"} 0"),
        "what was only observed did not happen"
    );
}

#[tokio::test]
async fn observing_sends_nothing_again() {
    let scene = scene(Mode::Observe).await;
    let refusal = Reply::overflow(48_000, 16_000);
    scene.provider.will(refusal.clone());
    let turn = scene.agent("seen").asks(&talk()).await;
    turn.assert_untouched();
    assert_eq!((turn.answer.status(), &turn.answer.body), (400, &refusal.body()));
}

#[tokio::test]
async fn off_reads_and_remembers_nothing() {
    let scene = scene(Mode::Off).await;
    let refusal = Reply::overflow(48_000, 16_000);
    for reply in [Reply::telling(60_000), refusal, Reply::telling(60_000)] {
        scene.provider.will(reply.clone());
        let turn = scene.agent("unseen").posts(talk().body()).await;
        turn.assert_untouched();
        assert_eq!((turn.outcome(), &turn.answer.body), ("bypassed; reason=off", &reply.body()));
    }
    assert_eq!(scene.sessions().await, [] as [serde_json::Value; 0]);
}
