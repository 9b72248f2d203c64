//! A conversation as requests of the chat completions API.

use serde_json::{Value, json};

use super::history::{self, Writer};
use super::{Conversation, Turn};

/// The `messages` of the requests, one after the other.
pub type History<'a> = history::History<'a, Chat>;

/// Writes as the chat completions API has it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Chat;

impl Writer for Chat {
    fn opening(&self, conversation: &Conversation) -> Option<Value> {
        Some(json!({"role": "system", "content": conversation.system}))
    }

    fn user(&self, text: &str) -> Value {
        json!({"role": "user", "content": text})
    }

    fn reply(&self, turn: &Turn) -> Vec<Value> {
        let mut reply = json!({"role": "assistant", "content": turn.text});
        if !turn.calls.is_empty() {
            let calls = turn.calls.iter().map(|call| {
                let function = json!({"name": call.name, "arguments": call.arguments});
                json!({"id": call.id, "type": "function", "function": function})
            });
            reply["tool_calls"] = calls.collect();
        }
        let results = turn
            .calls
            .iter()
            .map(|call| json!({"role": "tool", "tool_call_id": call.id, "content": call.output}));
        [reply].into_iter().chain(results).collect()
    }
}

/// The JSON text of the `messages` of one request, counted from 0: all that was said before the model answers it.
/// Behind the last one: those of the last.
pub fn messages(conversation: &Conversation, turn: usize) -> String {
    History::new(conversation).at(turn)
}

/// The JSON text of the `tools` of every request.
pub fn tools(conversation: &Conversation) -> String {
    let tools = conversation.tools.iter().map(|tool| {
        let function =
            json!({"name": tool.name, "description": tool.description, "parameters": tool.parameters});
        json!({"type": "function", "function": function})
    });
    Value::Array(tools.collect()).to_string()
}

/// The body of a request with these messages, which must be the JSON text of a list.
pub fn body(conversation: &Conversation, model: &str, messages: &str) -> String {
    let model = Value::from(model);
    format!(r#"{{"model":{model},"tools":{},"messages":{messages}}}"#, tools(conversation))
}
