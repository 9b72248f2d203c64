use super::Settings;

/// The share of a window up to which a request is safe.
const SAFE_SHARE: f64 = 0.95;
/// The share of a window that a prune goes down to once the window was at risk: far enough that the next turns fit
/// without another one, which would cost the provider's prefix cache each time.
const SHARE_AFTER_RISK: f64 = 0.8;
/// The least share of a window that is a goal, however large the answer's limit.
const LEAST_SHARE: f64 = 0.25;
/// What a threshold given as a share of the window means while the window is unknown, in tokens.
const ASSUMED_WINDOW: u64 = 128_000;

/// What the gate is told about a request. Sizes in real tokens.
#[derive(Debug, Clone, Copy, Default)]
pub struct Figures {
    /// Size of the request as it would be sent with nothing but earlier edits.
    pub size: u64,
    /// Whether the size rests on a figure of the provider's, or is an estimate altogether.
    pub measured: bool,
    /// Size after the conversation's last prune, and whether that was measured.
    pub baseline: Option<(u64, bool)>,
    /// The model's window, when known.
    pub window: Option<u64>,
    /// The request's own limit on the answer.
    pub output_limit: Option<u64>,
    /// How long the session was idle before this request, in milliseconds.
    pub idle_ms: u64,
}

/// What the gate demands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Demand {
    /// Nothing: the request is smaller than the threshold.
    BelowThreshold,
    /// Nothing: the conversation has not grown enough since its last prune.
    Cooldown,
    /// Prune down to `goal`.
    Prune {
        /// Real tokens to go down to.
        goal: u64,
    },
    /// The window is at risk: prune, and climb the ladder to its end if need be.
    AtRisk {
        /// Real tokens to go down to.
        goal: u64,
        /// Real tokens that must not be exceeded.
        limit: u64,
    },
}

/// Decides whether new pruning is due. Earlier edits are replayed whatever it says.
#[derive(Debug, Clone, Copy)]
pub struct Gate<'a>(pub &'a Settings);

impl Gate<'_> {
    /// Size from which a request is pruned, in tokens.
    pub fn threshold(&self, window: Option<u64>, idle_ms: u64) -> u64 {
        let configured = self.0.pruning_threshold;
        let tokens =
            if configured < 1.0 { configured * window.unwrap_or(ASSUMED_WINDOW) as f64 } else { configured }
                as u64;
        let is_cold = self.0.threshold_when_cold > 0 && idle_ms >= self.0.cache_lifetime_ms;
        if is_cold { tokens.min(self.0.threshold_when_cold) } else { tokens }
    }

    /// What is due.
    pub fn decide(&self, figures: &Figures) -> Demand {
        let threshold = self.threshold(figures.window, figures.idle_ms);
        let goal = (threshold as f64 * self.0.prune_to) as u64;
        if let Some(window) = figures.window {
            let limit = Self::room(window, SAFE_SHARE, figures.output_limit);
            if figures.size > limit {
                let after = Self::room(window, SHARE_AFTER_RISK, figures.output_limit);
                return Demand::AtRisk { goal: goal.min(after), limit: after };
            }
        }
        if figures.size < threshold {
            return Demand::BelowThreshold;
        }
        let grown = Self::rebase(figures)
            .is_none_or(|baseline| figures.size.saturating_sub(baseline) >= self.0.trigger_every_n_tokens);
        if grown { Demand::Prune { goal } } else { Demand::Cooldown }
    }

    /// Input tokens that fit in a share of a window beside the answer.
    pub fn room(window: u64, share: f64, output_limit: Option<u64>) -> u64 {
        let room = (window as f64 * share) as u64;
        let least = (window as f64 * LEAST_SHARE) as u64;
        room.saturating_sub(output_limit.unwrap_or(0)).max(least)
    }

    /// The size that growth is counted from: it moves to the present one when that has fallen below it, or when
    /// one of the two is measured and the other is not.
    pub fn rebase(figures: &Figures) -> Option<u64> {
        let (baseline, measured) = figures.baseline?;
        Some(if measured == figures.measured { baseline.min(figures.size) } else { figures.size })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decide(figures: Figures) -> Demand {
        Gate(&Settings::default()).decide(&figures)
    }

    #[test]
    fn a_request_below_the_threshold_is_left_alone() {
        assert_eq!(decide(Figures { size: 79_999, ..Figures::default() }), Demand::BelowThreshold);
        assert_eq!(decide(Figures { size: 80_000, ..Figures::default() }), Demand::Prune { goal: 48_000 });
    }

    #[test]
    fn after_a_prune_the_conversation_must_grow_first() {
        let at =
            |size| Figures { size, measured: true, baseline: Some((81_000, true)), ..Figures::default() };
        assert_eq!(decide(at(85_999)), Demand::Cooldown);
        assert_eq!(decide(at(86_000)), Demand::Prune { goal: 48_000 });
    }

    #[test]
    fn the_baseline_follows_a_fall_and_a_change_of_source() {
        let fallen = Figures { size: 80_500, baseline: Some((90_000, false)), ..Figures::default() };
        assert_eq!(Gate::rebase(&fallen), Some(80_500));
        let other_source =
            Figures { size: 95_000, measured: true, baseline: Some((80_000, false)), ..fallen };
        assert_eq!(Gate::rebase(&other_source), Some(95_000));
        assert_eq!(decide(other_source), Demand::Cooldown);
    }

    #[test]
    fn a_window_at_risk_overrides_threshold_and_cooldown() {
        let figures = Figures {
            size: 27_000,
            window: Some(32_000),
            output_limit: Some(4_000),
            baseline: Some((27_000, false)),
            ..Figures::default()
        };
        assert_eq!(decide(figures), Demand::AtRisk { goal: 21_600, limit: 21_600 });
        assert_eq!(decide(Figures { size: 26_000, ..figures }), Demand::BelowThreshold);
    }

    #[test]
    fn a_share_is_taken_of_the_window() {
        let settings = Settings { pruning_threshold: 0.5, ..Settings::default() };
        assert_eq!(Gate(&settings).threshold(Some(32_000), 0), 16_000);
        assert_eq!(Gate(&settings).threshold(None, 0), 64_000);
    }

    #[test]
    fn a_cold_cache_lowers_the_threshold_when_asked_to() {
        let settings = Settings { threshold_when_cold: 30_000, ..Settings::default() };
        assert_eq!(Gate(&settings).threshold(None, 3_600_000), 30_000);
        assert_eq!(Gate(&settings).threshold(None, 3_599_999), 80_000);
    }
}
