//! Made-up conversations of coding agents, as long as one likes. Owns: what happens in them, and their sizes, which
//! follow what was measured on the logs of real agents. Does not own: how they are pruned, or how large a text is.
//!
//! The same seed makes the same conversation on every machine. A [`Conversation`] knows nothing of any API; one
//! file per API ([`chat`], [`messages`], [`responses`]) writes the requests that an agent sends on its way through it:
//! the whole raw history each time, so that each request's messages begin with all of those before.

mod actor;
pub mod chat;
mod code;
mod conversation;
mod data;
mod files;
mod history;
mod logs;
mod memory;
pub mod messages;
mod output;
mod project;
mod prose;
mod random;
pub mod responses;
mod sizes;
#[cfg(test)]
mod tests;
mod tools;
mod words;

pub use conversation::{Agent, AgentOptions};
pub use history::{History, Writer};

use serde_json::Value;

/// A conversation between a person, a model and tools.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversation {
    /// The instructions in front.
    pub system: String,
    /// The tools that may be called.
    pub tools: Vec<Tool>,
    /// The requests and what came of them, in order. There is at least one.
    pub turns: Vec<Turn>,
}

/// A tool's definition.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub description: &'static str,
    /// JSON schema of its arguments.
    pub parameters: Value,
}

/// One request and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// What the person says before the request. The first turn has it.
    pub user: Option<String>,
    /// What the model says. A turn without calls has it.
    pub text: Option<String>,
    /// The tools the model calls, with what they answer.
    pub calls: Vec<Call>,
}

/// One call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Its id, unique among the calls of its turn.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as JSON text.
    pub arguments: String,
    /// What the tool answered.
    pub output: String,
    /// Whether it went wrong.
    pub failed: bool,
}
