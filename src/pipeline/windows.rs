use quick_cache::sync::Cache;

/// Windows that were learnt: from what an upstream says of its models, and from refusals.
pub(super) struct Windows(Cache<(String, String), u64>);

/// Most models remembered.
const MOST: usize = 4_096;
/// Smaller and larger windows are not believed, in tokens.
const BELIEVED: std::ops::RangeInclusive<u64> = 512..=20_000_000;

impl Windows {
    pub(super) fn new() -> Self {
        Self(Cache::new(MOST))
    }

    /// Remembers the window of a model behind an upstream.
    pub(super) fn learn(&self, upstream: &str, model: &str, tokens: u64) {
        if BELIEVED.contains(&tokens) && !model.is_empty() {
            self.0.insert((upstream.to_owned(), model.to_owned()), tokens);
        }
    }

    /// The window of a model behind an upstream.
    pub(super) fn of(&self, upstream: &str, model: &str) -> Option<u64> {
        self.0.get(&(upstream.to_owned(), model.to_owned()))
    }
}
