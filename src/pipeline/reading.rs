use std::ops::Range;
use std::sync::Arc;

use super::policy::Policy;
use crate::model::{EditSet, Fingerprint, ItemKind, Role};
use crate::prune::{Figures, Gate, Planner, Sizes};
use crate::session::{Session, Thinking};
use crate::tokens::Cached;
use crate::wire::Decoded;

/// A request that was read, with all that follows from its bytes alone.
pub(super) struct Reading {
    pub(super) decoded: Decoded,
    pub(super) policy: Arc<Policy>,
    /// By item: chain over the fingerprints up to and with it.
    pub(super) chain: Vec<Fingerprint>,
    /// The model's window, when known.
    pub(super) window: Option<u64>,
    /// What is known of signed thinking behind an edit.
    pub(super) thinking: Option<Thinking>,
}

/// How large a request is, by all that is known of its session.
#[derive(Debug, Clone, Default)]
pub(super) struct Standing {
    /// The line it continues; `None` when it begins one.
    pub(super) line: Option<u64>,
    /// Size after that line's last prune, moved as the gate says, and whether it was measured.
    pub(super) baseline: Option<(u64, bool)>,
    /// What the gate is told. The size is that under the replayed edits.
    pub(super) figures: Figures,
    /// Real tokens per estimated one.
    pub(super) ratio: f64,
}

impl Reading {
    pub(super) fn new(decoded: Decoded, policy: Arc<Policy>, window: Option<u64>) -> Self {
        let mut chain: Vec<Fingerprint> = Vec::with_capacity(decoded.transcript.items.len());
        for item in &decoded.transcript.items {
            let link = chain.last().map_or(item.fingerprint, |last| last.then(item.fingerprint));
            chain.push(link);
        }
        Self { decoded, policy, chain, window, thinking: None }
    }

    /// How many items, from the first, must stay as they are: with a model that wants it, all in front of the last
    /// thinking.
    pub(super) fn frozen(&self) -> usize {
        let thought = |item: &crate::model::Item| item.kind == ItemKind::Reasoning;
        match self.thinking {
            Some(Thinking::Kept) => self.decoded.transcript.items.iter().rposition(thought).unwrap_or(0),
            Some(Thinking::LeftOut) | None => 0,
        }
    }

    /// Whether even an upper bound on the size, made without counting, is below every threshold.
    pub(super) fn is_surely_small(&self, session: &Session, idle_ms: u64) -> bool {
        let transcript = &self.decoded.transcript;
        let anchor = session.anchors.longest_measured(&self.chain, &transcript.model);
        let (known, from) =
            anchor.map_or((transcript.definition_bytes as u64, 0), |(a, real)| (real, a.items));
        let rest = Sizes::bound(transcript, from, self.policy.pruning.image_tokens);
        let ratio = session.ratio(&transcript.model).value().max(1.0);
        let size = known + (rest as f64 * ratio) as u64;
        let gate = Gate(&self.policy.pruning);
        let figures = Figures {
            size,
            window: self.window,
            output_limit: transcript.output_limit,
            idle_ms,
            ..Figures::default()
        };
        gate.decide(&figures) == crate::prune::Demand::BelowThreshold
    }

    /// Counts what was never counted.
    pub(super) fn sizes(&self, counter: &Cached) -> Sizes {
        Sizes::count(&self.decoded.transcript, counter, self.policy.pruning.image_tokens)
    }

    /// How large the request is under `edits`. Without sizes only the line is told.
    pub(super) fn standing(
        &self,
        session: &Session,
        sizes: Option<&Sizes>,
        edits: &EditSet,
        idle_ms: u64,
    ) -> Standing {
        let transcript = &self.decoded.transcript;
        let state = session.anchors.longest(&self.chain, &transcript.model);
        let ratio = session.ratio(&transcript.model).value();
        let mut figures = Figures {
            baseline: state.and_then(|a| a.baseline),
            window: self.window,
            output_limit: transcript.output_limit,
            idle_ms,
            ..Figures::default()
        };
        if let Some(sizes) = sizes {
            let all = Planner::estimate(sizes, edits);
            match session.anchors.longest_measured(&self.chain, &transcript.model) {
                Some((anchor, real)) => {
                    let raw = || {
                        (0..anchor.items).map(|i| u64::from(sizes.of(i))).sum::<u64>()
                            + u64::from(sizes.definitions())
                    };
                    let then = anchor.estimate.unwrap_or_else(raw);
                    figures.size = (real as f64 + (all as f64 - then as f64) * ratio).max(0.0) as u64;
                    figures.measured = true;
                }
                None => figures.size = (all as f64 * ratio) as u64,
            }
        }
        let baseline = match sizes {
            Some(_) => Gate::rebase(&figures).map(|b| (b, figures.measured)),
            None => figures.baseline,
        };
        Standing { line: state.map(|a| a.line), baseline, figures, ratio }
    }

    /// How many items stand in front of the trailing user text, which some clients replace every turn; `None` when
    /// there is none, or nothing but an opening in front of it.
    pub(super) fn without_trailing_user_text(&self) -> Option<usize> {
        let items = &self.decoded.transcript.items;
        let is_user = |kind: &ItemKind| matches!(kind, ItemKind::Message { role: Role::User });
        let kept = items.iter().rposition(|item| !is_user(&item.kind))? + 1;
        let is_opening =
            |kind: &ItemKind| matches!(kind, ItemKind::Message { role: Role::User | Role::System });
        let begun = items[..kept].iter().any(|item| !is_opening(&item.kind));
        (kept < items.len() && begun).then_some(kept)
    }
}

/// Estimated tokens of some of the items when sent under `edits`.
pub(super) fn estimate_of(range: Range<usize>, sizes: &Sizes, edits: &EditSet) -> u64 {
    range.map(|index| u64::from(sizes.under(edits, index))).sum()
}
