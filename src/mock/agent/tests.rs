use std::collections::{HashMap, HashSet};

use serde_json::Value;

use axum::Router;

use super::*;
use crate::mock::testing::{post_as, text};
use crate::mock::{MockOptions, router};
use crate::tokens::{Tiktoken, TokenCounter as _};

fn tokens(text: &str) -> u64 {
    u64::from(Tiktoken::o200k().count(text))
}

fn long() -> Conversation {
    Agent::new(11).conversation(&AgentOptions { turns: 700, ..AgentOptions::default() })
}

fn calls(conversation: &Conversation) -> impl Iterator<Item = &Call> {
    conversation.turns.iter().flat_map(|turn| &turn.calls)
}

/// Tokens of the outputs, the arguments, and the texts.
fn parts(conversation: &Conversation) -> [u64; 3] {
    let said = conversation.turns.iter().flat_map(|turn| turn.user.iter().chain(&turn.text));
    [
        calls(conversation).map(|call| tokens(&call.output)).sum(),
        calls(conversation).map(|call| tokens(&call.arguments)).sum(),
        tokens(&conversation.system) + said.map(|text| tokens(text)).sum::<u64>(),
    ]
}

#[test]
fn a_seed_decides_everything() {
    let options = AgentOptions { turns: 40, ..AgentOptions::default() };
    assert_eq!(Agent::new(3).conversation(&options), Agent::new(3).conversation(&options));
    assert_ne!(Agent::new(3).conversation(&options), Agent::new(4).conversation(&options));
}

#[test]
fn sizes_are_those_of_real_agents() {
    let conversation = long();
    let mut sizes: Vec<_> = calls(&conversation).map(|call| tokens(&call.output)).collect();
    sizes.sort_unstable();
    let quantile = |share: f64| sizes[(share * (sizes.len() - 1) as f64) as usize];
    assert!((110..=170).contains(&quantile(0.5)), "{}", quantile(0.5));
    assert!((1300..=1900).contains(&quantile(0.9)), "{}", quantile(0.9));
    assert!((6000..=11_000).contains(&quantile(0.99)), "{}", quantile(0.99));
    assert!((15_000..=33_000).contains(&quantile(1.0)), "{}", quantile(1.0));

    let [outputs, arguments, texts] = parts(&conversation);
    let share = |part: u64| part as f64 / (outputs + arguments + texts) as f64;
    assert!((0.66..0.80).contains(&share(outputs)), "{}", share(outputs));
    assert!((0.13..0.23).contains(&share(arguments)), "{}", share(arguments));
}

#[test]
fn a_sixth_of_the_calls_copy_from_far_back() {
    let conversation = long();
    let names = |text: &str| -> HashSet<String> {
        let word = |c: char| c.is_ascii_alphanumeric() || "_./-".contains(c);
        text.split(|c| !word(c)).filter(|name| name.len() >= 12).map(str::to_owned).collect()
    };
    let (mut now, mut count, mut distances) = (0, 0, Vec::new());
    let mut seen: HashMap<String, u64> = HashMap::new();
    let mut copied: HashSet<String> = names(&conversation.system);
    for turn in &conversation.turns {
        copied.extend(turn.user.iter().chain(&turn.text).flat_map(|text| names(text)));
        for call in &turn.calls {
            let wanted = names(&call.arguments.replace("\\n", " "));
            let short = call.arguments.len() < 400;
            let fresh = wanted.iter().filter(|name| short && !copied.contains(*name));
            if let Some(at) = fresh.filter_map(|name| seen.get(name)).max() {
                distances.push(now - at);
            }
            copied.extend(wanted);
            now += tokens(&call.output) + tokens(&call.arguments);
            count += 1;
            seen.extend(names(&call.output).into_iter().map(|name| (name, now)));
        }
    }
    distances.sort_unstable();
    let share = distances.len() as f64 / f64::from(count);
    let (half, most) = (distances[distances.len() / 2], distances[distances.len() * 9 / 10]);
    assert!((0.14..0.22).contains(&share), "{share}");
    assert!((3000..10_000).contains(&half), "{half}");
    assert!((25_000..70_000).contains(&most), "{most}");
}

#[test]
fn a_target_is_met() {
    for (turns, target) in [(60, 70_000), (40, 20_000), (100, 300_000)] {
        let options = AgentOptions { turns, target_tokens: Some(target), ..AgentOptions::default() };
        let conversation = Agent::new(2).conversation(&options);
        assert_eq!(conversation.turns.len(), turns);
        let size = parts(&conversation).iter().sum::<u64>() as f64 / target as f64;
        assert!((0.75..1.25).contains(&size), "{target}: {size}");
    }
}

fn begins_with_the_one_before<W: Writer + Copy>(writer: W) {
    let conversation = Agent::new(5).conversation(&AgentOptions::default());
    let mut history = History::written_by(writer, &conversation);
    let mut before = history.advance().unwrap();
    for turn in 1..conversation.turns.len() {
        let grown = history.advance().unwrap();
        let (kept, rest) = grown.split_at(before.len() - 1);
        assert_eq!(kept, &before[..before.len() - 1], "turn {turn}");
        assert!(rest.starts_with(",{"));
        before = grown;
    }
    assert!(history.advance().is_none());
    let at = |turn| History::written_by(writer, &conversation).at(turn);
    assert_eq!(at(conversation.turns.len() - 1), before);
    assert_eq!(at(usize::MAX), before);
}

