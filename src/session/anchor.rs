use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::model::Fingerprint;

/// A conversation state that a provider has measured: what stood in the request up to a point, and how large that
/// really was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Anchor {
    /// Chain over the fingerprints of the items, as the client sent them.
    pub prefix: Fingerprint,
    /// How many items that were.
    pub items: usize,
    /// The model that counted.
    pub model: String,
    /// Real input tokens of what was sent for them. `None` when the provider told none: the state then only
    /// carries the line and the baseline on.
    pub real: Option<u64>,
    /// Estimated tokens of what was sent for them; `None` when nothing was edited and it was not worth counting.
    pub estimate: Option<u64>,
    /// Size after the last prune of this line, and whether it was measured.
    pub baseline: Option<(u64, bool)>,
    /// The conversation it belongs to: requests that extend one another are one line.
    pub line: u64,
}

/// The latest states of a session, bounded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Anchors(VecDeque<Anchor>);

impl Anchors {
    /// Most states kept a session: enough for a main conversation and several sub-agents beside it.
    pub const MOST: usize = 64;

    /// Takes a state in; an older one of the same prefix and model goes, and the oldest of all when full.
    pub fn insert(&mut self, anchor: Anchor) {
        self.0.retain(|a| a.prefix != anchor.prefix || a.model != anchor.model);
        if self.0.len() == Self::MOST {
            self.0.pop_front();
        }
        self.0.push_back(anchor);
    }

    /// The state with the longest prefix among those in `chain` (`chain[n]` is the chain over the first n+1 items)
    /// that `model` was sent.
    pub fn longest(&self, chain: &[Fingerprint], model: &str) -> Option<&Anchor> {
        self.in_chain(chain, model).max_by_key(|a| a.items)
    }

    /// The same among those whose real size the provider told, with that size.
    pub fn longest_measured(&self, chain: &[Fingerprint], model: &str) -> Option<(&Anchor, u64)> {
        self.in_chain(chain, model).filter_map(|a| Some((a, a.real?))).max_by_key(|(a, _)| a.items)
    }

    fn in_chain(&self, chain: &[Fingerprint], model: &str) -> impl Iterator<Item = &Anchor> {
        self.0
            .iter()
            .filter(move |a| a.model == model && a.items > 0)
            .filter(move |a| chain.get(a.items - 1) == Some(&a.prefix))
    }

    /// How many states are kept.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether none is kept.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(n: usize) -> Vec<Fingerprint> {
        let prints = (0..n).map(|i| Fingerprint::of(&[&i.to_le_bytes()]));
        prints
            .scan(None, |last: &mut Option<Fingerprint>, print| {
                *last = Some(last.map_or(print, |l| l.then(print)));
                *last
            })
            .collect()
    }

    fn anchor(items: usize, model: &str) -> Anchor {
        Anchor {
            prefix: chain(items)[items - 1],
            items,
            model: model.into(),
            real: Some(items as u64),
            estimate: None,
            baseline: None,
            line: 0,
        }
    }

    #[test]
    fn the_longest_known_prefix_of_the_model_is_found() {
        let mut anchors = Anchors::default();
        for items in [2, 4, 3] {
            anchors.insert(anchor(items, "m"));
        }
        anchors.insert(anchor(5, "other"));
        assert_eq!(anchors.longest(&chain(6), "m").unwrap().items, 4);
        assert_eq!(anchors.longest(&chain(3), "m").unwrap().items, 3);
        assert_eq!(anchors.longest(&chain(1), "m"), None);
    }

    #[test]
    fn the_number_of_states_is_bounded() {
        let mut anchors = Anchors::default();
        (1..=200).for_each(|items| anchors.insert(anchor(items, "m")));
        assert_eq!(anchors.len(), Anchors::MOST);
        assert!(anchors.longest(&chain(100), "m").is_none() && anchors.longest(&chain(200), "m").is_some());
    }
}
