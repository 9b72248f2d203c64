use super::{Rules, Settings, Sizes};
use crate::model::{Item, ItemKind, Role, Transcript};

/// Why an item may not be touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protection {
    /// System text, user text, calls, reasoning, what is not understood: never.
    Kind,
    /// A protected tool's output: never.
    Tool,
    /// The text matches a protected pattern: never.
    Pattern,
    /// It holds an image, and those are to be left alone.
    Image,
    /// A short output that is marked as an error.
    Error,
    /// In the newest group of tool outputs.
    NewestGroup,
    /// Among the newest `keep_recent_messages`, or within `keep_recent_tokens`.
    Recent,
    /// In front of signed thinking, which would no longer be valid.
    Signed,
    /// Assistant text: touched only by stages that account for whole blocks.
    Reply,
}

/// Longest output marked as an error that is never pruned, in tokens.
const SHORT_ERROR: u32 = 500;

impl Protection {
    /// Its name in explanations.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Kind => "kind",
            Self::Tool => "tool",
            Self::Pattern => "pattern",
            Self::Image => "image",
            Self::Error => "error",
            Self::NewestGroup => "newest_group",
            Self::Recent => "recent",
            Self::Signed => "signed",
            Self::Reply => "reply",
        }
    }

    /// Why each item of `transcript` may not be touched; `None` where it may.
    pub fn of_all(
        transcript: &Transcript,
        sizes: &Sizes,
        rules: &Rules,
        settings: &Settings,
    ) -> Vec<Option<Self>> {
        let recent = first_recent_message(transcript, sizes, settings);
        let newest = newest_group(transcript);
        let protection = |(index, item): (usize, &Item)| {
            let by_content = content_protection(transcript, index, sizes, rules, settings);
            if matches!(by_content, Some(p) if p != Self::Reply) {
                return by_content;
            }
            if newest.is_some_and(|group| item.message >= group.0 && item.message <= group.1) {
                return Some(Self::NewestGroup);
            }
            if item.message >= recent { Some(Self::Recent) } else { by_content }
        };
        transcript.items.iter().enumerate().map(protection).collect()
    }
}

/// Protection that does not depend on where the item stands.
fn content_protection(
    transcript: &Transcript,
    index: usize,
    sizes: &Sizes,
    rules: &Rules,
    settings: &Settings,
) -> Option<Protection> {
    let item = &transcript.items[index];
    match &item.kind {
        ItemKind::Message { role: Role::Assistant } => return Some(Protection::Reply),
        ItemKind::Message { role: Role::User }
            if rules.knows_observations() && rules.is_observation(&transcript.text(index)) => {}
        ItemKind::ToolResult(result) => {
            if transcript.call_of(index).is_some_and(|call| rules.protects_tool(&call.name)) {
                return Some(Protection::Tool);
            }
            if result.is_error && sizes.of(index) <= SHORT_ERROR {
                return Some(Protection::Error);
            }
        }
        ItemKind::Message { .. } | ItemKind::ToolCall(_) | ItemKind::Reasoning | ItemKind::Opaque => {
            return Some(Protection::Kind);
        }
    }
    if settings.skip_tools_with_images && item.images() > 0 {
        return Some(Protection::Image);
    }
    let pattern = rules.knows_protected_texts() && rules.protects_text(&transcript.text(index));
    pattern.then_some(Protection::Pattern)
}

/// The first message that counts as recent: the newest `keep_recent_messages`, and the newest that together hold
/// `keep_recent_tokens`.
fn first_recent_message(transcript: &Transcript, sizes: &Sizes, settings: &Settings) -> usize {
    let by_count = transcript.messages.saturating_sub(settings.keep_recent_messages);
    let mut held = 0;
    let mut by_tokens = transcript.messages;
    for (index, item) in transcript.items.iter().enumerate().rev() {
        if held >= settings.keep_recent_tokens && item.message < by_tokens {
            break;
        }
        by_tokens = item.message;
        held += u64::from(sizes.of(index));
    }
    by_count.min(by_tokens)
}

/// First and last message of the newest group of tool outputs: the one that ends the list, or stands
/// nearest to its end, with nothing of the model's in between.
fn newest_group(transcript: &Transcript) -> Option<(usize, usize)> {
    let items = &transcript.items;
    let last = items.iter().rposition(Item::is_tool_result)?;
    let group = items[..=last].iter().rev().take_while(|item| item.is_tool_result() || item.is_asked());
    let first = group.filter(|item| item.is_tool_result()).last()?;
    Some((first.message, items[last].message))
}
