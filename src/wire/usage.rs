use crate::model::Usage;

/// What the documents of one answer say of usage, all taken together: the whole answer is one, or the data of each
/// event is.
pub trait UsageFigures: Send {
    /// Takes the next document in. One that is no JSON says nothing, and neither do unknown members.
    fn read(&mut self, document: &[u8]);

    /// What is known so far.
    fn usage(&self) -> Usage;
}

/// Figures that each document gives whole: the last one that is known counts.
pub(super) struct Whole {
    read: fn(&[u8]) -> Usage,
    usage: Usage,
}

impl Whole {
    /// By what reads one document.
    pub(super) fn new(read: fn(&[u8]) -> Usage) -> Self {
        Self { read, usage: Usage::default() }
    }
}

impl UsageFigures for Whole {
    fn read(&mut self, document: &[u8]) {
        self.usage.merge((self.read)(document));
    }

    fn usage(&self) -> Usage {
        self.usage
    }
}
