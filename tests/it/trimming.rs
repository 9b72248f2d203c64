//! Long output is trimmed between characters, keeps what is referred to later, and says how much is missing.

use serde_json::json;

use crate::support::{Conversation, Scene, lines};

/// One that trims all tool output but that of the newest two messages.
async fn trimming(max_chars: usize, end_chars: usize) -> Scene {
    Scene::pruning(|pruning| {
        crate::support::clear_all_old(pruning, 2);
        pruning.hard_threshold = 1e9;
        pruning.soft_trim.max_chars = max_chars;
        pruning.soft_trim.head_chars = end_chars;
        pruning.soft_trim.tail_chars = end_chars;
    })
    .await
}

#[tokio::test]
async fn cuts_fall_between_characters() {
    let texts = [
        format!("{}{}", "é".repeat(403), "ü".repeat(399)),
        format!("a{}z", "щ".repeat(801)),
        format!("ab{}", "記録".repeat(400)),
        "🦊🐢".repeat(300),
        "e\u{301}👩\u{200d}🚀".repeat(200),
        format!("{}\u{0}\u{1}\"\\\u{7f}\u{2028}{}", "\"".repeat(400), "\\".repeat(400)),
    ];
    let scene = trimming(300, 101).await;
    let agent = scene.agent("cuts");
    let mut talk = Conversation::new().user("Copy the registers.");
    for (n, text) in texts.iter().enumerate() {
        talk = talk.step(&format!("call_{n}"), "copy", json!({"n": n}), text.as_str());
    }
    agent.asks(&talk).await.assert_untouched();
    let turn = agent.asks(&talk.step("call_z", "copy", json!({"n": "last"}), "end")).await;
    let places: Vec<usize> = (0..texts.len()).map(|n| n * 2 + 2).collect();
    assert_eq!(turn.changed(), places);
    for (text, place) in texts.iter().zip(places) {
        let message = turn.sent().message(place);
        let trimmed = message["content"].as_str().unwrap();
        let head: String = text.chars().take(101).collect();
        let tail: String = text.chars().skip(text.chars().count() - 101).collect();
        assert!(trimmed.starts_with(&head) && trimmed.ends_with(&tail), "{trimmed}");
        assert!(trimmed.chars().count() <= 300 && !trimmed.contains('\u{fffd}'), "{trimmed}");
        let missing = text.chars().count() - 202;
        assert!(trimmed.contains(&format!("{missing} characters cut")), "{trimmed}");
    }
}

#[tokio::test]
async fn lines_that_are_referred_to_later_stay() {
    let scene = trimming(700, 150).await;
    let agent = scene.agent("evidence");
    let listing: String = (100..400).map(|n| format!("src/module_{n}/handler.rs: {n} lines\n")).collect();
    let talk = Conversation::new()
        .user("Which file is broken?")
        .step("call_a", "list", json!({}), listing)
        .step("call_b", "open", json!({"path": "src/module_271/handler.rs"}), lines("fn f", 20));
    agent.asks(&talk).await.assert_untouched();
    let turn = agent.asks(&talk.step("call_c", "run", json!({}), "ok")).await;
    let message = turn.sent().message(2);
    let trimmed = message["content"].as_str().unwrap();
    assert!(trimmed.contains("src/module_271/handler.rs: 271 lines\n"), "{trimmed}");
    assert!(!trimmed.contains("src/module_272/handler.rs"), "{trimmed}");
}

#[tokio::test]
async fn what_is_short_enough_stays_whole() {
    let scene = trimming(4_000, 1_500).await;
    let agent = scene.agent("short");
    let exactly = "ö".repeat(4_000);
    let talk = Conversation::new()
        .user("Begin.")
        .step("call_a", "say", json!({"n": 1}), exactly.as_str())
        .step("call_b", "say", json!({"n": 2}), format!("{exactly}ö"));
    agent.asks(&talk).await.assert_untouched();
    assert_eq!(agent.asks(&talk.step("call_z", "say", json!({}), "end")).await.changed(), [4]);
}
