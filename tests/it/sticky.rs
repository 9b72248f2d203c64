//! An edit that a provider has seen is said again in the same bytes, whatever the figures are.

use serde_json::json;

use crate::support::{Conversation, GONE, Reply, Scene, Turn, lines};

fn step(talk: Conversation, n: usize) -> Conversation {
    talk.step(&format!("call_{n}"), "station", json!({"n": n}), lines(&format!("station {n} rain"), 80))
}

/// A conversation whose first result was cleared in its second turn.
async fn pruned_once(scene: &Scene, session: &str) -> (Conversation, Turn) {
    let agent = scene.agent(session);
    let talk = step(Conversation::new().system("You keep weather records.").user("Collect them."), 1);
    agent.asks(&talk).await.assert_untouched();
    let talk = step(talk, 2);
    let turn = agent.asks(&talk).await;
    assert_eq!(turn.changed(), [3]);
    (talk, turn)
}

fn same_beginning(first: &Turn, second: &Turn) {
    let (first, second) = (first.sent().spelt_messages(), second.sent().spelt_messages());
    assert_eq!(second[..first.len()], first);
}

#[tokio::test]
async fn it_stays_when_the_figures_fall() {
    let scene = Scene::clearing(2).await;
    scene.provider.will(Reply::telling(60_000)).will(Reply::telling(900));
    let (mut talk, mut before) = pruned_once(&scene, "falls").await;
    for n in 3..=6 {
        scene.provider.will(Reply::telling(1_000 + n as u64));
        talk = step(talk, n);
        let turn = scene.agent("falls").asks(&talk).await;
        same_beginning(&before, &turn);
        assert_eq!(turn.changed(), [3], "nothing new below the threshold");
        assert_eq!(turn.outcome(), "pruned");
        assert_eq!(turn.answer.value("x-secateur-pruned"), None, "nothing is new");
        before = turn;
    }
}

#[tokio::test]
async fn it_stays_in_cooldown_and_when_the_next_prune_comes() {
    let scene = Scene::clearing(2).await;
    let (talk, pruned) = pruned_once(&scene, "grows").await;
    scene.provider.will(Reply::telling(60_100));
    let talk = step(talk, 3);
    let cooling = scene.agent("grows").asks(&talk).await;
    assert_eq!(cooling.changed(), [3]);
    same_beginning(&pruned, &cooling);

    scene.provider.will(Reply::telling(70_000));
    let talk = step(talk, 4);
    scene.agent("grows").asks(&talk).await;
    let talk = step(talk, 5);
    let grown = scene.agent("grows").asks(&talk).await;
    assert_eq!(grown.changed(), [3, 5, 7, 9]);
    assert_eq!(grown.sent().spelt_messages()[3], pruned.sent().spelt_messages()[3]);
    assert_eq!(scene.session("grows").await["prunes"], 2);
}

#[tokio::test]
async fn it_stays_when_an_answer_fails() {
    let scene = Scene::clearing(2).await;
    scene.provider.will(Reply::telling(60_000)).will(Reply::json("500 Oops", &json!({"error": {}})));
    let (talk, failed) = pruned_once(&scene, "fails").await;
    let again = scene.agent("fails").asks(&talk).await;
    assert_eq!(again.sent().body, failed.sent().body);
}

#[tokio::test]
async fn a_retry_of_the_same_request_is_the_same() {
    let scene = Scene::clearing(2).await;
    let (talk, first) = pruned_once(&scene, "retry").await;
    for _ in 0..3 {
        assert_eq!(scene.agent("retry").asks(&talk).await.sent().body, first.sent().body);
    }
    assert_eq!(scene.session("retry").await["prunes"], 1);
}

#[tokio::test]
async fn it_stays_on_another_branch_of_the_conversation() {
    let scene = Scene::clearing(2).await;
    scene.provider.will(Reply::telling(60_000)).will(Reply::telling(900));
    let (talk, pruned) = pruned_once(&scene, "fork").await;
    let branch = scene.agent("fork").asks(&talk.clone().user("Another question.")).await;
    same_beginning(&pruned, &branch);
    let other = scene.agent("fork").asks(&talk.assistant("Done.").user("Something else.")).await;
    same_beginning(&pruned, &other);
}

#[tokio::test]
async fn it_goes_quietly_when_the_client_has_summed_up_itself() {
    let scene = Scene::clearing(2).await;
    pruned_once(&scene, "compact").await;
    let summary = Conversation::new().system("You keep weather records.").user("So far: it rained.").step(
        "call_9",
        "station",
        json!({"n": 9}),
        "dry",
    );
    let agent = scene.agent("compact");
    agent.asks(&summary).await.assert_untouched();
    assert_eq!(agent.asks(&summary).await.answer.status(), 200);
}

#[tokio::test]
async fn two_requests_at_once_carry_the_same() {
    let scene = Scene::clearing(2).await;
    let agent = scene.agent("twice");
    let talk = step(Conversation::new().user("Collect them."), 1);
    agent.asks(&talk).await.assert_untouched();
    let talk = step(talk, 2);
    let (one, other) = (talk.clone().user("Sum up."), talk.clone().user("Draw a map."));
    // Neither is answered before both have arrived.
    scene
        .provider
        .will(Reply::telling(60_100).once_received(3))
        .will(Reply::telling(60_200).once_received(3));
    let both = (one.body(), other.body());
    let (mut left, mut right) = tokio::join!(agent.begins(&both.0), agent.begins(&both.1));
    assert_eq!((left.message().await.status(), right.message().await.status()), (200, 200));
    scene.has_settled(3).await;
    let sent = scene.provider.received();
    let messages = |at: usize| sent[at].spelt_messages()[..5].to_vec();
    assert_eq!(messages(1), messages(2));
    assert_eq!(sent[1].message(2)["content"], GONE);
    let session = scene.session("twice").await;
    assert_eq!((session["prunes"].as_u64(), session["edits"].as_u64()), (Some(1), Some(1)));

    // Neither branch forgets that a prune was just made.
    for branch in [one, other] {
        let next = agent.asks(&step(branch, 3)).await;
        assert_eq!(next.sent().spelt_messages()[..5], messages(1));
    }
}
