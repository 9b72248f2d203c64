/// Bytes a token in texts of several kinds, as the tokeniser counts the ones made here.
pub(super) const TEXT: f64 = 4.5;
pub(super) const CODE: f64 = 3.5;
pub(super) const LOG: f64 = 2.9;
pub(super) const JSON: f64 = 2.6;
pub(super) const TESTS: f64 = 3.9;
pub(super) const PATHS: f64 = 3.8;
pub(super) const HASHES: f64 = 2.6;
pub(super) const CHINESE: f64 = 3.9;
pub(super) const BLOB: f64 = 1.5;

/// What kind of thing a later call may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Path,
    Commit,
    Record,
    Url,
    Trace,
    Test,
}

/// Something in an output that a later call may name.
#[derive(Debug, Clone)]
pub(super) struct Mention {
    pub(super) kind: Kind,
    pub(super) text: String,
    /// The line of a file that is meant, from 1; 0 for none.
    pub(super) line: usize,
}

/// An output of a tool while it is written, up to a budget.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) text: String,
    pub(super) mentions: Vec<Mention>,
    budget: usize,
    bytes_per_token: f64,
}

impl Output {
    /// An output of about `tokens`, in a text that has so many bytes a token.
    pub(super) fn new(tokens: f64, bytes_per_token: f64) -> Self {
        let budget = (tokens * bytes_per_token) as usize;
        Self { text: String::new(), mentions: Vec::new(), budget, bytes_per_token }
    }

    /// A short output without a budget.
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::new(0.0, TEXT) }
    }

    /// About how many tokens it has.
    pub(super) fn tokens(&self) -> f64 {
        self.text.len() as f64 / self.bytes_per_token
    }

    /// Whether the budget is used up.
    pub(super) fn is_full(&self) -> bool {
        self.text.len() + 20 >= self.budget
    }

    /// Bytes left.
    pub(super) fn left(&self) -> usize {
        self.budget.saturating_sub(self.text.len())
    }

    /// Adds a line.
    pub(super) fn line(&mut self, line: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(line);
    }

    /// Says that the text holds something that a later call may name.
    pub(super) fn mention(&mut self, kind: Kind, text: &str, line: usize) {
        self.mentions.push(Mention { kind, text: text.to_owned(), line });
    }
}
