use serde::{Deserialize, Serialize};

/// What the provider says a request was worth, in tokens. A member is `None` while it is unknown: absent, null and
/// 0 are all "unknown" for the input, never zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Whole size of the input, cached tokens included.
    pub input: Option<u64>,
    /// The part of the input that was read from the provider's prefix cache.
    pub cache_read: Option<u64>,
    /// The part of the input that was written to the provider's prefix cache.
    pub cache_write: Option<u64>,
    /// Size of the answer, reasoning included.
    pub output: Option<u64>,
}

impl Usage {
    /// The largest input size that is believed; above it a figure is an outlier and dropped.
    pub const LARGEST: u64 = 2_000_000;

    /// Takes over every member that `later` knows. Never adds: a stream repeats its figures.
    pub fn merge(&mut self, later: Self) {
        let believed = |figure: &u64| (1..=Self::LARGEST).contains(figure);
        self.input = later.input.filter(believed).or(self.input);
        self.cache_read = later.cache_read.or(self.cache_read);
        self.cache_write = later.cache_write.or(self.cache_write);
        self.output = later.output.or(self.output);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_zero_or_outlier_does_not_overwrite() {
        let mut usage = Usage { input: Some(500), ..Usage::default() };
        usage.merge(Usage { input: Some(0), output: Some(7), ..Usage::default() });
        usage.merge(Usage { input: Some(2_000_001), ..Usage::default() });
        assert_eq!(usage, Usage { input: Some(500), output: Some(7), ..Usage::default() });
    }
}
