use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use super::{Draft, Proposal, Protection, Step};
use crate::model::{Edit, FoldedRange, Item, ItemKind, Role, Strength};
use crate::tokens::Cached;

/// How much of the newest part may be touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reach {
    /// Nothing recent.
    Old,
    /// All but the newest group of tool outputs.
    Recent,
    /// The newest outputs too.
    Newest,
}

/// Why a proposal was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    Protected(Protection),
    Folded,
    NotStronger,
    NotShorter,
    TornPair,
    /// Thinking would lose what it led to.
    TornThought,
    UserText,
    TooSmall,
}

/// A fold that saves less than this many tokens is not worth a message of its own.
const LEAST_FOLD: u32 = 256;

/// Admits proposals into a draft, or refuses them: every invariant of a pruned request is held here.
pub(super) struct Guard<'a> {
    pub(super) counter: &'a Cached,
    pub(super) reach: Reach,
}

impl Guard<'_> {
    /// Admits a proposal of `stage` on `rung`; the draft then holds it.
    pub(super) fn admit(
        &self,
        draft: &mut Draft<'_>,
        proposal: Proposal,
        stage: &'static str,
        rung: u8,
    ) -> Result<Step, Refusal> {
        match proposal {
            Proposal::Replace { index, text, strength } => {
                let before = draft.tokens(index);
                let edit = self.edit(draft, index, text, strength)?;
                draft.edits.set(index, Arc::new(edit));
                Ok(Step { stage, rung, index, before, after: draft.tokens(index) })
            }
            Proposal::Fold { items, messages, fold } => {
                let before = items.clone().map(|index| draft.tokens(index)).sum::<u32>();
                self.check_fold(draft, &items, before, fold.tokens_after)?;
                let (index, after) = (items.start, fold.tokens_after);
                let placed = draft.edits.fold(FoldedRange { messages, items, fold });
                if placed { Ok(Step { stage, rung, index, before, after }) } else { Err(Refusal::Folded) }
            }
        }
    }

    /// Whether the item at `index` may be touched by an edit of this strength.
    pub(super) fn may_touch(
        &self,
        draft: &Draft<'_>,
        index: usize,
        strength: Strength,
    ) -> Result<(), Refusal> {
        let free = match draft.protection[index] {
            None => true,
            Some(Protection::Reply) => strength == Strength::Detail,
            Some(Protection::Recent) => self.reach >= Reach::Recent && draft.items()[index].kind != REPLY,
            Some(Protection::NewestGroup) => {
                self.reach >= Reach::Newest && draft.items()[index].is_tool_result()
            }
            Some(_) => false,
        };
        match draft.protection[index] {
            Some(protection) if !free => Err(Refusal::Protected(protection)),
            _ if draft.edits.is_folded(index) => Err(Refusal::Folded),
            _ if draft.edits.get(index).is_some_and(|old| old.strength >= strength) => {
                Err(Refusal::NotStronger)
            }
            _ => Ok(()),
        }
    }

    fn edit(
        &self,
        draft: &Draft<'_>,
        index: usize,
        text: String,
        strength: Strength,
    ) -> Result<Edit, Refusal> {
        self.may_touch(draft, index, strength)?;
        let item = &draft.items()[index];
        let original = draft.transcript.text(index);
        let images = item.loose_images() as u32 * draft.settings.image_tokens;
        let tokens_before = self.counter.count(item.content, || original.clone()) + images;
        let tokens_after = self.counter.count_text(&text);
        let now = draft
            .edits
            .get(index)
            .map_or((tokens_before, original.len()), |old| (old.tokens_after, old.text.len()));
        let shorter = tokens_after < now.0 && (text.len() < now.1 || images > 0);
        if text.is_empty() || !shorter {
            return Err(Refusal::NotShorter);
        }
        Ok(Edit { text: text.into(), strength, tokens_before, tokens_after })
    }

    fn check_fold(
        &self,
        draft: &Draft<'_>,
        range: &Range<usize>,
        before: u32,
        after: u32,
    ) -> Result<(), Refusal> {
        let items = draft.items();
        let answered: HashSet<usize> = items[range.clone()].iter().filter_map(Item::answers).collect();
        for index in range.clone() {
            match draft.protection[index] {
                Some(
                    p @ (Protection::Tool
                    | Protection::Pattern
                    | Protection::Image
                    | Protection::Signed
                    | Protection::NewestGroup),
                ) => {
                    return Err(Refusal::Protected(p));
                }
                Some(Protection::Recent) if self.reach < Reach::Recent => {
                    return Err(Refusal::Protected(Protection::Recent));
                }
                _ => {}
            }
            match &items[index].kind {
                ItemKind::Message { role: Role::System | Role::User } => return Err(Refusal::UserText),
                ItemKind::Opaque if !items[index].parts.is_empty() => return Err(Refusal::UserText),
                ItemKind::ToolCall(_) if !answered.contains(&index) => return Err(Refusal::TornPair),
                ItemKind::ToolResult(result) if result.call.is_none_or(|call| !range.contains(&call)) => {
                    return Err(Refusal::TornPair);
                }
                _ => {}
            }
        }
        let is_thought = |index: Option<usize>| index.is_some_and(|i| items[i].kind == ItemKind::Reasoning);
        let has_follower = items.get(range.end).is_some_and(|next| !next.is_asked());
        if is_thought(range.start.checked_sub(1)) || (is_thought(range.end.checked_sub(1)) && has_follower) {
            return Err(Refusal::TornThought);
        }
        if before < after.saturating_add(LEAST_FOLD) { Err(Refusal::TooSmall) } else { Ok(()) }
    }
}

const REPLY: ItemKind = ItemKind::Message { role: Role::Assistant };
