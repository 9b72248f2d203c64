//! What was decoded in earlier turns. An agent sends its whole history every turn, so nearly all of a body has been
//! read before: that part is hashed, which is several times cheaper than reading it.

use std::fmt;
use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use smallvec::SmallVec;

/// Bodies below this are read anew: a look-up would cost as much.
pub(super) const SMALLEST: usize = 16 << 10;
/// Bytes of decoded prefixes that are kept.
const CAPACITY: u64 = 64 << 20;
/// How many checkpoints share a key: two a turn, and some for requests of one session side by side.
const CHECKPOINTS: usize = 4;
/// How many entries are expected. So few make the cache use no more than two shards, whatever the machine, and an
/// entry must fit into one: the longest conversations are those that gain most.
const ENTRIES: usize = 64;

type Digest = [u8; 32];
/// A power of two, and the digest of that many first bytes.
type Key = (usize, Digest);

/// A bounded memory of decoding states.
pub(super) struct Memo<S>(Cache<Key, Checkpoints<S>, ByWeight>);

/// The states kept under one key, newest first.
type Checkpoints<S> = Arc<SmallVec<[Checkpoint<S>; CHECKPOINTS]>>;

/// A state behind the first `end` bytes of a body.
#[derive(Debug, Clone)]
struct Checkpoint<S> {
    end: usize,
    digest: Digest,
    state: S,
}

/// What can be kept.
pub(super) trait Keep: Clone {
    /// Bytes of memory it holds.
    fn weight(&self) -> usize;
}

/// How far a body was hashed, so that keeping its states hashes no byte twice.
#[derive(Debug, Default)]
pub(super) struct Trail {
    keys: Vec<Key>,
    hashers: Vec<(usize, blake3::Hasher)>,
    known: Option<usize>,
}

#[derive(Clone)]
struct ByWeight;

impl<S: Keep> Weighter<Key, Checkpoints<S>> for ByWeight {
    fn weight(&self, _: &Key, checkpoints: &Checkpoints<S>) -> u64 {
        let states: usize = checkpoints.iter().map(|c| c.state.weight()).sum();
        (size_of::<Key>() + checkpoints.len() * size_of::<Checkpoint<S>>() + states) as u64
    }
}

impl<S: Keep> Memo<S> {
    /// An empty memory.
    pub(super) fn new() -> Self {
        Self(Cache::with_weighter(ENTRIES, CAPACITY, ByWeight))
    }

    /// The state behind the longest known prefix of `body`, with the length of that prefix.
    pub(super) fn find(&self, body: &[u8]) -> (Option<(usize, S)>, Trail) {
        let mut trail = Trail::default();
        let mut best = None;
        let mut hasher = blake3::Hasher::new();
        let mut at = 0;
        let mut power = SMALLEST;
        while power <= body.len() {
            hasher.update(&body[at..power]);
            at = power;
            let key = (power, *hasher.finalize().as_bytes());
            trail.keys.push(key);
            trail.hashers.push((at, hasher.clone()));
            if let Some(checkpoints) = self.0.get(&key) {
                let mut ascending: SmallVec<[&Checkpoint<S>; CHECKPOINTS]> = checkpoints.iter().collect();
                ascending.retain(|c| c.end <= body.len());
                ascending.sort_by_key(|c| c.end);
                for checkpoint in ascending {
                    hasher.update(&body[at..checkpoint.end]);
                    at = checkpoint.end;
                    if *hasher.finalize().as_bytes() == checkpoint.digest {
                        best = Some((at, checkpoint.state.clone()));
                    }
                }
                trail.hashers.push((at, hasher.clone()));
            }
            power *= 2;
        }
        trail.known = best.as_ref().map(|(end, _)| *end);
        (best, trail)
    }

    /// Keeps states, each with the length of the prefix of `body` that it stands behind, ascending.
    pub(super) fn keep(&self, body: &[u8], mut trail: Trail, states: impl IntoIterator<Item = (usize, S)>) {
        for (end, state) in states {
            let Some(key) = trail.keys.iter().rev().find(|(power, _)| *power <= end).copied() else {
                continue;
            };
            if trail.known.is_some_and(|known| end <= known) {
                continue;
            }
            let digest = trail.digest(body, end);
            let mut checkpoints = SmallVec::new();
            checkpoints.push(Checkpoint { end, digest, state });
            if let Some(old) = self.0.get(&key) {
                let others = old.iter().filter(|c| c.digest != digest);
                checkpoints.extend(others.take(CHECKPOINTS - 1).cloned());
            }
            self.0.insert(key, Arc::new(checkpoints));
        }
    }
}

impl<S> fmt::Debug for Memo<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Memo")
    }
}

impl Trail {
    fn digest(&mut self, body: &[u8], end: usize) -> Digest {
        let nearest = self.hashers.iter().rev().find(|(at, _)| *at <= end);
        let (at, mut hasher) = nearest.map_or_else(|| (0, blake3::Hasher::new()), Clone::clone);
        hasher.update(&body[at..end]);
        let digest = *hasher.finalize().as_bytes();
        self.hashers.push((end, hasher));
        digest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Keep for usize {
        fn weight(&self) -> usize {
            size_of::<Self>()
        }
    }

    fn body(len: usize) -> Vec<u8> {
        (0..len).map(|i| (i * i / 7) as u8).collect()
    }

    fn kept(memo: &Memo<usize>, body: &[u8], ends: &[usize]) {
        let (_, trail) = memo.find(body);
        memo.keep(body, trail, ends.iter().map(|end| (*end, *end)));
    }

    #[test]
    fn the_longest_known_prefix_is_found() {
        let memo = Memo::new();
        let first = body(70_000);
        kept(&memo, &first, &[17_000, 40_000, 69_999]);
        assert_eq!(memo.find(&body(200_000)).0, Some((69_999, 69_999)));
        assert_eq!(memo.find(&body(69_998)).0, Some((40_000, 40_000)));
        let mut forked = body(90_000);
        forked[50_000] ^= 1;
        assert_eq!(memo.find(&forked).0, Some((40_000, 40_000)));
        forked[100] ^= 1;
        assert_eq!(memo.find(&forked).0, None);
    }

    #[test]
    fn the_newest_states_of_a_key_stay() {
        let memo = Memo::new();
        for end in 40_000..40_010 {
            kept(&memo, &body(end + 5), &[end]);
        }
        assert_eq!(memo.find(&body(50_000)).0, Some((40_009, 40_009)));
        assert_eq!(memo.find(&body(40_004)).0, None);
    }

    #[derive(Debug, Clone, PartialEq)]
    struct Heavy(usize);

    impl Keep for Heavy {
        fn weight(&self) -> usize {
            self.0
        }
    }

    #[test]
    fn long_conversations_fit_and_the_whole_is_bounded() {
        let memo = Memo::new();
        for fork in 0..40_u8 {
            let mut body = body(30_000);
            body[0] = fork;
            let (_, trail) = memo.find(&body);
            memo.keep(&body, trail, [(29_000, Heavy(16 << 20))]);
            assert!(memo.find(&body).0.is_some() || fork > 0);
            assert!(memo.0.weight() <= CAPACITY);
        }
    }

    #[test]
    fn small_bodies_are_not_kept() {
        let memo = Memo::new();
        kept(&memo, &body(SMALLEST - 1), &[9_000]);
        kept(&memo, &body(SMALLEST + 1), &[9_000]);
        assert_eq!(memo.find(&body(SMALLEST + 9)).0, None);
    }
}
