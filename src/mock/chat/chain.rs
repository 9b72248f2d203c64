use std::borrow::Borrow;

use super::facts::Facts;
use super::rules::Speaker;
use crate::mock::error::Refusal;

/// Holds a list of messages to the rule that every tool call is answered once, directly behind the message that
/// makes it, and that nothing else is answered.
pub(super) fn check(messages: &[impl Borrow<Facts>]) -> Result<(), Refusal> {
    let mut open: Vec<&str> = Vec::new();
    let mut caller: Option<(usize, &Facts)> = None;
    for (at, facts) in messages.iter().map(Borrow::borrow).enumerate() {
        let Some(id) = &facts.answers else {
            if facts.speaker != Speaker::Tool {
                complete(&open, caller)?;
                open = facts.calls.iter().map(String::as_str).collect();
                caller = Some((at, facts));
            }
            continue;
        };
        match open.iter().position(|waiting| waiting == id) {
            Some(position) => drop(open.remove(position)),
            None => return Err(stray(at, id, caller)),
        }
    }
    complete(&open, caller)
}

fn complete(open: &[&str], caller: Option<(usize, &Facts)>) -> Result<(), Refusal> {
    match (open, caller) {
        ([], _) | (_, None) => Ok(()),
        (ids, Some((at, _))) => Err(Refusal::invalid(
            format!("messages[{at}].tool_calls"),
            format!(
                "The assistant message `messages[{at}]` calls tools, and tool messages with their results must \
                 follow directly. Calls without a result: {}.",
                ids.join(", ")
            ),
        )),
    }
}

fn stray(at: usize, id: &str, caller: Option<(usize, &Facts)>) -> Refusal {
    let place = format!("messages[{at}].tool_call_id");
    let again = caller.is_some_and(|(_, facts)| facts.calls.iter().any(|call| call == id));
    let message = if again {
        format!("The tool message `messages[{at}]` answers the call {id} a second time.")
    } else {
        format!(
            "The tool message `messages[{at}]` has no call to answer: no assistant message directly in front of the \
             tool messages makes the call {id}."
        )
    };
    Refusal::invalid(place, message)
}
