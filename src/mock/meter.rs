use quick_cache::sync::Cache;

use crate::model::Fingerprint;
use crate::tokens::{Tiktoken, TokenCounter};

/// Smallest prefix, in tokens, that a provider keeps.
const SMALLEST_PREFIX: u64 = 1024;
/// Cached tokens come in steps of this.
const PREFIX_STEP: u64 = 128;
/// Prefixes remembered, over all credentials; some 60 bytes each.
const PREFIXES: usize = 100_000;

/// How many pieces in front of a mark the longest known prefix may end.
const LOOK_BACK: usize = 20;

/// Tokens that each message takes beside its text.
pub(super) const FRAMING: u64 = 4;
/// Tokens that an image is worth.
pub(super) const IMAGE: u64 = 765;

/// A part of a request that is cached whole or not at all: its tool definitions, or one message or block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    pub(super) print: Fingerprint,
    pub(super) tokens: u64,
}

/// What the prefix cache did for a request, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct CacheFigures {
    pub(super) read: u64,
    /// What was stored anew, where the client pays for that.
    pub(super) written: u64,
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

    /// What the cache does for a request, and remembers its prefixes: all of them, or those up to the `marks`, each a
    /// number of pieces. Requests of different `owner`s (credential and model) know nothing of each other.
    pub(super) fn cached(
        &self,
        owner: Fingerprint,
        pieces: &[Piece],
        marks: Option<&[usize]>,
    ) -> CacheFigures {
        let ends: Vec<_> = pieces
            .iter()
            .scan((owner, 0), |(chain, tokens), piece| {
                *chain = chain.then(piece.print);
                *tokens += piece.tokens;
                Some((*chain, *tokens))
            })
            .collect();
        match marks {
            None => self.cached_by_itself(&ends),
            Some(marks) => self.cached_up_to(marks, &ends),
        }
    }

    fn cached_by_itself(&self, ends: &[(Fingerprint, u64)]) -> CacheFigures {
        let known = ends.iter().rposition(|(chain, _)| self.prefixes.get(chain).is_some());
        for (chain, _) in &ends[known.map_or(0, |at| at + 1)..] {
            self.prefixes.insert(*chain, ());
        }
        let read = match known.map(|at| ends[at].1) {
            Some(tokens) if tokens >= SMALLEST_PREFIX => tokens / PREFIX_STEP * PREFIX_STEP,
            _ => 0,
        };
        CacheFigures { read, written: 0 }
    }

    fn cached_up_to(&self, marks: &[usize], ends: &[(Fingerprint, u64)]) -> CacheFigures {
        let known = |mark: &usize| {
            let before = &ends[mark.saturating_sub(LOOK_BACK)..*mark];
            before
                .iter()
                .rev()
                .find(|(chain, _)| self.prefixes.get(chain).is_some())
                .map(|(_, tokens)| *tokens)
        };
        let read = marks.iter().filter_map(known).max().unwrap_or(0);
        let stored = marks.iter().filter_map(|mark| ends.get(mark.checked_sub(1)?));
        let mut last = read;
        for (chain, tokens) in stored.filter(|(_, tokens)| *tokens >= SMALLEST_PREFIX) {
            self.prefixes.insert(*chain, ());
            last = last.max(*tokens);
        }
        CacheFigures { read, written: last - read }
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
        let read = |owner, pieces: &[Piece]| meter.cached(owner, pieces, None).read;
        assert_eq!(read(a, &first), 0);
        assert_eq!(read(a, &first), 1152, "1,200 in steps of 128");
        assert_eq!(read(b, &first), 0, "another credential");
        let grown = pieces(&[("tools", 500), ("system", 600), ("user", 100), ("assistant", 900)]);
        assert_eq!(read(a, &grown), 1152);
        assert_eq!(read(a, &grown), 2048);
        let edited = pieces(&[("tools", 500), ("system", 600), ("edited", 100), ("assistant", 900)]);
        assert_eq!(read(a, &edited), 1024, "1,100 in front of the edit");
        let early = pieces(&[("tools", 500), ("other", 600)]);
        assert_eq!(read(a, &early), 0, "500 are too few");
    }

    #[test]
    fn nothing_is_cached_beyond_the_marks() {
        let meter = Meter::new();
        let owner = Fingerprint::of(&[b"a"]);
        let all = pieces(&[("system", 1500), ("user", 100), ("assistant", 300), ("more", 50)]);
        let figures = |read, written| CacheFigures { read, written };
        assert_eq!(meter.cached(owner, &all[..2], Some(&[])), figures(0, 0));
        assert_eq!(meter.cached(owner, &all[..2], Some(&[1])), figures(0, 1500));
        assert_eq!(meter.cached(owner, &all[..3], Some(&[1, 3])), figures(1500, 400));
        assert_eq!(meter.cached(owner, &all, Some(&[4])), figures(1900, 50), "found in front of its mark");
        let far: Vec<_> =
            (0..30).map(|at| Piece { tokens: 100, ..pieces(&[(&at.to_string(), 0)])[0] }).collect();
        assert_eq!(meter.cached(owner, &far[..11], Some(&[11])), figures(0, 1100));
        assert_eq!(meter.cached(owner, &far[..29], Some(&[29])), figures(1100, 1800));
        assert_eq!(meter.cached(owner, &far, Some(&[8])), figures(0, 0), "800 are too few");
    }
}
