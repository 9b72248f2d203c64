//! Edits in front of signed thinking, with a model that binds thinking to what stands in front of it.

use super::messages::Speaker;
use super::*;

const REFUSAL: &[u8] = br#"{"type":"error","error":{"type":"invalid_request_error",
    "message":"messages.5.content.0: Invalid `signature` in `thinking` block"}}"#;

/// A conversation with thinking in front of each call, one turn before its first prune.
async fn thinker() -> Speaker {
    let mut speaker = Speaker::new();
    think(&mut speaker, "one", &lines("one"));
    speaker.turn(60_000).await;
    think(&mut speaker, "two", &lines("two"));
    speaker
}

fn think(speaker: &mut Speaker, id: &str, output: &str) {
    speaker.step(id, output);
    let at = speaker.agent.messages.len() - 2;
    let blocks = speaker.agent.messages[at]["content"].as_array_mut().unwrap();
    blocks.insert(0, json!({"type": "thinking", "thinking": id, "signature": "c2ln"}));
}

fn thoughts(body: &[u8]) -> Vec<String> {
    let body: Value = serde_json::from_slice(body).unwrap();
    let messages = body["messages"].as_array().unwrap().iter();
    let blocks = messages.filter_map(|message| message["content"].as_array()).flatten();
    blocks.filter_map(|block| block["thinking"].as_str().map(str::to_owned)).collect()
}

fn is_cleared(body: &[u8]) -> bool {
    String::from_utf8_lossy(body).contains(GONE)
}

#[tokio::test]
async fn thinking_behind_an_edit_is_left_out_for_good_when_that_is_accepted() {
    let mut speaker = thinker().await;
    let prepared = speaker.prepare("/v1/messages").await;
    assert_eq!(thoughts(&prepared.body.unwrap()), ["one", "two"]);
    let mut turn = prepared.turn.unwrap();
    let recovery = speaker.agent.pipeline.recover(&mut turn, 400, REFUSAL).await.unwrap();
    assert_eq!((recovery.cause, recovery.outcome), (Cause::Thinking, Outcome::Pruned));
    assert!(is_cleared(&recovery.body));
    assert_eq!(thoughts(&recovery.body), ["one"]);
    speaker.agent.settle(turn, 200, Some(60_100)).await;

    think(&mut speaker, "three", "3");
    let sent = speaker.turn(61_500).await;
    assert_eq!(thoughts(&sent), ["one", "three"], "what was thought since fits what was sent");
    think(&mut speaker, "four", "4");
    let sent = speaker.turn(62_000).await;
    assert_eq!(thoughts(&sent), ["one"], "the next prune leaves out what it makes invalid, unasked");
}

#[tokio::test]
async fn nothing_in_front_of_thinking_is_pruned_when_only_the_clients_bytes_are_accepted() {
    let mut speaker = thinker().await;
    let mut turn = speaker.prepare("/v1/messages").await.turn.unwrap();
    let pipeline = Arc::clone(&speaker.agent.pipeline);
    assert!(pipeline.recover(&mut turn, 400, REFUSAL).await.is_some());
    let recovery = pipeline.recover(&mut turn, 400, REFUSAL).await.unwrap();
    assert_eq!(recovery.body, speaker.agent.body());
    assert_eq!(recovery.outcome, Outcome::Bypassed(Bypass::Thinking));
    assert!(pipeline.recover(&mut turn, 400, REFUSAL).await.is_none(), "that was the last resort");
    speaker.agent.settle(turn, 200, Some(60_100)).await;
    assert_eq!(speaker.agent.view().await.edits, 0);

    speaker.step("three", "3");
    let sent: Value = serde_json::from_slice(&speaker.turn(61_500).await).unwrap();
    assert_eq!(sent["messages"][2], speaker.agent.messages[2], "in front of the last thinking");
    assert_eq!(sent["messages"][4]["content"][0]["content"], GONE, "behind it");
    assert_eq!(thoughts(sent.to_string().as_bytes()), ["one", "two"]);
}

#[tokio::test]
async fn a_refusal_of_the_clients_own_thinking_is_the_clients() {
    let speaker = Speaker::new();
    let mut turn = speaker.prepare("/v1/messages").await.turn.unwrap();
    assert!(speaker.agent.pipeline.recover(&mut turn, 400, REFUSAL).await.is_none());
}
