use std::ops::Range;
use std::sync::Arc;

use super::cut;
use crate::model::{Fingerprint, Fold, Item, ItemKind, Role, Strength, ToolResult};
use crate::prune::{Draft, Proposal, Protection, Stage};
use crate::tokens::TokenCounter;

/// Folds the oldest steps, calls and results together, into one message: a line a step, the oldest lines left out
/// when there are too many.
pub struct FoldBlocks<'a> {
    /// Estimated tokens that are to go.
    pub missing: u64,
    /// Whether steps among the newest messages may be folded too; the newest tool outputs never are.
    pub reaches_recent: bool,
    /// Counts the new text.
    pub counter: &'a dyn TokenCounter,
}

/// Longest account of one fold, in characters.
const LONGEST: usize = 3_000;
/// Longest brief of a reply, and of the arguments of a call, in characters.
const LONGEST_BRIEF: usize = 90;
/// Framing of a message, in tokens.
const FRAMING: u32 = 4;

/// What an account takes beside its lines, in tokens.
const HEADING: u64 = 30;

/// One step: what the model said, thought and called in one go, and the results.
struct Block {
    messages: Range<usize>,
    items: Range<usize>,
    /// Whether all of it may go. A step that cannot go as a whole stays as a whole.
    goes: bool,
}

impl Stage for FoldBlocks<'_> {
    fn name(&self) -> &'static str {
        "fold"
    }

    fn strength(&self) -> Strength {
        Strength::Fold
    }

    fn propose(&self, draft: &Draft<'_>, _among: &[usize]) -> Vec<Proposal> {
        let mut proposals = Vec::new();
        let mut gone = 0;
        let missing = self.missing + HEADING;
        for run in self.runs(draft) {
            let mut taken = 0;
            for block in &run {
                if gone >= missing {
                    break;
                }
                let held: u32 = block.items.clone().map(|i| draft.tokens(i)).sum();
                gone += u64::from(held.saturating_sub(self.counter.count(&line(draft, block))));
                taken += 1;
            }
            if taken > 0 {
                proposals.push(self.fold(draft, &run[..taken]));
            }
        }
        proposals
    }
}

impl FoldBlocks<'_> {
    /// The runs of steps that may be folded, oldest first: each ends where something must stay.
    fn runs(&self, draft: &Draft<'_>) -> Vec<Vec<Block>> {
        let mut runs: Vec<Vec<Block>> = vec![Vec::new()];
        for block in self.blocks(draft) {
            if block.goes {
                runs.last_mut().expect("there is always a last run").push(block);
            } else {
                runs.push(Vec::new());
            }
        }
        runs.retain(|run| !run.is_empty());
        runs
    }

    /// All messages as steps, in order. Formats differ in how many messages a step has: the model's messages that
    /// follow each other are one step, so that thinking stays with what it led to, and a result belongs to the step
    /// of its call and to all in between.
    fn blocks(&self, draft: &Draft<'_>) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::new();
        let mut after_model = false;
        for message in draft.items().chunk_by(|a, b| a.message == b.message) {
            let start = blocks.last().map_or(0, |block| block.items.end);
            let items = start..start + message.len();
            let by_model = !message.iter().any(|item| item.is_tool_result() || item.is_asked());
            let mut first = blocks.len() - usize::from(by_model && after_model);
            let mut goes = items.clone().all(|index| self.may_go(draft, index));
            for item in message {
                match &item.kind {
                    ItemKind::ToolResult(ToolResult { call: Some(call), .. }) => {
                        first = first.min(blocks.partition_point(|block| block.items.end <= *call));
                    }
                    ItemKind::ToolResult(_) => goes = false,
                    _ => {}
                }
            }
            let mut whole = Block { messages: message[0].message..message[0].message + 1, items, goes };
            for part in blocks.drain(first..).rev() {
                whole.messages.start = part.messages.start;
                whole.items.start = part.items.start;
                whole.goes &= part.goes;
            }
            blocks.push(whole);
            after_model = by_model;
        }
        for block in &mut blocks {
            let items = &draft.items()[block.items.clone()];
            let answered: Vec<usize> = items.iter().filter_map(Item::answers).collect();
            let is_open = |index: usize| {
                matches!(draft.items()[index].kind, ItemKind::ToolCall(_)) && !answered.contains(&index)
            };
            block.goes &= !block.items.clone().any(is_open);
        }
        blocks
    }

    fn may_go(&self, draft: &Draft<'_>, index: usize) -> bool {
        let kind = match &draft.items()[index].kind {
            ItemKind::Message { role } => *role == Role::Assistant,
            ItemKind::Opaque => draft.items()[index].parts.is_empty(),
            ItemKind::ToolCall(_) | ItemKind::ToolResult(_) | ItemKind::Reasoning => true,
        };
        kind && match draft.protection[index] {
            None | Some(Protection::Kind | Protection::Reply | Protection::Error) => true,
            Some(Protection::Recent) => self.reaches_recent,
            Some(_) => false,
        }
    }

    fn fold(&self, draft: &Draft<'_>, run: &[Block]) -> Proposal {
        let items = run[0].items.start..run[run.len() - 1].items.end;
        let messages = run[0].messages.start..run[run.len() - 1].messages.end;
        let text = account(draft, run);
        let prints = draft.items()[items.clone()].iter().map(|item| item.fingerprint);
        let fold = Fold {
            first: draft.items()[items.start].fingerprint,
            items: items.len(),
            chain: prints.reduce(Fingerprint::then).expect("a run of steps has items"),
            tokens_before: items.clone().map(|i| draft.sizes.of(i)).sum(),
            tokens_after: self.counter.count(&text) + FRAMING,
            text: text.into(),
        };
        Proposal::Fold { items, messages, fold: Arc::new(fold) }
    }
}

fn account(draft: &Draft<'_>, run: &[Block]) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut left = LONGEST;
    for block in run.iter().rev() {
        let line = line(draft, block);
        let cost = cut::len(&line) + 1;
        if cost > left {
            break;
        }
        left -= cost;
        lines.push(line);
    }
    lines.reverse();
    let untold = match run.len() - lines.len() {
        0 => String::new(),
        untold => format!("; the first {untold} are not listed"),
    };
    format!("[{} earlier steps, in brief{untold}]\n{}", run.len(), lines.join("\n"))
}

/// A step in one line: what was said, what was called.
fn line(draft: &Draft<'_>, block: &Block) -> String {
    let mut parts = Vec::new();
    for index in block.items.clone() {
        match &draft.items()[index].kind {
            ItemKind::Message { .. } => {
                parts.push(cut::brief(&draft.transcript.text(index), LONGEST_BRIEF));
            }
            ItemKind::ToolCall(call) => {
                let arguments = cut::brief(&draft.transcript.text(index), LONGEST_BRIEF);
                parts.push(format!("{} {arguments}", call.name));
            }
            ItemKind::ToolResult(_) | ItemKind::Reasoning | ItemKind::Opaque => {}
        }
    }
    parts.retain(|part| !part.is_empty());
    format!("- {}", parts.join("; "))
}
