//! Bodies keep their spelling: all of it without an edit, all but the edited texts with one.

use crate::support::{Conversation, GONE, Reply, Scene, clear_all_old, lines};
use serde_json::json;

/// A request in which nothing is spelt as a program would spell it, ending with the output `newest`.
fn odd_spelling(old: &str, newest: &str) -> String {
    let head = "\u{20}{\t\"temperature\" : 1.0,\"top_p\":1e-0 , \"seed\":-0,\"x_big\":12345678901234567890123,\r\n\
        \"x_far\": 1E400, \"logit_bias\" :{\"50256\":-100.00,\"7\":2e+1 },\"mod\\u0065l\":\"caf\\u00e9 \u{1f30d}\\/m\",\n\
        \"stop\":[ ],\"tools\":[{\"function\":{\"parameters\":{\"z\":1,\"a\":{\"$ref\":\"#\\/d\"}},\"name\":\"look\"},\"type\":\"function\"}],\n";
    let messages = format!(
        "\"messages\": [ {{\"content\":\"B\\u0065gin \\ud83d\\ude00\",\"role\":\"user\"}},\n\
         {{\"role\":\"assistant\" ,\"content\":null,\"tool_calls\":[{{\"type\":\"function\",\"id\":\"c\\u0061ll_a\",\
         \"function\":{{\"arguments\":\"{{\\u0022n\\\":1.50}}\",\"name\":\"look\"}}}}]}} , \
         {{ \"tool_call_id\":\"call_a\",\"content\" :  {old} ,\"role\":\"tool\" }},\
         {{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{{\"id\":\"b\",\"type\":\"function\",\"function\":\
         {{\"name\":\"look\",\"arguments\":\"\"}}}}]}},{{\"role\":\"tool\",\"tool_call_id\":\"b\",\"content\":{newest}}} ]\n"
    );
    format!("{head}{messages},\"max_tokens\" : 0512.0e0\r\n}} \n").replace("0512", "512")
}

#[tokio::test]
async fn without_an_edit_every_byte_stays_and_with_one_all_others_do() {
    let scene = Scene::clearing(2).await;
    let old = format!("\"{}\"", "a \\u0061 \\/ \\\"row\\\" \\ud83e\\udd94 \u{1f994} é\\n".repeat(60));
    let newest = "\"n\\u0065w\"";
    let body = odd_spelling(&old, newest);
    for expected in [body.clone(), odd_spelling(&format!("\"{GONE}\""), newest)] {
        let turn = scene.agent("odd").posts(body.clone()).await;
        assert_eq!(turn.sent().text(), expected);
        assert_eq!(turn.sent().value("content-length"), Some(expected.len().to_string().as_str()));
        scene.has_settled(scene.provider.received().len() as u64).await;
    }
}

#[tokio::test]
async fn a_body_of_several_megabytes_passes_and_is_pruned() {
    let scene = Scene::pruning(|pruning| {
        clear_all_old(pruning, 2);
        pruning.image_tokens = 100;
    })
    .await;
    let agent = scene.agent("large");
    let photo = format!("data:image/jpeg;base64,{}", "/9j/4AAQ".repeat(400_000));
    let talk = Conversation::new()
        .user(json!([{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": photo}}]))
        .step("call_a", "look", json!({}), lines("leaf", 80));
    assert!(talk.body().len() > 3_000_000);
    agent.asks(&talk).await.assert_untouched();
    assert_eq!(scene.session("large").await["input_tokens"], 60_000);
    assert_eq!(agent.asks(&talk.step("call_b", "look", json!({}), "bark")).await.changed(), [2]);
}

#[tokio::test]
async fn what_is_no_conversation_passes_and_so_does_its_answer() {
    let scene = Scene::clearing(2).await;
    let bodies: [&[u8]; 12] = [
        b"",
        b"hello",
        b"{\"model\":\"m\",\"messages\":[{\"role\":\"user\"",
        b"{\"messages\":[]}{\"messages\":[]}",
        b"[1,2]",
        b"null",
        b"{\"prompt\":\"once\"}",
        b"{\"messages\":\"hello\"}",
        b"{\"messages\":{\"role\":\"user\"}}",
        b"{\"messages\":[{\"role\":\"user\",\"content\":\"\xff\xfe\"}]}",
        b"{\"messages\":[],\"messages\":[]}",
        b"{'messages':[]}",
    ];
    for body in bodies {
        let refusal = Reply::json("400 Bad Request", &json!({"error": {"message": "no such body"}}));
        scene.provider.will(refusal.clone());
        let turn = scene.agent("none").posts(body).await;
        turn.assert_untouched();
        assert_eq!((turn.answer.status(), &turn.answer.body), (400, &refusal.body()));
        assert_eq!(turn.outcome(), "bypassed; reason=undecodable", "{}", String::from_utf8_lossy(body));
    }
    assert_eq!(scene.sessions().await, [] as [serde_json::Value; 0]);
    scene.agent("good").asks(&Conversation::new().user("Hello.")).await.assert_untouched();
}

#[tokio::test]
async fn depth_is_no_matter() {
    let scene = Scene::clearing(2).await;
    let deep = format!("{}{}", "[{\"a\":".repeat(50_000) + "1", "}]".repeat(50_000));
    let plain = Conversation::new()
        .user("Count.")
        .step("call_a", "count", json!({"n": 1}), lines("sheep", 80))
        .step("call_b", "count", json!({"n": 2}), "@")
        .step("call_c", "count", json!({"n": 3}), "end")
        .with("x_tree", "@");
    let body = String::from_utf8(plain.body()).unwrap().replace("\"@\"", &deep);
    // What is not understood is counted as well: this is large at once.
    let turn = scene.agent("deep").posts(body.clone()).await;
    let spelt = |text: &str| json!(text).to_string();
    assert!(turn.sent().text() == body.replace(&spelt(&lines("sheep", 80)), &spelt(GONE)));
}

#[tokio::test]
async fn half_characters_and_repeated_members_pass_unjudged() {
    let scene = Scene::clearing(2).await;
    let output = lines("tick", 80).replace('\n', "\\n");
    let half = r#"{"role":"user","content":"half \ud83d and \udc00 of a \u0000 character","content_x":1}"#;
    let twice = r#"{"role":"user","content":"first","content":"second"}"#;
    for odd in [half, twice] {
        let call = |id: &str, output: &str| {
            format!(
                r#"{{"role":"assistant","tool_calls":[{{"id":"{id}","type":"function","function":{{"name":"f","arguments":"{{}}"}}}}]}},{{"role":"tool","tool_call_id":"{id}","content":"{output}"}}"#
            )
        };
        let body =
            format!(r#"{{"model":"m","messages":[{odd},{},{}]}}"#, call("a", &output), call("b", "end"));
        for _ in 0..2 {
            let turn = scene.agent(odd.get(..20).unwrap()).posts(body.clone()).await;
            assert_eq!(turn.answer.status(), 200);
            let cleared = body.replace(&output, GONE);
            let sent = turn.sent().text();
            assert!(sent == body || sent == cleared, "{sent}");
            assert!(sent.contains(odd));
        }
    }
}
