//! A pruned request is still one that the API takes: every call keeps its result, in its place, with all its members.

use serde_json::json;

use crate::support::{Conversation, GONE, Scene, assert_chain_holds, lines};

#[tokio::test]
async fn results_of_parallel_calls_are_cleared_where_they_stand() {
    let scene = Scene::clearing(4).await;
    let agent = scene.agent("birds");
    let talk = Conversation::new()
        .system("You count birds.")
        .user("Which pond is the liveliest?")
        .calls(&[
            ("call_p", "count", json!({"pond": "mill"})),
            ("call_q", "count", json!({"pond": "moor"})),
            ("call_r", "count", json!({"pond": "park"})),
        ])
        .result("call_q", lines("moor coot", 80))
        .result("call_p", lines("mill heron", 80))
        .result("call_r", lines("park duck", 80))
        .assistant("The park.")
        .user("And the river?");
    agent.asks(&talk).await.assert_untouched();

    let talk = talk.step("call_s", "count", json!({"river": "Elm"}), lines("swan", 80));
    let turn = agent.asks(&talk).await;
    assert_eq!(turn.changed(), [3, 4, 5]);
    for place in 3..=5 {
        assert_eq!(turn.sent().message(place)["content"], GONE);
    }
    assert_chain_holds(&turn.sent().json());
}

#[tokio::test]
async fn results_that_share_an_id_are_told_apart() {
    let scene = Scene::clearing(3).await;
    let agent = scene.agent("meters");
    let read = |talk: Conversation, room: &str| {
        talk.step("call_0", "meter", json!({"room": room}), lines(&format!("{room} kWh"), 80))
    };
    let mut talk = Conversation::new().user("Read the meters.");
    for room in ["cellar", "hall"] {
        talk = read(talk, room);
    }
    agent.asks(&talk).await.assert_untouched();
    talk = read(talk, "attic");
    let turn = agent.asks(&talk).await;
    assert_eq!(turn.changed(), [2]);
    assert_eq!(turn.sent().message(2)["content"], GONE);
    assert_eq!(turn.sent().message(6)["content"], lines("attic kWh", 80));
    assert_chain_holds(&turn.sent().json());
}

#[tokio::test]
async fn the_same_call_with_the_same_result_twice_keeps_its_edit_and_its_newest_result() {
    let scene = Scene::clearing(3).await;
    let agent = scene.agent("poll");
    let poll = |talk: Conversation| talk.step("call_0", "poll", json!({}), lines("still waiting", 80));
    let talk = poll(poll(Conversation::new().user("Wait for the build.")));
    agent.asks(&talk).await.assert_untouched();
    let mut talk = poll(talk);
    assert_eq!(agent.asks(&talk).await.changed(), [2]);
    for _ in 0..2 {
        talk = poll(talk);
        let turn = agent.asks(&talk).await;
        let newest = turn.sent().message(talk.len() - 1);
        assert_eq!(newest["content"], lines("still waiting", 80), "what was just read stays");
        assert_eq!(turn.sent().message(2)["content"], GONE);
        assert_chain_holds(&turn.sent().json());
    }
}

#[tokio::test]
async fn members_that_only_a_vendor_knows_survive() {
    let scene = Scene::clearing(2).await;
    let agent = scene.agent("vendor");
    let function = json!({"name": "tides", "arguments": "{ \"port\" : 7 }", "strict_x": true});
    let signed = json!({"id": "call_v", "type": "function", "index": 0, "function": function,
        "extra_content": {"maker": {"thought_signature": "b3BhcXVl+/=="}}});
    let part =
        json!({"type": "text", "text": lines("high water", 80), "cache_control": {"type": "ephemeral"}});
    let talk = Conversation::new()
        .user("When is high water?")
        .message(json!({"role": "assistant", "reasoning_content": "Look it up.", "tool_calls": [signed], "content": ""}))
        .message(json!({"tool_call_id": "call_v", "role": "tool", "name": "tides", "content": [part], "is_cached": null}))
        .message(json!({"role": "assistant", "content": "At noon.", "annotations": [],
            "reasoning_details": [{"type": "reasoning.encrypted", "data": "q/+Z==", "index": 0}]}))
        .user("Thanks. And low water?");
    agent.asks(&talk).await.assert_untouched();
    let talk = talk.step("call_w", "tides", json!({"low": true}), "at six");
    let turn = agent.asks(&talk).await;
    assert_eq!(turn.changed(), [2]);
    let expected = json!([{"type": "text", "text": GONE, "cache_control": {"type": "ephemeral"}}]);
    assert_eq!(turn.sent().message(2)["content"], expected);
}

#[tokio::test]
async fn functions_of_the_old_style_are_cleared_and_keep_their_names() {
    let scene = Scene::clearing(2).await;
    let agent = scene.agent("old");
    let functions = json!([{"name": "fare", "parameters": {"type": "object", "properties": {}}}]);
    let call = |zone: u32| json!({"name": "fare", "arguments": format!("{{\"zone\":{zone}}}")});
    let asks = |zone| json!({"role": "assistant", "content": null, "function_call": call(zone)});
    let gives = |zone: u32| json!({"role": "function", "name": "fare", "content": lines(&format!("zone {zone} fare"), 80)});
    let talk = Conversation::new()
        .with("functions", functions)
        .user("Fares for zones 1 and 2?")
        .message(asks(1))
        .message(gives(1));
    agent.asks(&talk).await.assert_untouched();
    let talk = talk.message(asks(2)).message(gives(2));
    let turn = agent.asks(&talk).await;
    assert_eq!(turn.changed(), [2]);
    assert_eq!(turn.sent().message(2), json!({"role": "function", "name": "fare", "content": GONE}));
}

#[tokio::test]
async fn a_history_that_came_broken_is_mended_nowhere() {
    let scene = Scene::clearing(2).await;
    let agent = scene.agent("broken");
    let talk = Conversation::new()
        .user("Go on.")
        .result("call_lost", lines("whose result is this", 80))
        .calls(&[("call_a", "look", json!({})), ("call_b", "look", json!({"at": 2}))])
        .result("call_a", lines("a view", 80))
        .user("Where is the other one?");
    agent.asks(&talk).await.assert_untouched();
    let talk = talk.assistant("I do not know.").user("Then leave it.");
    let turn = agent.asks(&talk).await;
    // Both are old tool output; neither gets a partner, and the call without one stays as it is.
    let changed = turn.changed();
    assert!(changed.iter().all(|place| [1, 3].contains(place)), "{changed:?}");
}
