use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::members::Members;
use super::memo::Keep;
use crate::model::{ByFingerprint, Fingerprint, Item, ItemKind, Part, PartKind, Role, Span};

/// All that is known behind a message, and all that is needed to go on from there.
#[derive(Debug, Clone, Default)]
pub(super) struct Progress {
    /// The members in front of the list of messages.
    pub(super) head: Members,
    pub(super) items: Arc<Vec<Item>>,
    /// By item: chain over the fingerprints up to and with it.
    pub(super) chain: Arc<Vec<Fingerprint>>,
    pub(super) messages: Vec<Span>,
    pub(super) calls: OpenCalls,
    pub(super) functions: OpenCalls,
    seen: ByFingerprint<u32>,
    opening: Option<Opening>,
    settled: Settled,
    /// Whether a single value stands in place of the list: there is nothing to go on from.
    is_alone: bool,
}

/// Calls without a result so far, by id or name.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenCalls(HashMap<Arc<str>, Open>);

/// The open calls of one id in the last turn that used it.
#[derive(Debug, Clone)]
struct Open {
    /// The first message of the turn.
    turn: usize,
    items: VecDeque<usize>,
}

/// What the conversation opens with, and the message of the user text in it.
#[derive(Debug, Clone, Copy)]
struct Opening {
    print: Fingerprint,
    message: usize,
}

/// What stands in front of the user messages at the end. Some clients replace the last user message every turn.
#[derive(Debug, Clone, Default)]
struct Settled {
    items: usize,
    messages: usize,
    calls: OpenCalls,
    functions: OpenCalls,
    /// Identities, without their count, of the items behind.
    behind: Vec<Fingerprint>,
}

/// A state to go on from: a progress, or the settled part of it.
#[derive(Debug, Clone)]
pub(super) struct Snapshot {
    progress: Arc<Progress>,
    settled: bool,
    weight: usize,
}

impl Progress {
    /// In front of the first message, behind the members in `head`.
    pub(super) fn at_start(head: &Members) -> Self {
        Self { head: *head, ..Self::default() }
    }

    /// Adds an item whose identity, apart from how often it came before, is `identity`.
    pub(super) fn push(&mut self, mut item: Item, identity: Fingerprint) {
        let before = self.seen.entry(identity).or_default();
        item.fingerprint = match *before {
            0 => identity,
            n => identity.then(Fingerprint::of(&[&n.to_le_bytes()])),
        };
        *before += 1;
        self.settled.behind.push(identity);
        Fingerprint::lengthen(Arc::make_mut(&mut self.chain), item.fingerprint);
        Arc::make_mut(&mut self.items).push(item);
    }

    /// Ends a message; `by_user` tells whether it may be a user's last words, which may be other ones next time.
    pub(super) fn end_message(&mut self, span: Span, by_user: bool) {
        self.messages.push(span);
        if !by_user {
            self.settled.items = self.items.len();
            self.settled.messages = self.messages.len();
            self.settled.calls.clone_from(&self.calls);
            self.settled.functions.clone_from(&self.functions);
            self.settled.behind.clear();
        }
    }

    /// Ends a value that stands in place of the list.
    pub(super) fn end_alone(&mut self, span: Span) {
        self.messages.push(span);
        self.is_alone = true;
    }

    /// Identity of the system texts before the first user message, and of the first user text.
    pub(super) fn opening(&mut self, body: &[u8]) -> Option<Fingerprint> {
        if self.opening.is_none() {
            self.opening = self.find_opening(body);
        }
        self.opening.map(|opening| opening.print)
    }

