use std::collections::HashMap;

use super::hard;
use super::target::Target;
use crate::model::{Fingerprint, ItemKind, Strength};
use crate::prune::{Draft, Proposal, Stage};

/// Clears what the conversation has overtaken: an older result of the same call, the same text again, a read of
/// what was read again or written since.
pub struct Superseded;

impl Stage for Superseded {
    fn name(&self) -> &'static str {
        "superseded"
    }

    fn strength(&self) -> Strength {
        Strength::Hard
    }

    fn propose(&self, draft: &Draft<'_>, among: &[usize]) -> Vec<Proposal> {
        let overtaken = Overtaken::of(draft);
        among
            .iter()
            .filter(|&&index| overtaken.holds(draft, index))
            .map(|&index| Proposal::Replace {
                index,
                text: hard::text(draft, index),
                strength: Strength::Hard,
            })
            .collect()
    }
}

/// Where each call, each text and each file was last seen.
struct Overtaken {
    calls: HashMap<Fingerprint, usize>,
    texts: HashMap<Fingerprint, usize>,
    /// By path: the results of calls on it, ascending.
    files: HashMap<String, Vec<(usize, Target)>>,
}

impl Overtaken {
    fn of(draft: &Draft<'_>) -> Self {
        let mut seen = Self { calls: HashMap::new(), texts: HashMap::new(), files: HashMap::new() };
        for (index, item) in draft.items().iter().enumerate() {
            let ItemKind::ToolResult(result) = &item.kind else { continue };
            seen.texts.insert(item.content, index);
            let Some(call) = result.call else { continue };
            seen.calls.insert(call_print(draft, call), index);
            if let Some(target) = target(draft, call).filter(|_| !result.is_error) {
                seen.files.entry(target.path.clone()).or_default().push((index, target));
            }
        }
        seen
    }

    fn holds(&self, draft: &Draft<'_>, index: usize) -> bool {
        let item = &draft.items()[index];
        let ItemKind::ToolResult(result) = &item.kind else { return false };
        if self.texts.get(&item.content).is_some_and(|last| *last > index) {
            return true;
        }
        let Some(call) = result.call else { return false };
        if self.calls.get(&call_print(draft, call)).is_some_and(|last| *last > index) {
            return true;
        }
        let Some(own) = target(draft, call) else { return false };
        let later = self.files.get(&own.path).into_iter().flatten();
        later.filter(|(other, _)| *other > index).any(|(_, other)| own.is_stale_after(other))
    }
}

fn call_print(draft: &Draft<'_>, call: usize) -> Fingerprint {
    let item = &draft.items()[call];
    let name = match &item.kind {
        ItemKind::ToolCall(call) => call.name.as_bytes(),
        _ => b"",
    };
    Fingerprint::of(&[name]).then(item.content)
}

fn target(draft: &Draft<'_>, call: usize) -> Option<Target> {
    match &draft.items()[call].kind {
        ItemKind::ToolCall(named) => Target::of(draft.transcript, call, named),
        _ => None,
    }
}
