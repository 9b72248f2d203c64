use std::borrow::Borrow;

use super::facts::{Kind, Message, Speaker};
use crate::mock::error::Refusal;

/// Holds a list of messages to the rules of their order: who begins, that each is answered what it calls, and where
/// thinking stands.
pub(super) fn check(messages: &[impl Borrow<Message>], thinks: bool) -> Result<(), Refusal> {
    let messages: Vec<&Message> = messages.iter().map(Borrow::borrow).collect();
    if messages.first().is_some_and(|first| first.speaker != Speaker::User) {
        return Err(Refusal::invalid("messages", "The first message must have the role `user`"));
    }
    for (at, message) in messages.iter().enumerate() {
        let is_last = at + 1 == messages.len();
        if message.blocks.is_empty() && !(is_last && message.speaker == Speaker::Assistant) {
            let text = "Only the last message may be empty, if the assistant says it";
            return Err(Refusal::invalid(format!("messages.{at}"), text));
        }
        if is_last && message.speaker == Speaker::Assistant && message.ends_blank {
            let text =
                "The assistant's last words, from which the model goes on, must not end in white space";
            return Err(Refusal::invalid(format!("messages.{at}"), text));
        }
        results(at, message, at.checked_sub(1).map(|before| messages[before]))?;
        calls(at, message, messages.get(at + 1).copied())?;
        if thinks {
            thinking(at, message)?;
        }
    }
    Ok(())
}

/// Each result answers a call of the message in front, once, and stands in front of all else.
fn results(at: usize, message: &Message, before: Option<&Message>) -> Result<(), Refusal> {
    let mut open: Vec<&str> = before.iter().flat_map(|m| &m.blocks).filter_map(|b| b.call()).collect();
    let all: Vec<&str> = open.clone();
    let mut other = false;
    for (index, block) in message.blocks.iter().enumerate() {
        let place = || format!("messages.{at}.content.{index}");
        let Some(id) = block.result() else {
            other = true;
            continue;
        };
        match open.iter().position(|waiting| *waiting == id) {
            Some(_) if other => {
                let text = format!(
                    "The `tool_result` of {id} comes too late: results must stand in front of everything else in the \
                     message behind the `tool_use`"
                );
                return Err(Refusal::invalid(place(), text));
            }
            Some(position) => drop(open.remove(position)),
            None if all.contains(&id) => {
                let text = format!("There is more than one `tool_result` for {id}");
                return Err(Refusal::invalid(place(), text));
            }
            None => {
                let text = format!(
                    "The `tool_result` of {id} has no `tool_use` of that id in the message directly in front of it"
                );
                return Err(Refusal::invalid(place(), text));
            }
        }
    }
    Ok(())
}

/// Each call has an id of its own in its message, and the message behind it has its result.
fn calls(at: usize, message: &Message, next: Option<&Message>) -> Result<(), Refusal> {
    let mut ids: Vec<&str> = Vec::new();
    for (index, block) in message.blocks.iter().enumerate() {
        let Some(id) = block.call() else { continue };
        if ids.contains(&id) {
            let text = format!("The id {id} is that of another `tool_use` in this message");
            return Err(Refusal::invalid(format!("messages.{at}.content.{index}.id"), text));
        }
        ids.push(id);
    }
    let answered: Vec<&str> = next.iter().flat_map(|m| &m.blocks).filter_map(|b| b.result()).collect();
    ids.retain(|id| !answered.contains(id));
    if ids.is_empty() {
        return Ok(());
    }
    let text = format!(
        "Each `tool_use` needs its `tool_result` in the message directly behind it. There is none for: {}",
        ids.join(", ")
    );
    Err(Refusal::invalid(format!("messages.{at}"), text))
}

/// Thinking comes first, or behind what the provider's own tools did.
fn thinking(at: usize, message: &Message) -> Result<(), Refusal> {
    let mut may_think = true;
    for (index, block) in message.blocks.iter().enumerate() {
        match block.kind {
            Kind::Thinking(_) if !may_think => {
                let text = "When `thinking` is enabled, the thinking in a message stands in front of its other blocks";
                return Err(Refusal::invalid(format!("messages.{at}.content.{index}.type"), text));
            }
            Kind::Thinking(_) | Kind::Server => may_think = true,
            Kind::Call(_) | Kind::Result(_) | Kind::Other => may_think = false,
        }
    }
    Ok(())
}
