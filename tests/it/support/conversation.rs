use serde_json::{Map, Value, json};

/// A chat request in the making, as an agent keeps it: its whole history.
#[derive(Debug, Clone)]
pub(crate) struct Conversation {
    messages: Vec<Value>,
    others: Map<String, Value>,
}

impl Conversation {
    /// With nothing said yet.
    pub(crate) fn new() -> Self {
        Self { messages: Vec::new(), others: Map::new() }
    }

    /// Adds a message of any kind.
    pub(crate) fn message(mut self, message: Value) -> Self {
        self.messages.push(message);
        self
    }

    pub(crate) fn system(self, content: impl Into<Value>) -> Self {
        self.message(json!({"role": "system", "content": content.into()}))
    }

    pub(crate) fn user(self, content: impl Into<Value>) -> Self {
        self.message(json!({"role": "user", "content": content.into()}))
    }

    pub(crate) fn assistant(self, content: impl Into<Value>) -> Self {
        self.message(json!({"role": "assistant", "content": content.into()}))
    }

    /// An assistant's message with these calls at once: id, tool, arguments.
    pub(crate) fn calls(self, calls: &[(&str, &str, Value)]) -> Self {
        let call = |(id, tool, arguments): &(&str, &str, Value)| {
            let function = json!({"name": tool, "arguments": arguments.to_string()});
            json!({"id": id, "type": "function", "function": function})
        };
        let calls: Vec<_> = calls.iter().map(call).collect();
        self.message(json!({"role": "assistant", "content": null, "tool_calls": calls}))
    }

    /// What the call with this id gave.
    pub(crate) fn result(self, id: &str, content: impl Into<Value>) -> Self {
        self.message(json!({"role": "tool", "tool_call_id": id, "content": content.into()}))
    }

    /// One call and what it gave: two messages.
    pub(crate) fn step(self, id: &str, tool: &str, arguments: Value, output: impl Into<Value>) -> Self {
        self.calls(&[(id, tool, arguments)]).result(id, output)
    }

    /// A member of the request beside its messages.
    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.others.insert(name.to_owned(), value.into());
        self
    }

    /// How many messages it has.
    pub(crate) fn len(&self) -> usize {
        self.messages.len()
    }

    /// The request's body.
    pub(crate) fn body(&self) -> Vec<u8> {
        let mut request = Map::new();
        request.insert("model".to_owned(), json!("m"));
        request.insert("messages".to_owned(), json!(self.messages));
        request.extend(self.others.clone());
        serde_json::to_vec(&request).expect("JSON can be written")
    }
}

/// Some hundred tokens of tool output: `count` lines that begin with `words`.
pub(crate) fn lines(words: &str, count: usize) -> String {
    (1..=count).map(|number| format!("{words} {number}\n")).collect()
}
