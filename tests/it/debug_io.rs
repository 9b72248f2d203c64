//! What prunes changed is shown only to those who asked for it, and costs no request where it cannot be written.

use std::fs;
use std::path::Path;

use secateur::pipeline::DebugSettings;
use serde_json::{Value, json};

use crate::support::{Conversation, GONE, Scene, Turn, clear_all_old, lines};

async fn scene(file: &Path, debug_pruning_io: bool) -> Scene {
    Scene::with(|parts| {
        clear_all_old(&mut parts.pipeline.default.pruning, 2);
        parts.pipeline.debug = DebugSettings {
            debug_pruning_io,
            debug_log_file: file.to_str().expect("a temporary path is text").to_owned(),
            debug_preview_chars: 25,
            ..DebugSettings::default()
        };
    })
    .await
}

/// Two turns, the second of which is pruned.
async fn pruned(scene: &Scene, session: &str) -> Turn {
    let talk = Conversation::new()
        .user("Count.")
        .calls(&[("call_a", "count_é", json!({"n": 1})), ("call_b", "count", json!({"n": 2}))])
        .result("call_a", lines("Schäfchen", 80))
        .result("call_b", lines("goat", 80));
    scene.agent(session).asks(&talk).await.assert_untouched();
    let turn = scene.agent(session).asks(&talk.step("call_z", "count", json!({}), "end")).await;
    assert_eq!(turn.changed(), [2, 3]);
    assert_eq!(turn.answer.status(), 200);
    turn
}

fn shown(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).expect("the file was written");
    text.lines().map(|line| serde_json::from_str(line).expect("one JSON object a line")).collect()
}

#[tokio::test]
async fn each_edit_is_one_line_with_previews() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pruning.jsonl");
    let scene = scene(&file, true).await;
    pruned(&scene, "first").await;
    let first = shown(&file);
    assert_eq!(first.len(), 2);
    for (name, expected) in [
        ("event", json!("prune_io")),
        ("session", json!("first")),
        ("message", json!(2)),
        ("tool", json!("count_é")),
        ("stage", json!("hard")),
        ("after", json!(GONE)),
    ] {
        assert_eq!(first[0][name], expected, "{name}");
    }
    let before = first[0]["before"].as_str().unwrap();
    assert!(before.starts_with("Schäfchen 1\nSchäfchen 2\nS… ("), "{before}");
    assert!(first[0]["tokens_before"].as_u64() > first[0]["tokens_after"].as_u64());
    pruned(&scene, "second").await;
    assert_eq!(shown(&file).len(), 4, "lines are added");
}

#[tokio::test]
async fn nothing_is_shown_unless_it_is_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pruning.jsonl");
    pruned(&scene(&file, false).await, "one").await;
    assert!(!file.exists());
}

#[tokio::test]
async fn a_file_that_cannot_be_written_fails_no_request() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("missing/folder/pruning.jsonl");
    let scene = scene(&nowhere, true).await;
    pruned(&scene, "one").await;
    pruned(&scene, "two").await;
    // Once there is a place for it, it is written.
    fs::create_dir_all(nowhere.parent().unwrap()).unwrap();
    pruned(&scene, "three").await;
    assert_eq!(shown(&nowhere).len(), 2);
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn a_full_disk_fails_no_request() {
    let scene = scene(Path::new("/dev/full"), true).await;
    pruned(&scene, "one").await;
    pruned(&scene, "two").await;
}
