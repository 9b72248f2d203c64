//! Heads: what an edit changes in them, what is told on the answer, and that all else goes on.

use serde_json::json;

use crate::support::{Conversation, Reply, Scene, Turn, lines};

fn talk() -> Conversation {
    Conversation::new().user("Count.").step("call_a", "count", json!({"n": 1}), lines("sheep", 80)).step(
        "call_b",
        "count",
        json!({"n": 2}),
        lines("goat", 80),
    )
}

/// A turn whose first result was cleared.
async fn pruned(scene: &Scene) -> Turn {
    let agent = scene.agent("heads");
    agent.asks(&talk()).await.assert_untouched();
    let turn = agent.asks(&talk()).await;
    assert_eq!(turn.changed(), [2]);
    turn
}

#[tokio::test]
async fn an_edited_body_has_its_own_length_however_it_came() {
    let scene = Scene::clearing(2).await;
    pruned(&scene).await;
    let body = talk().body();
    let mut client = scene.proxy.client().await;
    client
        .send(
            "POST /v1/chat/completions HTTP/1.1\r\nHost: p\r\nX-Session-Id: heads\r\nTE: trailers\r\n\
             Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n",
        )
        .await;
    for piece in body.chunks(100) {
        client.send([format!("{:x};x=1\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat()).await;
    }
    client.send("0\r\nX-Sum: 1\r\n\r\n").await;
    assert_eq!(client.message().await.status(), 200);
    let sent = &scene.provider.received()[2];
    assert!(sent.body.len() < body.len());
    assert_eq!(sent.value("content-length"), Some(sent.body.len().to_string().as_str()));
    assert_eq!(sent.value("transfer-encoding"), None);
}

#[tokio::test]
async fn all_fields_of_the_client_go_on_beside_an_edit() {
    let scene = Scene::clearing(2).await;
    pruned(&scene).await;
    let fields = [
        ("Authorization", "Bearer one-key"),
        ("X-Api-Key", "another"),
        ("OpenAI-Organization", "org-1"),
        ("HTTP-Referer", "https://agent.example/"),
        ("X-Title", "An agent; \"quoted\""),
        ("X-Stainless-Retry-Count", "0"),
        ("Anthropic-Beta", "one,two"),
        ("Anthropic-Beta", "three"),
        ("User-Agent", "agent/1.0 (x)"),
        ("Idempotency-Key", "0f"),
        ("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
        ("Cookie", "a=b"),
    ];
    let mut agent = scene.agent("heads");
    for (name, value) in fields {
        agent = agent.header(name, value);
    }
    // The credentials make it another session, which is pruned in its own second turn.
    agent.asks(&talk()).await;
    let turn = agent.asks(&talk()).await;
    assert_eq!(turn.changed(), [2]);
    let sent = turn.sent();
    for (name, value) in fields {
        let name = name.to_lowercase();
        assert!(sent.headers.contains(&(name, value.to_owned())), "{value}: {:?}", sent.headers);
    }
    assert_eq!(sent.value("host"), scene.provider.url.strip_prefix("http://"));
    let mut added: Vec<_> = sent.names();
    added.retain(|name| !fields.iter().any(|(own, _)| own.eq_ignore_ascii_case(name)));
    added.sort_unstable();
    assert_eq!(added, ["accept", "content-length", "content-type", "host", "x-session-id"]);
}

#[tokio::test]
async fn a_pruned_answer_tells_what_was_done() {
    let scene = Scene::clearing(2).await;
    let turn = pruned(&scene).await;
    assert_eq!(turn.outcome(), "pruned");
    assert_eq!(turn.answer.value("x-secateur-pruned"), Some("hard=1"));
    let tokens = |name| turn.answer.value(name).unwrap().parse::<u64>().unwrap();
    let (before, after) = (tokens("x-secateur-tokens-before"), tokens("x-secateur-tokens-after"));
    assert_eq!(before, 60_000);
    assert!(after < before, "{after}");
    let metrics = scene.metrics().await;
    assert!(metrics.contains("secateur_edits_total{stage=\"hard\"} 1"), "{metrics}");
    let session = scene.session("heads").await;
    assert_eq!((&session["prunes"], &session["edits"]), (&json!(1), &json!(1)));
    assert!(session["saved_tokens"].as_u64() > Some(300), "{session}");
}

#[tokio::test]
async fn an_answer_to_an_untouched_request_tells_only_why() {
    let scene = Scene::clearing(2).await;
    let turn = scene.agent("quiet").asks(&Conversation::new().user("Hello.")).await;
    let own: Vec<_> =
        turn.answer.names().into_iter().filter(|name| name.starts_with("x-secateur-")).collect();
    assert_eq!((own, turn.outcome()), (vec!["x-secateur-outcome"], "unchanged; reason=below_threshold"));
}

#[tokio::test]
async fn fields_of_the_answer_go_on() {
    let scene = Scene::clearing(2).await;
    let reply = Reply::telling(7)
        .header("X-Request-Id", "r1")
        .header("X-Ratelimit-Remaining-Tokens", "12")
        .header("Set-Cookie", "a=1")
        .header("Set-Cookie", "b=2")
        .header("Openai-Processing-Ms", "3");
    scene.provider.will(reply);
    let turn = scene.agent("fields").asks(&Conversation::new().user("Hello.")).await;
    assert_eq!(
        turn.answer.names(),
        [
            "content-type",
            "x-request-id",
            "x-ratelimit-remaining-tokens",
            "set-cookie",
            "set-cookie",
            "openai-processing-ms",
            "content-length",
            "x-secateur-outcome"
        ]
    );
}

#[tokio::test]
async fn a_prefixed_path_and_its_query_are_the_same_conversation_elsewhere() {
    let scene = Scene::clearing(2).await;
    let body = talk().body();
    let path = "/openai/deployments/gpt%2D4o/chat/completions?api-version=2026-01-01&x";
    for turn in 0..2 {
        let mut client = scene.proxy.client().await;
        let head = format!("POST {path} HTTP/1.1\r\nHost: p\r\nX-Session-Id: azure\r\n");
        let length = format!("Content-Length: {}\r\n\r\n", body.len());
        client.send([head.as_bytes(), length.as_bytes(), &body].concat()).await;
        assert_eq!(client.message().await.status(), 200);
        scene.has_settled(turn + 1).await;
    }
    let sent = scene.provider.received();
    assert_eq!(sent[1].start, format!("POST {path} HTTP/1.1"));
    assert!(sent[0].body == body && sent[1].body.len() < body.len());
}
