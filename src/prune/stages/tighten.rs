use super::soft;
use crate::model::Strength;
use crate::prune::{Draft, Proposal, SoftTrim, Stage};

/// Trims outputs to a level in tokens, far below what the configuration asks for: for when the window would
/// overflow otherwise. An output that was trimmed before is trimmed harder.
pub struct Tighten {
    /// Tokens that an output may have left.
    pub level: u32,
}

/// A part of the level is left for what the tokeniser makes of the cut ends.
const MARGIN: f64 = 0.9;

impl Tighten {
    /// The level that takes `excess` tokens away from outputs of these sizes, largest first; never below `least`.
    pub fn level_for(sizes: &[u32], excess: u64, least: u32) -> Self {
        let over = |level: u32| sizes.iter().map(|s| u64::from(s.saturating_sub(level))).sum::<u64>();
        let (mut low, mut high) = (least, sizes.iter().copied().max().unwrap_or(least).max(least));
        while low < high {
            let level = low + (high - low).div_ceil(2);
            if over(level) >= excess { low = level } else { high = level - 1 }
        }
        Self { level: low }
    }
}

impl Stage for Tighten {
    fn name(&self) -> &'static str {
        "tighten"
    }

    fn strength(&self) -> Strength {
        Strength::Soft
    }

    fn propose(&self, draft: &Draft<'_>, among: &[usize]) -> Vec<Proposal> {
        let tightened = |&index: &usize| {
            if draft.tokens(index) <= self.level {
                return None;
            }
            let strength = draft.edits.get(index).map_or(Strength::Soft, |_| Strength::Hard);
            let text = draft.transcript.text(index);
            let share = f64::from(self.level) / f64::from(draft.sizes.of(index).max(1)) * MARGIN;
            let max_chars = (text.chars().count() as f64 * share) as usize;
            let limits = SoftTrim { max_chars, head_chars: max_chars * 2 / 5, tail_chars: max_chars * 2 / 5 };
            let text = soft::trim(&text, &limits, |line| {
                draft.references().later(line, index).map(str::to_owned).collect()
            })?;
            Some(Proposal::Replace { index, text, strength })
        };
        among.iter().filter_map(tightened).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_level_takes_from_the_largest_first() {
        assert_eq!(Tighten::level_for(&[100, 1_000, 5_000], 4_000, 10).level, 1_000);
        assert_eq!(Tighten::level_for(&[1_000, 1_000, 1_000], 1_500, 10).level, 500);
        assert_eq!(Tighten::level_for(&[50], 1_000, 10).level, 10);
        assert_eq!(Tighten::level_for(&[], 10, 7).level, 7);
    }
}
