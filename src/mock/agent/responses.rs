//! A conversation as requests of OpenAI's Responses API.

use serde_json::{Value, json};

use super::history::{self, Writer, thought};
use super::{Conversation, Turn};
use crate::model::Fingerprint;

/// The `input` of the requests, one after the other.
pub type History<'a> = history::History<'a, Responses>;

/// Writes as the Responses API has it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Responses {
    /// Whether each reply begins with a reasoning item. Its encrypted content is made up.
    pub reasoning: bool,
}

impl Writer for Responses {
    /// The instructions stand outside the list.
    fn opening(&self, _: &Conversation) -> Option<Value> {
        None
    }

    fn user(&self, text: &str) -> Value {
        json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]})
    }

    fn reply(&self, turn: &Turn) -> Vec<Value> {
        let reasoning = self.reasoning.then(|| reasoning(turn));
        let text = turn.text.as_ref().map(|text| {
            let content = json!([{"type": "output_text", "text": text}]);
            json!({"type": "message", "role": "assistant", "content": content})
        });
        let calls = turn.calls.iter().map(|call| {
            let (id, name, arguments) = (&call.id, &call.name, &call.arguments);
            json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments})
        });
        let outputs = turn
            .calls
            .iter()
            .map(|call| json!({"type": "function_call_output", "call_id": call.id, "output": call.output}));
        reasoning.into_iter().chain(text).chain(calls).chain(outputs).collect()
    }
}

fn reasoning(turn: &Turn) -> Value {
    let thought = thought(turn);
    let said = turn.text.as_deref().unwrap_or_default();
    let print = Fingerprint::of(&[thought.as_bytes(), said.as_bytes()]).to_string();
    json!({
        "type": "reasoning",
        "id": format!("rs_{print}"),
        "summary": [{"type": "summary_text", "text": thought}],
        "encrypted_content": print.repeat(8),
    })
}

/// The JSON text of the `tools` of every request.
pub fn tools(conversation: &Conversation) -> String {
    let tools = conversation.tools.iter().map(|tool| {
        let (name, description, parameters) = (tool.name, tool.description, &tool.parameters);
        json!({"type": "function", "name": name, "description": description, "parameters": parameters})
    });
    Value::Array(tools.collect()).to_string()
}

/// The body of a request with this input, which must be the JSON text of a list. The provider is to keep nothing.
pub fn body(conversation: &Conversation, model: &str, input: &str) -> String {
    let (model, instructions) = (Value::from(model), Value::from(conversation.system.as_str()));
    let tools = tools(conversation);
    format!(
        r#"{{"model":{model},"instructions":{instructions},"store":false,"include":["reasoning.encrypted_content"],"tools":{tools},"input":{input}}}"#
    )
}
