use std::borrow::Borrow;

use super::facts::Item;
use super::items::Kind;
use crate::mock::error::Refusal;

/// A call in the list.
struct Called<'a> {
    family: &'a str,
    id: &'a str,
    is_answered: bool,
}

/// Holds a list of items to the rules that each call has one output somewhere behind it, that nothing else is answered
/// (unless the list goes on from something that is not in it), and that reasoning leads to what the model did.
pub(super) fn check(items: &[impl Borrow<Item>], is_continued: bool) -> Result<(), Refusal> {
    let mut calls: Vec<Called<'_>> = Vec::new();
    for (at, item) in items.iter().map(Borrow::borrow).enumerate() {
        match &item.kind {
            Kind::Reasoning => followed(at, items.get(at + 1).map(Borrow::borrow))?,
            Kind::Call { family, id } => {
                if calls.iter().any(|call| call.id == id && !call.is_answered) {
                    let message =
                        format!("`input[{at}]` makes a call of the id {id}, which is still to be answered.");
                    return Err(Refusal::invalid(format!("input[{at}].call_id"), message));
                }
                calls.push(Called { family, id, is_answered: false });
            }
            Kind::Output { family, id } => {
                let call = calls.iter_mut().rev().find(|call| call.id == id && call.takes(family));
                match call {
                    Some(call) if call.is_answered => {
                        let message = format!("`input[{at}]` answers the call {id} a second time.");
                        return Err(Refusal::invalid(format!("input[{at}].call_id"), message));
                    }
                    Some(call) => call.is_answered = true,
                    None if is_continued => {}
                    None => {
                        let message = format!(
                            "No tool call was found for `input[{at}]`: no `{family}` in front of it has the call_id {id}."
                        );
                        return Err(Refusal::invalid("input", message));
                    }
                }
            }
            Kind::Told | Kind::Said | Kind::Other => {}
        }
    }
    match calls.iter().find(|call| !call.is_answered) {
        None => Ok(()),
        Some(Called { family, id, .. }) => {
            let message = format!("No tool output was found for the `{family}` {id}.");
            Err(Refusal::invalid("input", message))
        }
    }
}

impl Called<'_> {
    /// Calls of the local shell may also be answered as those of functions are.
    fn takes(&self, output: &str) -> bool {
        self.family == output || (self.family == "local_shell_call" && output == "function_call")
    }
}

fn followed(at: usize, next: Option<&Item>) -> Result<(), Refusal> {
    match next.map(|item| &item.kind) {
        Some(Kind::Said | Kind::Reasoning | Kind::Call { .. } | Kind::Other) => Ok(()),
        None | Some(Kind::Told | Kind::Output { .. }) => {
            let message = format!(
                "`input[{at}]` of the type `reasoning` comes without the item it led to, which must follow it."
            );
            Err(Refusal::invalid("input", message))
        }
    }
}
