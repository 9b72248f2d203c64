//! What is pruned is old tool output that becomes smaller by it, and nothing else.

use serde_json::{Value, json};

use crate::support::{Conversation, GONE, Scene, clear_all_old, lines};

/// Asks once, so that the size is known, then with one more step, which is the newest.
async fn second_turn(scene: &Scene, talk: &Conversation) -> (Vec<usize>, Vec<Value>) {
    let agent = scene.agent("scope");
    agent.asks(talk).await.assert_untouched();
    let turn = agent.asks(&talk.clone().step("call_z", "look", json!({"at": "end"}), "nothing")).await;
    let messages = turn.sent().json()["messages"].as_array().unwrap().clone();
    (turn.changed(), messages)
}

#[tokio::test]
async fn what_people_and_the_model_said_stays_however_long() {
    let scene = Scene::clearing(2).await;
    let long_arguments = json!({"query": lines("where is the key", 80)});
    let talk = Conversation::new()
        .system(lines("rule", 200))
        .message(json!({"role": "developer", "content": lines("convention", 200)}))
        .user(lines("requirement", 200))
        .step("call_a", "search", long_arguments, lines("drawer", 80))
        .assistant(lines("observation", 200))
        .user(lines("remark", 200));
    let (changed, messages) = second_turn(&scene, &talk).await;
    assert_eq!(changed, [4]);
    assert_eq!(messages[4]["content"], GONE);
}

#[tokio::test]
async fn the_newest_results_stay_however_large_and_however_many() {
    let scene = Scene::clearing(1).await;
    let agent = scene.agent("newest");
    let old = Conversation::new().user("Compare.").step("call_o", "load", json!({}), lines("old row", 80));
    agent.asks(&old).await.assert_untouched();
    let talk = old
        .calls(&[("call_a", "load", json!({"n": 1})), ("call_b", "load", json!({"n": 2}))])
        .result("call_a", lines("left row", 3_000))
        .result("call_b", lines("right row", 3_000));
    assert_eq!(agent.asks(&talk).await.changed(), [2]);
}

#[tokio::test]
async fn the_newest_tokens_stay_as_configured() {
    let scene = Scene::pruning(|pruning| {
        clear_all_old(pruning, 1);
        pruning.keep_recent_tokens = 1_000;
    })
    .await;
    let mut talk = Conversation::new().user("Count.");
    for n in 0..6 {
        talk = talk.step(&format!("call_{n}"), "count", json!({"n": n}), lines(&format!("sheep {n}"), 60));
    }
    // Each output has about 420 tokens: the newest two and part of the third are within 1,000.
    let (changed, _) = second_turn(&scene, &talk).await;
    assert_eq!(changed, [2, 4, 6]);
}

#[tokio::test]
async fn protected_tools_protected_texts_and_short_errors_stay() {
    let scene = Scene::pruning(|pruning| {
        clear_all_old(pruning, 1);
        pruning.protect_tools = vec!["plan_*".to_owned()];
        pruning.protect_patterns = vec!["(?i)licence key".to_owned()];
    })
    .await;
    let failed = json!({"role": "tool", "tool_call_id": "call_d", "content": lines("no such door", 30), "is_error": true});
    let talk = Conversation::new()
        .user("Begin.")
        .step("call_a", "plan_show", json!({}), lines("step", 80))
        .step("call_b", "read", json!({"n": 1}), lines("Licence Key", 80))
        .step("call_c", "read", json!({"n": 2}), lines("ordinary", 80))
        .calls(&[("call_d", "open", json!({}))])
        .message(failed);
    assert_eq!(second_turn(&scene, &talk).await.0, [6]);
}

#[tokio::test]
async fn an_output_that_would_not_become_smaller_stays() {
    let scene = Scene::pruning(|pruning| {
        clear_all_old(pruning, 1);
        pruning.hard_clear_placeholder =
            "This output has been removed by an administrator. Ask for it again if you still need it.".into();
    })
    .await;
    let talk = Conversation::new()
        .user("Ring.")
        .step("call_a", "ring", json!({"n": 1}), "ok")
        .step("call_b", "ring", json!({"n": 2}), "")
        .step("call_c", "ring", json!({"n": 3}), "Rung three times, to be exact.")
        .step("call_d", "ring", json!({"n": 4}), lines("toll", 80));
    assert_eq!(second_turn(&scene, &talk).await.0, [8]);
}

#[tokio::test]
async fn observations_of_an_agent_without_tool_calls_are_tool_output() {
    let scene = Scene::pruning(|pruning| {
        clear_all_old(pruning, 2);
        pruning.observation_patterns = vec!["^Observation:".to_owned()];
    })
    .await;
    let talk = Conversation::new()
        .user("Find the leak.")
        .assistant("Action: inspect(pipe)")
        .user(format!("Observation: {}", lines("drip", 80)))
        .assistant("Action: inspect(tap)")
        .user(format!("Note: {}", lines("the tap is closed", 80)));
    let (changed, messages) = second_turn(&scene, &talk).await;
    assert_eq!(changed, [2]);
    assert_eq!(messages[2]["content"], GONE);
}

#[tokio::test]
async fn a_request_below_the_threshold_is_left_alone() {
    let scene = Scene::clearing(1).await;
    let talk = Conversation::new().user("Count.").step("call_a", "count", json!({}), lines("sheep", 500));
    let agent = scene.agent("small");
    for _ in 0..2 {
        scene.provider.will(crate::support::Reply::telling(49_000));
        let turn = agent.asks(&talk).await;
        turn.assert_untouched();
        assert_eq!(turn.outcome(), "unchanged; reason=below_threshold");
    }
}

#[tokio::test]
async fn a_prune_for_next_to_nothing_is_not_made() {
    let scene = Scene::pruning(|pruning| {
        clear_all_old(pruning, 2);
        pruning.trigger_every_n_tokens = 20_000;
    })
    .await;
    let agent = scene.agent("little");
    let talk = Conversation::new().user("Count.").step("call_a", "count", json!({}), lines("sheep", 80));
    agent.asks(&talk).await.assert_untouched();
    let turn = agent.asks(&talk.step("call_b", "count", json!({"n": 2}), "none")).await;
    turn.assert_untouched();
    assert_eq!(turn.outcome(), "unchanged; reason=nothing_to_prune");
}
