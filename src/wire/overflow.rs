/// The provider says that the request is larger than the model's window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overflow {
    /// Tokens of the request, if told.
    pub asked: Option<u64>,
    /// The window in tokens, if told.
    pub limit: Option<u64>,
}

/// Whether an answer says that the request is too large for the model.
pub fn read_overflow(_status: u16, _body: &[u8]) -> Option<Overflow> {
    None
}
