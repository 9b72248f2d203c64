use quick_cache::sync::Cache;

use crate::session::Thinking;

/// What was learnt of models behind upstreams, for all sessions: windows, from what an upstream says of its models and
/// from refusals; and what becomes of signed thinking behind an edit.
pub(super) struct Learnt {
    windows: Cache<Model, u64>,
    thinking: Cache<Model, Thinking>,
}

/// An upstream, and a model behind it.
type Model = (String, String);

/// Most models remembered.
const MOST: usize = 4_096;
/// Smaller and larger windows are not believed, in tokens.
const BELIEVED: std::ops::RangeInclusive<u64> = 512..=20_000_000;

impl Learnt {
    pub(super) fn new() -> Self {
        Self { windows: Cache::new(MOST), thinking: Cache::new(MOST) }
    }

    /// Remembers the window of a model behind an upstream, in tokens.
    pub(super) fn window_is(&self, upstream: &str, model: &str, tokens: u64) {
        if BELIEVED.contains(&tokens) && !model.is_empty() {
            self.windows.insert((upstream.to_owned(), model.to_owned()), tokens);
        }
    }

    /// The window of a model behind an upstream, in tokens.
    pub(super) fn window(&self, upstream: &str, model: &str) -> Option<u64> {
        self.windows.get(&(upstream.to_owned(), model.to_owned()))
    }

    /// Remembers what a model behind an upstream makes of signed thinking behind an edit.
    pub(super) fn thinking_is(&self, upstream: &str, model: &str, thinking: Thinking) {
        self.thinking.insert((upstream.to_owned(), model.to_owned()), thinking);
    }

    /// What a model behind an upstream makes of signed thinking behind an edit.
    pub(super) fn thinking(&self, upstream: &str, model: &str) -> Option<Thinking> {
        self.thinking.get(&(upstream.to_owned(), model.to_owned()))
    }
}
