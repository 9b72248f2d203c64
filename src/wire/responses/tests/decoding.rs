use serde_json::{Value, json};

use super::{decode_input, kinds};
use crate::model::{ItemKind, PartKind};
use crate::wire::testing::whole;

fn call(id: &str, name: &str) -> Value {
    json!({"type": "function_call", "id": "fc_9", "call_id": id, "name": name, "arguments": "{}"})
}

fn output(id: &str, output: &str) -> Value {
    json!({"type": "function_call_output", "id": "fco_9", "call_id": id, "output": output})
}

#[test]
fn every_kind_of_message_becomes_an_item() {
    let found = kinds(&json!([
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "d"}]},
        {"role": "system", "content": "s"},
        {"role": "user", "content": [{"type": "input_text", "text": "u"}, {"type": "input_file", "file_id": "f"}]},
        {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "phase": "commentary",
         "content": [{"type": "output_text", "text": "a", "annotations": []}, {"type": "refusal", "refusal": "no"}]},
        {"type": null, "role": "user", "content": null},
        {"type": "message", "role": "critic", "content": "?"},
        {"type": "message", "content": "?"},
        {"type": 7, "role": "user", "content": "?"},
        {"content": "?"},
        "no object",
        null,
    ]));
    let expected = [
        "System d",
        "System s",
        "User u",
        "Assistant a",
        "User",
        "Opaque",
        "Opaque",
        "Opaque",
        "Opaque",
        "Opaque",
        "Opaque",
    ];
    assert_eq!(found, expected);
}

#[test]
fn every_kind_of_call_pairs_with_its_output() {
    let found = kinds(&json!([
        call("c1", "read"),
        {"type": "function_call", "call_id": "c2", "namespace": "mcp__garden__", "name": "water", "arguments": "{}"},
        {"type": "function_call", "call_id": "c3", "namespace": "garden", "name": "water", "arguments": "{}"},
        {"type": "custom_tool_call", "call_id": "c4", "name": "query", "input": "select 1"},
        {"type": "local_shell_call", "call_id": "c5", "status": "completed",
         "action": {"type": "exec", "command": ["bash", "-c", "ls"], "timeout_ms": 9, "env": {"HOME": "/h"}}},
        {"type": "shell_call", "call_id": "c6", "action": {"commands": ["ls /a", "ls /b"], "max_output_length": 9}},
        {"type": "apply_patch_call", "call_id": "c7", "operation": {"type": "update_file", "path": "a.rs", "diff": "+x"}},
        {"type": "computer_call", "call_id": "c8", "action": {"type": "click", "button": "left", "x": 1, "y": 2}},
        {"type": "computer_call_output", "call_id": "c8", "output": {"type": "computer_screenshot", "image_url": "data:,"}},
        {"type": "apply_patch_call_output", "call_id": "c7", "status": "failed", "output": "no such file"},
        {"type": "shell_call_output", "call_id": "c6", "output": [
            {"stdout": "x", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}},
            {"stdout": "", "stderr": "y", "outcome": {"type": "timeout"}},
        ]},
        {"type": "local_shell_call_output", "call_id": "c5", "output": "out"},
        {"type": "custom_tool_call_output", "call_id": "c4", "output": [{"type": "input_text", "text": "row"}]},
        {"type": "function_call_output", "call_id": "c3", "output": null},
        {"type": "function_call_output", "call_id": "c2"},
        output("c1", "text"),
        output("c9", "lone"),
    ]));
    let expected = [
        "call c1 read {}",
        "call c2 mcp__garden__water {}",
        "call c3 garden.water {}",
        "call c4 query select 1",
        "call c5 local_shell bash|-c|ls|/h",
        "call c6 shell ls /a|ls /b",
        "call c7 apply_patch a.rs|+x",
        "call c8 computer left",
        "result of Some(7)",
        "result of Some(6) error no such file",
        "result of Some(5) x|||y",
        "result of Some(4) out",
        "result of Some(3) row",
        "result of Some(2)",
        "result of Some(1)",
        "result of Some(0) text",
        "result of None lone",
    ];
    assert_eq!(found, expected);
}