    fn find_opening(&self, body: &[u8]) -> Option<Opening> {
        let literals = |item: &Item| {
            let texts = item.parts.iter().filter(|part| part.kind == PartKind::Text);
            texts.map(|part| part.span.slice(body)).collect::<Vec<_>>()
        };
        let is_user = |item: &Item| item.kind == ItemKind::Message { role: Role::User };
        let is_system = |item: &Item| item.kind == ItemKind::Message { role: Role::System };
        let spoken = self.items.iter().find(|item| is_user(item) && !literals(item).is_empty())?;
        let before = self.items.iter().take_while(|item| !is_user(item)).filter(|item| is_system(item));
        let mut texts: Vec<&[u8]> = before.flat_map(literals).collect();
        texts.push(b"user");
        let said = self.items.iter().filter(|item| item.message == spoken.message && is_user(item));
        texts.extend(said.flat_map(literals));
        Some(Opening { print: Fingerprint::of(&texts), message: spoken.message })
    }

    /// Bytes of memory it holds, about.
    fn weight(&self) -> usize {
        const ITEM: usize =
            size_of::<Item>() + size_of::<Fingerprint>() + 2 * size_of::<(Fingerprint, u32)>();
        const STRING: usize = 2 * size_of::<usize>();
        let item = |item: &Item| {
            let strings = match &item.kind {
                ItemKind::ToolCall(call) => call.id.len() + call.name.len() + 2 * STRING,
                ItemKind::ToolResult(result) => result.id.len() + STRING,
                _ => 0,
            };
            let parts = if item.parts.spilled() { item.parts.len() * size_of::<Part>() } else { 0 };
            ITEM + strings + parts
        };
        size_of::<Self>()
            + self.items.iter().map(item).sum::<usize>()
            + self.messages.len() * size_of::<Span>()
    }

    /// The states worth keeping, each with the offset it stands behind, ascending.
    pub(super) fn snapshots(self) -> impl Iterator<Item = (usize, Snapshot)> {
        let known = if self.is_alone { &[] } else { self.messages.as_slice() };
        let end = |messages: usize| known.get(messages.checked_sub(1)?).map(|last| last.end);
        let whole = end(self.messages.len());
        let settled = end(self.settled.messages).filter(|end| whole != Some(*end));
        let weight = self.weight() / (1 + usize::from(settled.is_some()));
        let progress = Arc::new(self);
        let at =
            move |end: usize, settled| (end, Snapshot { progress: Arc::clone(&progress), settled, weight });
        let both = [settled.map(|end| at(end, true)), whole.map(|end| at(end, false))];
        both.into_iter().flatten()
    }
}

impl OpenCalls {
    /// Notes a call in `turn`; it makes those of the same key in earlier turns forgotten.
    pub(super) fn open(&mut self, key: &Arc<str>, turn: usize, item: usize) {
        let open = self.0.entry(Arc::clone(key)).or_insert_with(|| Open { turn, items: VecDeque::new() });
        if open.turn != turn {
            *open = Open { turn, items: VecDeque::new() };
        }
        open.items.push_back(item);
    }

    /// The call that a result with this key answers, which is then no longer open.
    pub(super) fn answer(&mut self, key: &str) -> Option<usize> {
        let open = self.0.get_mut(key)?;
        let item = open.items.pop_front();
        if open.items.is_empty() {
            self.0.remove(key);
        }
        item
    }
}

impl Snapshot {
    /// A copy to go on with.
    pub(super) fn resume(&self) -> Progress {
        let whole = &*self.progress;
        if !self.settled {
            return whole.clone();
        }
        let settled = &whole.settled;
        let (items, messages) = (settled.items, settled.messages);
        let mut seen = whole.seen.clone();
        for identity in &settled.behind {
            if let Some(times) = seen.get_mut(identity) {
                *times -= 1;
            }
        }
        Progress {
            head: whole.head,
            items: Arc::new(whole.items[..items].to_vec()),
            chain: Arc::new(whole.chain[..items].to_vec()),
            messages: whole.messages[..messages].to_vec(),
            calls: settled.calls.clone(),
            functions: settled.functions.clone(),
            seen,
            opening: whole.opening.filter(|opening| opening.message < messages),
            settled: Settled { behind: Vec::new(), ..settled.clone() },
            is_alone: false,
        }
    }
}

impl Keep for Snapshot {
    fn weight(&self) -> usize {
        self.weight
    }
}
