use quick_cache::sync::Cache;

use crate::model::Fingerprint;
use crate::tokens::{Tiktoken, TokenCounter};

/// Smallest prefix, in tokens, that a provider keeps.
const SMALLEST_PREFIX: u64 = 1024;
/// Cached tokens come in steps of this.
const PREFIX_STEP: u64 = 128;
/// Prefixes remembered, over all credentials; some 60 bytes each.
const PREFIXES: usize = 100_000;

/// A part of a request that is cached whole or not at all: its tool definitions, or one message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    pub(super) print: Fingerprint,
    pub(super) tokens: u64,
}

/// What requests are worth.
pub(super) struct Meter {
    counter: Tiktoken,
    prefixes: Cache<Fingerprint, ()>,
}

impl Meter {
    pub(super) fn new() -> Self {
        Self { counter: Tiktoken::o200k(), prefixes: Cache::new(PREFIXES) }
    }

    /// Tokens of a text.
    pub(super) fn count(&self, text: &str) -> u64 {
        u64::from(self.counter.count(text))
    }

    /// Tokens of the longest known prefix of a request, and remembers all of its prefixes. Requests of different
    /// `owner`s (credential and model) know nothing of each other.
    pub(super) fn cached(&self, owner: Fingerprint, pieces: &[Piece]) -> u64 {
        let ends: Vec<_> = pieces
            .iter()
            .scan((owner, 0), |(chain, tokens), piece| {
                *chain = chain.then(piece.print);
                *tokens += piece.tokens;
                Some((*chain, *tokens))
            })
            .collect();
        let known = ends.iter().rposition(|(chain, _)| self.prefixes.get(chain).is_some());
        for (chain, _) in &ends[known.map_or(0, |at| at + 1)..] {
            self.prefixes.insert(*chain, ());
        }
        match known.map(|at| ends[at].1) {
            Some(tokens) if tokens >= SMALLEST_PREFIX => tokens / PREFIX_STEP * PREFIX_STEP,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(list: &[(&str, u64)]) -> Vec<Piece> {
        list.iter()
            .map(|(name, tokens)| Piece { print: Fingerprint::of(&[name.as_bytes()]), tokens: *tokens })
            .collect()
    }

    #[test]
    fn the_longest_known_prefix_counts_in_steps() {
        let meter = Meter::new();
        let (a, b) = (Fingerprint::of(&[b"a"]), Fingerprint::of(&[b"b"]));
        let first = pieces(&[("tools", 500), ("system", 600), ("user", 100)]);
        assert_eq!(meter.cached(a, &first), 0);
        assert_eq!(meter.cached(a, &first), 1152, "1,200 in steps of 128");
        assert_eq!(meter.cached(b, &first), 0, "another credential");
        let grown = pieces(&[("tools", 500), ("system", 600), ("user", 100), ("assistant", 900)]);
        assert_eq!(meter.cached(a, &grown), 1152);
        assert_eq!(meter.cached(a, &grown), 2048);
        let edited = pieces(&[("tools", 500), ("system", 600), ("edited", 100), ("assistant", 900)]);
        assert_eq!(meter.cached(a, &edited), 1024, "1,100 in front of the edit");
        let early = pieces(&[("tools", 500), ("other", 600)]);
        assert_eq!(meter.cached(a, &early), 0, "500 are too few");
    }
}
