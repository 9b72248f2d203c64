use std::collections::BTreeMap;
use std::sync::Arc;

use super::Script;
use crate::model::{Clock, SystemClock};

/// How a mock upstream behaves.
#[derive(Clone)]
pub struct MockOptions {
    /// Window, in tokens, of every model that `models` does not name. Any name is answered to.
    pub window: u64,
    /// The models that are listed, with their windows in tokens.
    pub models: BTreeMap<String, u64>,
    /// What to do with which request.
    pub script: Script,
    /// Milliseconds between the chunks of a stream, where the script says nothing else.
    pub chunk_delay_ms: u64,
    /// Whether signed thinking is refused when something else stands in front of it than when it was thought, where
    /// the script says nothing else.
    pub bind_thinking: bool,
    /// Where the time stamps of answers come from.
    pub clock: Arc<dyn Clock>,
}

impl Default for MockOptions {
    fn default() -> Self {
        let models = [("mock", 128_000), ("mock-small", 16_000), ("mock-large", 1_000_000)];
        Self {
            window: 128_000,
            models: models.map(|(name, window)| (name.to_owned(), window)).into(),
            script: Script::default(),
            chunk_delay_ms: 0,
            bind_thinking: false,
            clock: Arc::new(SystemClock),
        }
    }
}

impl MockOptions {
    /// The window of a model, in tokens.
    pub fn window_of(&self, model: &str) -> u64 {
        self.models.get(model).copied().unwrap_or(self.window)
    }
}
