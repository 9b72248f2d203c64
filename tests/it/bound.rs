//! A model whose signed thinking is bound to all that stands in front of it, with an agent that sends it back.

use secateur::mock::{self, MockOptions, Script};
use serde_json::{Value, json};

use crate::support::{Sidecar, lines};

#[tokio::test]
async fn thinking_that_is_bound_never_costs_the_agent_an_answer() {
    let script = r#"{"thinking": true, "bind_thinking": true, "tool_calls": [{"name": "read"}]}"#;
    let script = Script::parse(script).expect("a script");
    let mock = mock::spawn(MockOptions { script, ..MockOptions::default() }).await.expect("a free port");
    let proxy = Sidecar::with(&format!("http://{mock}"), |parts| {
        let pruning = &mut parts.pipeline.default.pruning;
        pruning.pruning_threshold = 12_000.0;
        pruning.trigger_every_n_tokens = 1000;
        pruning.keep_recent_tokens = 2000;
    })
    .await;
    let mut client = proxy.client().await;
    let mut messages = vec![json!({"role": "user", "content": "Read on."})];
    let (mut sizes, mut pruned) = (Vec::new(), 0);
    for turn in 0..40 {
        let body = json!({"model": "mock", "max_tokens": 64, "messages": messages}).to_string();
        let head = "Host: p\r\nX-Session-Id: s\r\nAnthropic-Version: 2023-06-01";
        let length = body.len();
        client
            .send(format!("POST /v1/messages HTTP/1.1\r\n{head}\r\nContent-Length: {length}\r\n\r\n{body}"))
            .await;
        let answer = client.message().await;
        let words = String::from_utf8_lossy(&answer.body);
        assert_eq!(answer.status(), 200, "turn {turn}: {words}");
        pruned += usize::from(answer.value("x-secateur-outcome") == Some("pruned"));
        let answer: Value = serde_json::from_slice(&answer.body).expect("an answer is JSON");
        sizes.push(answer["usage"]["input_tokens"].as_u64().expect("a figure"));
        let id = &answer["content"][1]["id"];
        let told = lines(&format!("page {turn}, line"), 150);
        messages.extend([
            json!({"role": "assistant", "content": answer["content"]}),
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": told}]}),
        ]);
    }
    let largest = sizes.iter().max().expect("there are some");
    assert!(pruned > 10 && *largest < 30_000, "{pruned} pruned: {sizes:?}");
}
