/// Why reading an event stream stopped.
#[derive(Debug, thiserror::Error)]
pub enum SseError {
    /// An event is larger than the bound.
    #[error("an event is too large")]
    TooLarge,
}

/// Cuts an event stream into events.
#[derive(Debug, Default)]
pub struct EventReader {}
