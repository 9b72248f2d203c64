/// A model's window, as a provider tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelWindow {
    /// The model's id.
    pub model: String,
    /// Its window in tokens.
    pub window: u64,
}

/// The windows that a `/models` answer tells; empty when it tells none.
pub fn read_windows(_body: &[u8]) -> Vec<ModelWindow> {
    Vec::new()
}
