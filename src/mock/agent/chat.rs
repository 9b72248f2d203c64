//! A conversation as requests of the chat completions API.

use serde_json::{Value, json};

use super::{Conversation, Turn};

/// Writes the requests of a conversation one after the other. Each one's messages are those of the one before, byte
/// for byte, and some more behind them.
#[derive(Debug)]
pub struct History<'a> {
    conversation: &'a Conversation,
    next: usize,
    messages: String,
}

impl<'a> History<'a> {
    /// Stands before the first request.
    pub fn new(conversation: &'a Conversation) -> Self {
        let system = json!({"role": "system", "content": conversation.system});
        Self { conversation, next: 0, messages: format!("[{system}") }
    }

    /// Goes on to the next request, and returns the JSON text of its `messages`; `None` behind the last.
    pub fn advance(&mut self) -> Option<String> {
        let turn = self.conversation.turns.get(self.next)?;
        if let Some(before) = self.next.checked_sub(1) {
            self.push_reply(&self.conversation.turns[before]);
        }
        if let Some(user) = &turn.user {
            self.push(&json!({"role": "user", "content": user}));
        }
        self.next += 1;
        Some(format!("{}]", self.messages))
    }

    fn push(&mut self, message: &Value) {
        self.messages.push(',');
        self.messages.push_str(&message.to_string());
    }

    fn push_reply(&mut self, turn: &Turn) {
        let mut reply = json!({"role": "assistant", "content": turn.text});
        if !turn.calls.is_empty() {
            let calls = turn.calls.iter().map(|call| {
                let function = json!({"name": call.name, "arguments": call.arguments});
                json!({"id": call.id, "type": "function", "function": function})
            });
            reply["tool_calls"] = calls.collect();
        }
        self.push(&reply);
        for call in &turn.calls {
            self.push(&json!({"role": "tool", "tool_call_id": call.id, "content": call.output}));
        }
    }
}

/// The JSON text of the `messages` of one request, counted from 0: all that was said before the model answers it.
/// Behind the last one: those of the last.
pub fn messages(conversation: &Conversation, turn: usize) -> String {
    let mut history = History::new(conversation);
    let mut messages = String::new();
    for _ in 0..=turn {
        match history.advance() {
            Some(grown) => messages = grown,
            None => break,
        }
    }
    messages
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
