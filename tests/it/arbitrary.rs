//! Whatever JSON is posted as a conversation: the provider gets the client's bytes, or a valid body that differs in
//! nothing but the text of tool output.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::support::{Scene, changed_contents, check_cases, lines};

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zé\"\\\\\n/😀 {}]{0,30}",
        ("[a-z]{1,8}", 30_usize..90).prop_map(|(word, count)| lines(&word, count)),
    ]
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let name = select(vec!["role", "content", "type", "text", "tool_calls", "id", "x\"y"]);
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((name.prop_map(String::from), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn any_content() -> impl Strategy<Value = Value> {
    let part = prop_oneof![
        4 => any_text().prop_map(|text| json!({"type": "text", "text": text})),
        1 => any_text().prop_map(|text| json!({"text": text, "type": "text", "cache_control": {"type": "ephemeral"}})),
        1 => Just(json!({"type": "image_url", "image_url": {"url": "data:,"}})),
        1 => any_json(),
    ];
    prop_oneof![
        4 => any_text().prop_map(Value::from),
        2 => vec(part, 0..4).prop_map(Value::from),
        1 => any_json(),
    ]
}

fn any_message() -> impl Strategy<Value = Value> {
    let id = || select(vec!["a", "b", "c"]);
    let call = prop_oneof![
        5 => (id(), any_text()).prop_map(|(id, text)| {
            json!({"id": id, "type": "function", "function": {"name": "f", "arguments": text}, "x": 1.50})
        }),
        1 => any_json(),
    ];
    prop_oneof![
        3 => (select(vec!["system", "user", "assistant", "developer", "critic"]), any_content())
            .prop_map(|(role, content)| json!({"role": role, "content": content})),
        3 => (any_content(), vec(call, 0..3)).prop_map(|(content, calls)| {
            json!({"role": "assistant", "content": content, "tool_calls": calls})
        }),
        6 => (id(), any_content())
            .prop_map(|(id, content)| json!({"tool_call_id": id, "role": "tool", "content": content})),
        1 => any_content().prop_map(|content| json!({"role": "function", "name": "f", "content": content})),
        1 => any_json(),
    ]
}

fn any_request() -> impl Strategy<Value = Value> {
    let conversation =
        (vec(any_message(), 0..14), any_json(), any::<bool>()).prop_map(|(messages, x, last)| {
            let mut request = json!({"model": "m", "x": x, "messages": messages, "temperature": 0.70});
            if last {
                request["stream"] = json!(false);
            }
            request
        });
    prop_oneof![12 => conversation, 1 => any_json()]
}

/// A scene in which everything old is cleared, whatever its size.
async fn eager() -> Scene {
    Scene::pruning(|pruning| {
        crate::support::clear_all_old(pruning, 1);
        pruning.pruning_threshold = 200.0;
        pruning.trigger_every_n_tokens = 1;
        "-".clone_into(&mut pruning.hard_clear_placeholder);
        pruning.skip_tools_with_images = false;
    })
    .await
}

#[test]
fn only_tool_text_is_ever_changed() {
    let check = async |scene: &Scene, case: u32, (request, pretty): (Value, bool)| {
        let body = if pretty { serde_json::to_vec_pretty(&request) } else { serde_json::to_vec(&request) };
        // Twice: the second is also told what the first one measured.
        for _ in 0..2 {
            let turn = scene.agent(&format!("case {case}")).posts(body.as_ref().unwrap().clone()).await;
            assert_eq!(turn.answer.status(), 200);
            if turn.sent().body == turn.asked {
                continue;
            }
            assert!(turn.sent().body.len() < turn.asked.len());
            for place in changed_contents(&turn.asked, &turn.sent().body) {
                let role = &request["messages"][place]["role"];
                assert!(role == "tool" || role == "function", "{role} was changed");
                let (before, after) = (&request["messages"][place]["content"], turn.sent().message(place));
                assert_eq!(before.is_string(), after["content"].is_string());
            }
        }
    };
    check_cases(96, eager(), &(any_request(), any::<bool>()), &check);
}

#[test]
fn damaged_bodies_pass_or_are_still_valid() {
    let sound = (any_request(), any::<bool>());
    let damage = vec((any::<prop::sample::Index>(), any::<u8>()), 0..3);
    let check = async |scene: &Scene, case: u32, ((request, cut), damage): ((Value, bool), Vec<_>)| {
        let mut body = serde_json::to_vec(&request).unwrap();
        for (place, byte) in damage {
            let place: prop::sample::Index = place;
            let at = place.index(body.len());
            body[at] = byte;
            if cut {
                body.truncate(at + 1);
            }
        }
        let turn = scene.agent(&format!("damaged {case}")).posts(body).await;
        assert_eq!(turn.answer.status(), 200);
        if turn.sent().body != turn.asked {
            changed_contents(&turn.asked, &turn.sent().body);
        }
    };
    check_cases(96, eager(), &(sound, damage), &check);
}
