use serde_json::Value;

use super::{Conversation, Turn};

/// How an API writes down what was said.
pub trait Writer {
    /// What stands in the list before anybody speaks.
    fn opening(&self, conversation: &Conversation) -> Option<Value>;

    /// What the person says.
    fn user(&self, text: &str) -> Value;

    /// What the model says and calls, and what the tools answer.
    fn reply(&self, turn: &Turn) -> Vec<Value>;
}

/// Writes the requests of a conversation one after the other. Each one's list is that of the one before, byte for
/// byte, and some more behind it.
#[derive(Debug)]
pub struct History<'a, W> {
    conversation: &'a Conversation,
    writer: W,
    next: usize,
    list: String,
}

impl<'a, W: Writer + Default> History<'a, W> {
    /// Stands before the first request.
    pub fn new(conversation: &'a Conversation) -> Self {
        Self::written_by(W::default(), conversation)
    }
}

impl<'a, W: Writer> History<'a, W> {
    /// Stands before the first request, and writes in a way of its own.
    pub fn written_by(writer: W, conversation: &'a Conversation) -> Self {
        let opening = writer.opening(conversation);
        let mut history = Self { conversation, writer, next: 0, list: String::from("[") };
        history.push(opening);
        history
    }

    /// Goes on to the next request, and returns the JSON text of its list; `None` behind the last.
    pub fn advance(&mut self) -> Option<String> {
        let turn = self.conversation.turns.get(self.next)?;
        if let Some(before) = self.next.checked_sub(1) {
            let reply = self.writer.reply(&self.conversation.turns[before]);
            self.push(reply);
        }
        let user = turn.user.as_ref().map(|text| self.writer.user(text));
        self.push(user);
        self.next += 1;
        Some(format!("{}]", self.list))
    }

    /// The JSON text of the list of one request, counted from 0: all that was said before the model answers it.
    /// Behind the last one: that of the last.
    pub fn at(mut self, turn: usize) -> String {
        let mut list = String::new();
        while self.next <= turn
            && let Some(grown) = self.advance()
        {
            list = grown;
        }
        list
    }

    fn push(&mut self, entries: impl IntoIterator<Item = Value>) {
        for entry in entries {
            if self.list.len() > 1 {
                self.list.push(',');
            }
            self.list.push_str(&entry.to_string());
        }
    }
}

/// What the model thinks before it says and calls what a turn has.
pub(super) fn thought(turn: &Turn) -> String {
    let names: Vec<_> = turn.calls.iter().map(|call| call.name.as_str()).collect();
    match (names.as_slice(), &turn.text) {
        ([], _) => "All is done; what is left is to say what was done.".to_owned(),
        (names, Some(_)) => format!("First say what is found, then call {}.", names.join(" and ")),
        (names, None) => format!("It takes {} to know more.", names.join(" and ")),
    }
}
