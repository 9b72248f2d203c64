//! Which requests belong together, and which never do.

use serde_json::{Value, json};

use crate::support::{Conversation, GONE, Reply, Scene, eventually, lines};

fn opening() -> Conversation {
    Conversation::new().system("You plant trees.").user("Plant the first row.")
}

fn step(talk: Conversation, n: usize) -> Conversation {
    talk.step(&format!("call_{n}"), "plant", json!({"row": n}), lines(&format!("row {n} tree"), 80))
}

#[tokio::test]
async fn the_same_words_under_two_ids_are_two_sessions() {
    let scene = Scene::clearing(2).await;
    let (talk, longer) = (step(opening(), 1), step(step(opening(), 1), 2));
    scene.agent("one").asks(&talk).await.assert_untouched();
    assert_eq!(scene.agent("one").asks(&longer).await.changed(), [3]);
    scene.agent("two").asks(&longer).await.assert_untouched();
    scene.nameless_agent().asks(&longer).await.assert_untouched();
    assert_eq!(scene.sessions().await.len(), 3);
}

#[tokio::test]
async fn the_same_id_under_two_credentials_is_two_sessions() {
    let scene = Scene::clearing(2).await;
    let (talk, longer) = (step(opening(), 1), step(step(opening(), 1), 2));
    let one = scene.agent("shared").header("Authorization", "Bearer of-one");
    one.asks(&talk).await.assert_untouched();
    assert_eq!(one.asks(&longer).await.changed(), [3]);
    for (name, value) in
        [("Authorization", "Bearer of-two"), ("Api-Key", "Bearer of-one"), ("Authorization", "bearer of-one")]
    {
        scene.agent("shared").header(name, value).asks(&longer).await.assert_untouched();
    }
    let sessions = scene.sessions().await;
    assert_eq!(sessions.len(), 4);
    assert!(sessions.iter().all(|session| session["explicit_id"] == "shared"));
}

#[tokio::test]
async fn all_ways_to_name_a_session_are_heard() {
    let scene = Scene::clearing(2).await;
    let headers = [
        "X-Session-Id",
        "X-Claude-Code-Session-Id",
        "session_id",
        "Session-Id",
        "X-Session-Affinity",
        "X-Opencode-Session",
    ];
    for name in headers {
        scene.nameless_agent().header(name, &format!("by {name}")).asks(&opening()).await;
        assert_eq!(scene.session(&format!("by {name}")).await["requests"], 1);
    }
    let user_id = json!({"device_id": "d", "session_id": "by user id"}).to_string();
    for (talk, id) in [
        (opening().with("session_id", "by member"), "by member"),
        (opening().with("metadata", json!({"session_id": "by metadata"})), "by metadata"),
        (opening().with("metadata", json!({"user_id": user_id})), "by user id"),
        (opening().with("metadata", json!({"user_id": "user_1_account_2_session_by-suffix"})), "by-suffix"),
    ] {
        scene.nameless_agent().asks(&talk).await;
        assert_eq!(scene.session(id).await["requests"], 1);
    }
    for (name, value) in [("prompt_cache_key", "k"), ("user", "u")] {
        scene.nameless_agent().asks(&opening().with(name, value)).await;
    }
    let nameless = scene.sessions().await.into_iter().filter(|session| session["explicit_id"] == Value::Null);
    assert_eq!(nameless.map(|session| session["requests"].clone()).collect::<Vec<_>>(), [2]);
}

#[tokio::test]
async fn reminders_in_mid_conversation_start_no_new_session() {
    let scene = Scene::clearing(2).await;
    let agent = scene.nameless_agent();
    let talk = step(opening(), 1);
    agent.asks(&talk).await.assert_untouched();
    let talk = step(talk.system("Reminder: water them."), 2);
    assert_eq!(agent.asks(&talk).await.changed(), [3]);
    let talk = step(talk.system("Reminder: mind the frost.").user("Go on."), 3);
    let turn = agent.asks(&talk).await;
    assert_eq!(turn.sent().message(3)["content"], GONE);
    assert_eq!(scene.sessions().await.len(), 1);
}

#[tokio::test]
async fn a_side_request_leaves_the_main_conversations_size() {
    let scene = Scene::clearing(2).await;
    let agent = scene.agent("main");
    let talk = step(opening(), 1);
    agent.asks(&talk).await.assert_untouched();
    scene.provider.will(Reply::telling(310));
    let title = Conversation::new().system("Name this talk in three words.").user("Plant the first row.");
    agent.asks(&title).await.assert_untouched();
    assert_eq!(scene.session("main").await["input_tokens"], 60_000);
    assert_eq!(agent.asks(&step(talk, 2)).await.changed(), [3]);
}

#[tokio::test]
async fn a_small_conversation_beside_a_large_one_is_not_pruned_for_it() {
    let scene = Scene::clearing(2).await;
    let agent = scene.agent("both");
    agent.asks(&step(opening(), 1)).await.assert_untouched();
    let mut helper = Conversation::new().user("Look up the weather.");
    for n in 7..10 {
        helper = step(helper, n);
        scene.provider.will(Reply::telling(n as u64 * 100));
        agent.asks(&helper).await.assert_untouched();
    }
}

#[tokio::test]
async fn a_very_long_id_goes_on_whole_and_is_shown_short() {
    let scene = Scene::clearing(2).await;
    let long = |end: &str| "x".repeat(10 * 1024) + end;
    for (n, end) in ["a", "b"].into_iter().enumerate() {
        let turn = scene.agent(&long(end)).asks(&opening()).await;
        assert_eq!(turn.sent().value("x-session-id"), Some(long(end).as_str()));
        assert_eq!(scene.sessions().await.len(), n + 1, "ids that differ at their end differ");
    }
    for session in scene.sessions().await {
        assert_eq!(session["explicit_id"].as_str().map(str::len), Some(128));
    }
    assert!(!scene.metrics().await.contains("xxxx"));
}

#[tokio::test]
async fn a_flood_of_sessions_is_bounded_and_the_newest_are_those_that_are_kept() {
    const KEPT: u64 = 64;
    let scene = Scene::with(|parts| {
        crate::support::clear_all_old(&mut parts.pipeline.default.pruning, 2);
        parts.sessions.max_sessions = KEPT;
    })
    .await;
    let body = opening().body();
    let mut client = scene.proxy.client().await;
    for n in 0..1_200 {
        client.send(scene.agent(&format!("session {n}")).request(&body)).await;
        assert_eq!(client.message().await.status(), 200);
    }
    eventually(async || {
        let metrics = scene.metrics().await;
        let evicted = metrics.lines().find_map(|line| {
            line.strip_prefix("secateur_sessions_evicted_total{cause=\"full\"} ")?.parse::<u64>().ok()
        });
        evicted.filter(|evicted| *evicted + KEPT >= 1_200)
    })
    .await;
    let sessions = scene.sessions().await;
    assert!(sessions.len() as u64 <= KEPT, "{}", sessions.len());
    assert!(sessions.iter().any(|session| session["explicit_id"] == "session 1199"));
    // One that goes on is still known.
    let agent = scene.agent("goes on");
    agent.posts(step(opening(), 1).body()).await.assert_untouched();
    eventually(async || {
        let sessions = scene.sessions().await;
        sessions
            .iter()
            .any(|session| session["explicit_id"] == "goes on" && session["requests"] == 1)
            .then_some(())
    })
    .await;
    assert_eq!(agent.posts(step(step(opening(), 1), 2).body()).await.changed(), [3]);
}
