/// How far a plan is to go. Sizes are real tokens, as a provider counts; savings are estimated ones, and `ratio`
/// turns one into the other.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// Size of the request before any of the plan's own savings.
    pub size: u64,
    /// Size to go down to.
    pub goal: u64,
    /// Real tokens per estimated token.
    pub ratio: f64,
}

impl Budget {
    /// Size of the request when `saved` estimated tokens are taken away.
    pub fn size_after(&self, saved: u64) -> u64 {
        self.size.saturating_sub((saved as f64 * self.ratio) as u64)
    }

    /// Whether `saved` estimated tokens are enough.
    pub fn is_met(&self, saved: u64) -> bool {
        self.size_after(saved) <= self.goal
    }

    /// Estimated tokens that must still go when `saved` are taken away already.
    pub fn missing(&self, saved: u64) -> u64 {
        (self.size_after(saved).saturating_sub(self.goal) as f64 / self.ratio).ceil() as u64
    }
}
