use std::ops::Range;

use super::{conclusion, placeholder};
use crate::model::{ItemKind, Role, Strength};
use crate::prune::{DETAIL_PLACEHOLDER, DetailMode, Draft, Proposal, Stage};

/// Accounts for the oldest blocks. In mode `default` of each output its conclusion stays; in `keep_last_reply` only
/// the block's last reply.
pub struct Detail;

/// What stands for a reply that is cleared.
const CLEARED_REPLY: &str = "[earlier reply cleared]";

impl Stage for Detail {
    fn name(&self) -> &'static str {
        "detail"
    }

    fn strength(&self) -> Strength {
        Strength::Detail
    }

    fn propose(&self, draft: &Draft<'_>, among: &[usize]) -> Vec<Proposal> {
        among.iter().filter_map(|&index| account(draft, index)).collect()
    }
}

fn account(draft: &Draft<'_>, index: usize) -> Option<Proposal> {
    let keeps_reply = draft.settings.detail_pruning_mode == DetailMode::KeepLastReply;
    let text = match draft.items()[index].kind {
        REPLY => {
            let is_last = !draft.items()[index + 1..block(draft, index).end].iter().any(|i| i.kind == REPLY);
            if !keeps_reply || is_last {
                return None;
            }
            CLEARED_REPLY.to_owned()
        }
        _ => output(draft, index, keeps_reply),
    };
    Some(Proposal::Replace { index, text, strength: Strength::Detail })
}

fn output(draft: &Draft<'_>, index: usize, clears: bool) -> String {
    let template = &draft.settings.detail_placeholder;
    let mut text = placeholder::fill(draft, index, template, DETAIL_PLACEHOLDER);
    if !clears && template == DETAIL_PLACEHOLDER {
        let conclusion = conclusion::of(&draft.transcript.text(index));
        if !conclusion.is_empty() {
            text.push('\n');
            text.push_str(&conclusion);
        }
    }
    text
}

/// The run of replies, calls and outputs around `index`, between two messages of the user or the system.
fn block(draft: &Draft<'_>, index: usize) -> Range<usize> {
    let ends =
        |i: &usize| matches!(draft.items()[*i].kind, ItemKind::Message { role: Role::User | Role::System });
    let start = (0..index).rev().find(ends).map_or(0, |i| i + 1);
    let end = (index..draft.items().len()).find(ends).unwrap_or(draft.items().len());
    start..end
}

const REPLY: ItemKind = ItemKind::Message { role: Role::Assistant };
