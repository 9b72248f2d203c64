use crate::model::Span;

/// Where the messages stand in the original bytes.
#[derive(Debug, Clone, Default)]
pub struct Envelope {
    /// The span of each wire message.
    pub messages: Vec<Span>,
}
