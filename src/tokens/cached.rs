use std::borrow::Cow;

use quick_cache::sync::Cache;

use super::TokenCounter;
use crate::model::Fingerprint;

/// Counts that were made once, by content. Shared by all sessions: agents of one kind read the same files.
pub struct Cached {
    counter: Box<dyn TokenCounter>,
    counts: Cache<Fingerprint, u32>,
}

impl Cached {
    /// Keeps up to `capacity` counts (some 40 bytes each).
    pub fn new(counter: impl TokenCounter + 'static, capacity: usize) -> Self {
        Self { counter: Box::new(counter), counts: Cache::new(capacity) }
    }

    /// The count of a content seen before.
    pub fn known(&self, content: &Fingerprint) -> Option<u32> {
        self.counts.get(content)
    }

    /// The count of a content; `text` is asked for only when it was never counted.
    pub fn count<'a>(&self, content: Fingerprint, text: impl FnOnce() -> Cow<'a, str>) -> u32 {
        if let Some(count) = self.known(&content) {
            return count;
        }
        let count = self.counter.count(&text());
        self.counts.insert(content, count);
        count
    }

    /// The count of a text that has no fingerprint, such as a new placeholder. Not remembered.
    pub fn count_text(&self, text: &str) -> u32 {
        self.counter.count(text)
    }
}

impl TokenCounter for Cached {
    fn count(&self, text: &str) -> u32 {
        self.count_text(text)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    struct Counting(Arc<AtomicU32>);

    impl TokenCounter for Counting {
        fn count(&self, text: &str) -> u32 {
            self.0.fetch_add(1, Ordering::SeqCst);
            text.len() as u32
        }
    }

    #[test]
    fn a_content_is_counted_once() {
        let calls = Arc::new(AtomicU32::new(0));
        let cached = Cached::new(Counting(Arc::clone(&calls)), 100);
        let key = Fingerprint::of(&[b"abc"]);
        assert_eq!(cached.known(&key), None);
        assert_eq!(cached.count(key, || "abc".into()), 3);
        assert_eq!(cached.count(key, || unreachable!()), 3);
        assert_eq!(calls.load(Ordering::SeqCst), 1);
    }
}
