//! A conversation as requests of Anthropic's Messages API.

use serde_json::{Value, json};

use super::history::{self, Writer, thought};
use super::{Call, Conversation, Turn};
use crate::model::Fingerprint;

/// Most tokens that an answer may have.
const LONGEST_ANSWER: u64 = 1024;

/// The `messages` of the requests, one after the other.
pub type History<'a> = history::History<'a, Messages>;

/// Writes as the Messages API has it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Messages {
    /// Whether each reply begins with thinking. Its signature is made up.
    pub thinking: bool,
}

impl Writer for Messages {
    /// The instructions stand outside the list.
    fn opening(&self, _: &Conversation) -> Option<Value> {
        None
    }

    fn user(&self, text: &str) -> Value {
        json!({"role": "user", "content": [{"type": "text", "text": text}]})
    }

    fn reply(&self, turn: &Turn) -> Vec<Value> {
        let thinking = self.thinking.then(|| {
            let thought = thought(turn);
            let said = turn.text.as_deref().unwrap_or_default();
            let signature = Fingerprint::of(&[thought.as_bytes(), said.as_bytes()]).to_string();
            json!({"type": "thinking", "thinking": thought, "signature": signature})
        });
        let text = turn.text.as_ref().map(|text| json!({"type": "text", "text": text}));
        let calls = turn.calls.iter().map(|call| {
            let input: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
            json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input})
        });
        let reply: Value = thinking.into_iter().chain(text).chain(calls).collect();
        let reply = json!({"role": "assistant", "content": reply});
        if turn.calls.is_empty() {
            return vec![reply];
        }
        let results: Value = turn.calls.iter().map(result).collect();
        vec![reply, json!({"role": "user", "content": results})]
    }
}

fn result(call: &Call) -> Value {
    let mut result = json!({"type": "tool_result", "tool_use_id": call.id, "content": call.output});
    if call.failed {
        result["is_error"] = true.into();
    }
    result
}

/// The JSON text of the `tools` of every request.
pub fn tools(conversation: &Conversation) -> String {
    let tools = conversation.tools.iter().map(
        |tool| json!({"name": tool.name, "description": tool.description, "input_schema": tool.parameters}),
    );
    Value::Array(tools.collect()).to_string()
}

/// The body of a request with these messages, which must be the JSON text of a list.
pub fn body(conversation: &Conversation, model: &str, messages: &str) -> String {
    let (model, system) = (Value::from(model), Value::from(conversation.system.as_str()));
    write(&model, &system, &tools(conversation), messages)
}

/// Such a body with marks for the cache, as clients set them: behind the instructions, and behind the newest block,
/// so that this mark stands elsewhere in each request.
pub fn cached_body(conversation: &Conversation, model: &str, messages: &str) -> String {
    let mark = json!({"type": "ephemeral"});
    let system = json!([{"type": "text", "text": conversation.system, "cache_control": mark}]);
    let mut list: Value = serde_json::from_str(messages).unwrap_or_default();
    let newest = list.as_array_mut().and_then(|list| list.last_mut());
    if let Some(block) = newest.and_then(|m| m["content"].as_array_mut()).and_then(|blocks| blocks.last_mut())
    {
        block["cache_control"] = mark;
    }
    write(&model.into(), &system, &tools(conversation), &list.to_string())
}

fn write(model: &Value, system: &Value, tools: &str, messages: &str) -> String {
    format!(
        r#"{{"model":{model},"max_tokens":{LONGEST_ANSWER},"system":{system},"tools":{tools},"messages":{messages}}}"#
    )
}
