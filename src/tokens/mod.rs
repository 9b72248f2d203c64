//! How large a text is. Owns: the tokeniser, its cache by content, and the bounds that make counting needless. Does
//! not own: what a request really took (that is the provider's usage), or how estimates are calibrated (`session`).

mod cached;
mod tiktoken;

pub use cached::Cached;
pub use tiktoken::Tiktoken;

/// Counts the tokens of a text.
pub trait TokenCounter: Send + Sync {
    /// Tokens of `text`: exact for ordinary text, close for text without any break. Never more than its bytes.
    fn count(&self, text: &str) -> u32;
}