#[test]
fn each_request_begins_with_the_one_before() {
    begins_with_the_one_before(chat::Chat);
    for flag in [false, true] {
        begins_with_the_one_before(messages::Messages { thinking: flag });
        begins_with_the_one_before(responses::Responses { reasoning: flag });
    }
}

async fn accepts(router: &Router, path: &str, body: &str) {
    let response = post_as(router, path, "one", body).await;
    let status = response.status();
    assert_eq!(status, 200, "{path}: {}", text(response).await);
}

#[tokio::test]
async fn the_mock_accepts_every_request() {
    let router = router(MockOptions::default());
    for reused_ids in [false, true] {
        let options = AgentOptions { turns: 40, reused_ids, parallel: 0.5, ..AgentOptions::default() };
        let conversation = Agent::new(9).conversation(&options);
        let mut chats = chat::History::new(&conversation);
        let mut plain = messages::History::new(&conversation);
        let mut thinking = History::written_by(messages::Messages { thinking: true }, &conversation);
        let mut inputs = responses::History::new(&conversation);
        let mut reasoning = History::written_by(responses::Responses { reasoning: true }, &conversation);
        while let Some(list) = chats.advance() {
            accepts(&router, "/v1/chat/completions", &chat::body(&conversation, "mock", &list)).await;
            for list in [plain.advance().unwrap(), thinking.advance().unwrap()] {
                accepts(&router, "/v1/messages", &messages::body(&conversation, "mock", &list)).await;
                accepts(&router, "/v1/messages", &messages::cached_body(&conversation, "mock", &list)).await;
            }
            for list in [inputs.advance().unwrap(), reasoning.advance().unwrap()] {
                accepts(&router, "/v1/responses", &responses::body(&conversation, "mock", &list)).await;
            }
        }
    }
}

#[tokio::test]
async fn what_a_client_marks_is_cached() {
    let router = router(MockOptions::default());
    let conversation = Agent::new(9).conversation(&AgentOptions { turns: 12, ..AgentOptions::default() });
    let mut history = messages::History::new(&conversation);
    let mut all = 0;
    while let Some(list) = history.advance() {
        let body = messages::cached_body(&conversation, "mock", &list);
        let answer = text(post_as(&router, "/v1/messages", "one", &body).await).await;
        let usage = &serde_json::from_str::<Value>(&answer).unwrap()["usage"];
        let figure = |name: &str| usage[name].as_u64().unwrap();
        assert_eq!(figure("cache_read_input_tokens"), all);
        all += figure("cache_creation_input_tokens");
        assert!(figure("input_tokens") < 1024);
    }
}

#[test]
fn histories_keep_the_rules() {
    for reused_ids in [false, true] {
        let options = AgentOptions { turns: 80, reused_ids, parallel: 0.5, ..AgentOptions::default() };
        let conversation = Agent::new(9).conversation(&options);
        assert!(conversation.turns[0].user.is_some());
        let messages = chat::messages(&conversation, usize::MAX);
        let list: Vec<Value> = serde_json::from_str(&messages).unwrap();
        let mut open: Vec<String> = Vec::new();
        for message in &list {
            if let Some(id) = message["tool_call_id"].as_str() {
                let at = open.iter().position(|waiting| waiting == id).expect("a call waits for this result");
                open.remove(at);
                continue;
            }
            assert!(open.is_empty());
            for call in message["tool_calls"].as_array().into_iter().flatten() {
                let arguments = call["function"]["arguments"].as_str().unwrap();
                assert!(serde_json::from_str::<Value>(arguments).unwrap().is_object());
                open.push(call["id"].as_str().unwrap().to_owned());
            }
        }
        let ids: Vec<_> = calls(&conversation).map(|call| &call.id).collect();
        let different: HashSet<_> = ids.iter().collect();
        assert_eq!(different.len() < ids.len(), reused_ids);
    }
}

#[test]
fn there_is_something_of_everything() {
    let conversation = long();
    let tools: HashSet<_> = calls(&conversation).map(|call| call.name.as_str()).collect();
    assert!(conversation.tools.iter().all(|tool| tools.contains(tool.name)));
    assert!(calls(&conversation).any(|call| call.failed));
    assert!(calls(&conversation).any(|call| call.output.is_empty()));
    assert!(calls(&conversation).any(|call| call.output.contains("订单")));
    assert!(conversation.turns.iter().any(|turn| turn.calls.len() > 1));
    assert!(conversation.turns.iter().skip(1).any(|turn| turn.user.is_some()));
    let reads: Vec<_> =
        calls(&conversation).filter(|call| call.name == "read_file" && !call.failed).collect();
    let mut outputs: HashMap<&str, HashSet<&str>> = HashMap::new();
    for call in &reads {
        outputs.entry(&call.arguments).or_default().insert(&call.output);
    }
    assert!(outputs.len() < reads.len(), "some reads come again");
    assert!(outputs.values().any(|texts| texts.len() > 1), "some of them after an edit");
}
