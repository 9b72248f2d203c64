//! The same story in Anthropic's Messages.

use super::*;

pub(super) struct Speaker {
    pub(super) agent: Agent,
}

impl Speaker {
    pub(super) fn new() -> Self {
        Self { agent: Agent::new() }
    }

    pub(super) fn step(&mut self, id: &str, output: &str) -> &mut Self {
        let call = json!({"type": "tool_use", "id": id, "name": "read", "input": {"id": id}});
        let result = json!({"type": "tool_result", "tool_use_id": id, "content": output});
        self.agent.messages.push(json!({"role": "assistant", "content": [call]}));
        self.agent.messages.push(json!({"role": "user", "content": [result]}));
        self
    }

    pub(super) async fn prepare(&self, path: &str) -> Prepared {
        let inbound = Inbound { path: path.into(), ..self.agent.inbound(self.agent.body()) };
        self.agent.pipeline.prepare(inbound).await
    }

    /// A whole turn; what was sent.
    pub(super) async fn turn(&self, input: u64) -> Bytes {
        let prepared = self.prepare("/v1/messages").await;
        self.agent.settle(prepared.turn.unwrap(), 200, Some(input)).await;
        prepared.body.unwrap_or_else(|| self.agent.body())
    }
}

#[tokio::test]
async fn counting_says_what_was_said_and_adds_nothing() {
    let mut speaker = Speaker::new();
    speaker.step("one", &lines("one"));
    let count = || speaker.prepare("/v1/messages/count_tokens");
    assert!(count().await.body.is_none() && speaker.agent.pipeline.sessions().await.is_empty());
    speaker.turn(60_000).await;

    speaker.step("two", &lines("two"));
    let before = speaker.agent.view().await;
    let counted = speaker.prepare("/v1/messages/count_tokens").await;
    assert!(counted.body.is_none() && counted.turn.is_none(), "a prune is due, but not for a count");
    assert_eq!(counted.receipt.outcome, Outcome::Unchanged(Quiet::Counting));
    let after = speaker.agent.view().await;
    assert_eq!((after.requests, after.input_tokens, after.edits), (before.requests, before.input_tokens, 0));

    let sent = speaker.turn(9_000).await;
    let counted = speaker.prepare("/v1/messages/count_tokens").await;
    assert_eq!((counted.body, counted.receipt.replayed), (Some(sent), 1));
    assert_eq!(counted.receipt.outcome, Outcome::Pruned);
}

#[tokio::test]
async fn an_edit_stays_when_the_cache_mark_moves_on() {
    let mut speaker = Speaker::new();
    speaker.step("one", &lines("one"));
    speaker.turn(60_000).await;
    speaker.step("two", "2");
    let edited = |body: &Bytes| {
        let body: Value = serde_json::from_slice(body).unwrap();
        body["messages"][2]["content"][0]["content"].clone()
    };
    assert_eq!(edited(&speaker.turn(9_000).await), GONE);
    let block = json!({"type": "text", "text": lines("one"), "cache_control": {"type": "ephemeral"}});
    speaker.agent.messages[2]["content"][0]["content"] = json!([block]);
    let expected = json!([{"type": "text", "text": GONE, "cache_control": {"type": "ephemeral"}}]);
    assert_eq!(edited(&speaker.turn(9_000).await), expected);
}