#[test]
fn what_the_provider_did_by_itself_is_not_touched() {
    let kinds_of = |items: Value| {
        let decoded = decode_input(&items);
        decoded.transcript.items.iter().map(|item| (item.kind.clone(), item.images())).collect::<Vec<_>>()
    };
    let own = json!([
        {"type": "mcp_call", "id": "m", "name": "f", "arguments": "{}", "output": "long"},
        {"type": "mcp_list_tools", "id": "m", "server_label": "s", "tools": []},
        {"type": "mcp_approval_request", "id": "m", "name": "f", "arguments": "{}"},
        {"type": "mcp_approval_response", "approval_request_id": "m", "approve": true},
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        {"type": "file_search_call", "id": "fs_1", "results": null},
        {"type": "code_interpreter_call", "id": "ci_1", "code": "1", "outputs": []},
        {"type": "compaction", "id": "cmp_1", "encrypted_content": "e"},
        {"type": "item_reference", "id": "msg_1"},
        {"id": "fc_1"},
        {"type": "of_tomorrow", "role": "user", "content": "c"},
        {"type": "function_call", "call_id": "c", "arguments": "{}"},
        {"type": "image_generation_call", "id": "ig_1", "result": null},
    ]);
    assert!(kinds_of(own).iter().all(|found| *found == (ItemKind::Opaque, 0)));
    let image = json!([{"type": "image_generation_call", "id": "ig_1", "result": "aW1hZ2U="}]);
    assert_eq!(kinds_of(image), [(ItemKind::Opaque, 1)]);
}

#[test]
fn reasoning_is_reasoning_however_it_is_kept() {
    let found = kinds(&json!([
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "s"}],
         "content": [{"type": "reasoning_text", "text": "c"}], "encrypted_content": "gAAAA"},
        {"type": "reasoning", "id": "rs_2", "summary": [], "content": null, "encrypted_content": "gAAAB"},
        {"type": "reasoning", "summary": []},
        {"type": "item_reference", "id": "rs_3"},
        {"id": "rs_4"},
    ]));
    assert_eq!(found, ["Reasoning s|c", "Reasoning", "Reasoning", "Reasoning", "Reasoning"]);
    let decoded =
        decode_input(&json!([{"type": "reasoning", "encrypted_content": "gAAAA", "content": null}]));
    let [part] = decoded.transcript.items[0].parts.as_slice() else { panic!("one part") };
    assert_eq!(part.kind, PartKind::Other);
    assert_eq!(part.span.slice(&decoded.transcript.source), b"\"gAAAA\"");
}

#[test]
fn outputs_pair_by_call_id_with_the_nearest_turn() {
    let found = kinds(&json!([
        call("c", "f"),
        call("c", "g"),
        output("c", "1"),
        output("c", "2"),
        call("c", "h"),
        call("d", "h"),
        {"type": "message", "role": "user", "content": "again"},
        call("c", "i"),
        output("c", "3"),
        output("d", "4"),
        output("c", "5"),
        output("fc_9", "an item's id is no call's id"),
    ]));
    let results: Vec<_> = found.iter().filter(|kind| kind.contains("result")).collect();
    let expected = [
        "result of Some(0) 1",
        "result of Some(1) 2",
        "result of Some(7) 3",
        "result of Some(5) 4",
        "result of None 5",
        "result of None an item's id is no call's id",
    ];
    assert_eq!(results, expected.iter().collect::<Vec<_>>());
}

#[test]
fn an_id_of_every_turn_tells_the_turns_apart() {
    let turn = || [call("c", "f"), output("c", "same")];
    let decoded = decode_input(&turn().into_iter().chain(turn()).collect());
    let items = &decoded.transcript.items;
    assert_ne!(items[0].fingerprint, items[2].fingerprint);
    assert_ne!(items[1].fingerprint, items[3].fingerprint);
    assert_eq!(items[1].content, items[3].content);
}

#[test]
fn ids_and_states_of_items_are_no_part_of_them() {
    let with = |more: &Value| {
        let mut items = [call("c", "f"), output("c", "x"), json!({"role": "user", "content": "u"})];
        for item in &mut items {
            item.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        }
        let prints = decode_input(&items.into_iter().collect()).transcript.items;
        prints.iter().map(|item| item.fingerprint).collect::<Vec<_>>()
    };
    assert_eq!(with(&json!({"id": "a", "status": "completed"})), with(&json!({"id": "b"})));
}

#[test]
fn a_text_with_a_lone_surrogate_is_left_alone() {
    let decoded = super::decode(
        r#"{"input":[{"role":"user","content":"a \ud83d b"},{"type":"function_call","call_id":"c","name":"f","arguments":"\ud83d"},{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"\udc00"}]},{"type":"shell_call_output","call_id":"d","output":[{"stdout":"\udc00","stderr":"x"}]}]}"#,
    );
    let items = decoded.unwrap().transcript.items;
    assert_eq!(items[0].kind, ItemKind::Opaque);
    assert!(matches!(items[1].kind, ItemKind::ToolCall(_)));
    assert!(items[2].is_tool_result() && items[3].is_tool_result());
    assert!(items.iter().all(|item| item.text_bytes() == 0));
}

#[test]
fn reading_twice_gives_the_same() {
    let input = json!([{"role": "user", "content": "u"}, call("c", "f"), output("c", "x")]);
    let (one, two) = (decode_input(&input), decode_input(&input));
    assert_eq!(whole(&one.transcript.items), whole(&two.transcript.items));
}
