//! Contents of any shape: what has text is pruned, what is odd costs nothing and changes nothing.

use serde_json::{Value, json};

use crate::support::{Conversation, GONE, Scene, assert_chain_holds, clear_all_old, lines};

#[tokio::test]
async fn odd_contents_between_sound_ones_stay() {
    let scene = Scene::clearing(2).await;
    let agent = scene.agent("odd");
    let odd: [Value; 14] = [
        json!([{"type": "text"}]),
        json!([{"type": "text", "text": null}]),
        json!([{"type": "text", "text": 7}]),
        json!([{"text": "no type"}]),
        json!([{"type": "audio", "audio": {"data": "AAAA"}}]),
        json!([null, [], {}, "", 0]),
        json!([]),
        json!({}),
        json!({"type": "text", "text": lines("not in a list", 80)}),
        json!(null),
        json!(""),
        json!(false),
        json!(12.5),
        json!([[{"type": "text", "text": "too deep"}]]),
    ];
    let mut talk = Conversation::new().user("Sort the post.");
    for (n, content) in odd.iter().enumerate() {
        talk = talk.step(&format!("call_o{n}"), "tray", json!({"n": n}), content.clone()).step(
            &format!("call_s{n}"),
            "tray",
            json!({"sound": n}),
            lines(&format!("letter {n}"), 60),
        );
    }
    agent.asks(&talk).await.assert_untouched();
    let talk = talk.step("call_z", "tray", json!({}), "empty");
    let turn = agent.asks(&talk).await;
    let sound: Vec<usize> = (0..odd.len()).map(|n| n * 4 + 4).collect();
    assert_eq!(turn.changed(), sound);
    assert_chain_holds(&turn.sent().json());
}

#[tokio::test]
async fn messages_that_are_none_stay() {
    let scene = Scene::clearing(2).await;
    let agent = scene.agent("none");
    let mut talk = Conversation::new().user("Begin.").step("call_a", "look", json!({}), lines("a thing", 80));
    let none = [
        json!(null),
        json!("words"),
        json!([]),
        json!({}),
        json!({"role": null}),
        json!({"role": "critic", "content": lines("no role that is known", 80)}),
        json!({"role": "assistant"}),
        json!({"role": "assistant", "content": null, "tool_calls": null, "function_call": null}),
        json!({"role": "assistant", "content": "", "tool_calls": [null, 1, {"id": "x"}, {"function": []}]}),
        json!({"role": "assistant", "tool_calls": "call me"}),
        json!({"role": "user"}),
    ];
    for message in none {
        talk = talk.message(message);
    }
    agent.asks(&talk).await.assert_untouched();
    assert_eq!(agent.asks(&talk.step("call_z", "look", json!({}), "dark")).await.changed(), [2]);
}

#[tokio::test]
async fn a_result_in_parts_becomes_one_part() {
    let scene = Scene::clearing(2).await;
    let agent = scene.agent("parts");
    let part = |words: &str| json!({"type": "text", "text": lines(words, 40)});
    let talk = Conversation::new().user("Begin.").step(
        "call_a",
        "look",
        json!({}),
        json!([part("first"), part("second"), part("third")]),
    );
    agent.asks(&talk).await.assert_untouched();
    let turn = agent.asks(&talk.step("call_z", "look", json!({}), "dark")).await;
    assert_eq!(turn.changed(), [2]);
    assert_eq!(turn.sent().message(2)["content"], json!([{"type": "text", "text": GONE}]));
}

fn picture() -> Value {
    json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{}", "iVBORw0K".repeat(500))}})
}

fn with_picture() -> Conversation {
    let caption = json!({"type": "text", "text": lines("pixel row", 80)});
    Conversation::new()
        .user("Look around.")
        .step("call_a", "screenshot", json!({}), json!([caption, picture()]))
        .step("call_b", "screenshot", json!({"as": "text"}), lines("window", 80))
}

#[tokio::test]
async fn a_result_with_an_image_keeps_its_shape() {
    let scene = Scene::clearing(2).await;
    let agent = scene.agent("image");
    agent.asks(&with_picture()).await.assert_untouched();
    let turn = agent.asks(&with_picture().step("call_z", "look", json!({}), "dark")).await;
    assert_eq!(turn.changed(), [4]);
}

#[tokio::test]
async fn a_result_with_an_image_is_cleared_where_that_is_wanted() {
    let scene = Scene::pruning(|pruning| {
        clear_all_old(pruning, 2);
        pruning.skip_tools_with_images = false;
    })
    .await;
    let agent = scene.agent("image");
    agent.asks(&with_picture()).await.assert_untouched();
    let turn = agent.asks(&with_picture().step("call_z", "look", json!({}), "dark")).await;
    assert_eq!(turn.changed(), [2, 4]);
    assert_eq!(turn.sent().message(2)["content"], json!([{"type": "text", "text": GONE}]));
}
