//! Conversations as agents send them: the whole history every turn, a little longer each time.

use crate::client;
use crate::roles::STREAMED;
use crate::texts::{self, Random};

/// A conversation, written once; a turn is a prefix of it.
pub(crate) struct Talk {
    messages: Vec<u8>,
    /// By turn: where its messages end.
    ends: Vec<usize>,
    /// Messages of the first turn.
    pub(crate) first: usize,
    random: Random,
    calls: usize,
}

impl Talk {
    /// A conversation that opens with a task.
    pub(crate) fn begin(seed: u64) -> Self {
        let task = "Find out why orders are counted twice after a restart, and fix it.";
        let mut talk =
            Self { messages: Vec::new(), ends: Vec::new(), first: 1, random: Random::new(seed), calls: 0 };
        talk.message(&format!(r#"{{"role":"user","content":"{task}"}}"#));
        talk
    }

    /// Adds a call of a tool and its output of about so many bytes.
    pub(crate) fn step(&mut self, bytes: usize) {
        self.calls += 1;
        let number = self.calls;
        let arguments = format!(r#"{{\"path\":\"services/orders/src/part_{number}.rs\",\"limit\":200}}"#);
        self.message(&format!(
            r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"call_{number}","type":"function","function":{{"name":"read_file","arguments":"{arguments}"}}}}]}}"#
        ));
        let output = serde_json::Value::from(texts::output(bytes, &mut self.random));
        self.message(&format!(r#"{{"role":"tool","tool_call_id":"call_{number}","content":{output}}}"#));
        if self.ends.is_empty() {
            self.first += 2;
        }
    }

    /// Adds steps of about `each` bytes until the conversation has so many bytes in all.
    pub(crate) fn grow_to(&mut self, bytes: usize, each: usize) {
        while self.messages.len() < bytes {
            self.step(each);
        }
    }

    /// A request is sent here.
    pub(crate) fn end_turn(&mut self) {
        self.ends.push(self.messages.len());
    }

    /// How many turns there are.
    pub(crate) fn turns(&self) -> usize {
        self.ends.len()
    }

    /// Writes the request of a turn (from 0) in a session, and returns the size of its body. The session's number stands
    /// in the instructions, so that no two sessions have anything in common.
    pub(crate) fn request(&self, session: usize, turn: usize, streamed: bool, into: &mut Vec<u8>) -> usize {
        let instructions = "You are a careful engineer. Work in small steps, and read before you write.";
        let opening = format!(
            r#"{}"model":"bench","messages":[{{"role":"system","content":"Session {session}. {instructions}"}}"#,
            if streamed { STREAMED } else { "{" }
        );
        let messages = &self.messages[..self.ends[turn]];
        client::request(into, &format!("bench-{session}"), &[opening.as_bytes(), messages, b"]}"]);
        opening.len() + messages.len() + 2
    }

    fn message(&mut self, json: &str) {
        self.messages.push(b',');
        self.messages.extend_from_slice(json.as_bytes());
    }
}
