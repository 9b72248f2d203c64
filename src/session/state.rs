use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Anchors;
use crate::model::{Ledger, Usage};

/// What is remembered of one session. Cheap to clone: a saved session is never changed in place.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Counts the saves; a save is refused when somebody else saved in between.
    pub version: u64,
    /// The id that the client gave, cut to what can be shown.
    pub explicit_id: Option<String>,
    /// The model last asked for.
    pub model: String,
    /// The edits shown to the provider.
    pub ledger: Arc<Ledger>,
    /// The conversation states that were measured.
    pub anchors: Anchors,
    /// By model: real tokens per estimated token.
    pub ratios: BTreeMap<String, Ratio>,
    /// By model: what was learnt of signed thinking behind an edit.
    #[serde(default)]
    pub thinking: BTreeMap<String, Thinking>,
    /// The last figures of the main conversation.
    pub usage: Usage,
    /// The line that the figures belong to.
    pub main_line: Option<u64>,
    /// Lines begun.
    pub lines: u64,
    /// Requests settled.
    pub requests: u64,
    /// Prunes made.
    pub prunes: u64,
    /// Estimated tokens that edits took away, over all requests.
    pub saved_tokens: u64,
    /// When it was first used, in milliseconds since the Unix epoch.
    pub created_ms: u64,
    /// When it was last used, in milliseconds since the Unix epoch.
    pub last_seen_ms: u64,
}

impl Session {
    /// Longest explicit id that is kept for showing, in characters.
    pub const LONGEST_LABEL: usize = 128;
    /// Most models whose ratio is kept.
    const MOST_RATIOS: usize = 16;

    /// A session that begins now.
    pub fn begin(explicit_id: Option<&str>, now_ms: u64) -> Self {
        Self {
            explicit_id: explicit_id.map(|id| id.chars().take(Self::LONGEST_LABEL).collect()),
            created_ms: now_ms,
            last_seen_ms: now_ms,
            ..Self::default()
        }
    }

    /// Real tokens per estimated token of `model`.
    pub fn ratio(&self, model: &str) -> Ratio {
        self.ratios.get(model).copied().unwrap_or_default()
    }

    /// Learns from a real count that stands for an estimate.
    pub fn learn_ratio(&mut self, model: &str, real: u64, estimate: u64) {
        if estimate < Ratio::LEAST_ESTIMATE {
            return;
        }
        if !self.ratios.contains_key(model) && self.ratios.len() >= Self::MOST_RATIOS {
            self.ratios.pop_first();
        }
        self.ratios.entry(model.to_owned()).or_default().learn(real as f64 / estimate as f64);
    }

    /// Bytes it takes in memory, about.
    pub fn bytes(&self) -> usize {
        const EDIT: usize = 160;
        const ANCHOR: usize = 160;
        1_024 + self.ledger.text_bytes() + self.ledger.len() * EDIT + self.anchors.len() * ANCHOR
    }
}

/// What becomes of signed thinking behind an edit, with a model that refuses a conversation in which such a block no
/// longer fits what stands in front of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Thinking {
    /// It is left out, for good.
    LeftOut,
    /// It stays, and nothing in front of it is pruned.
    Kept,
}

/// Real tokens per estimated token: what a provider's tokeniser, its framing and hidden text make of an estimate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    value: f64,
    learnt: bool,
}

impl Ratio {
    /// Estimates below this are too small to learn from, in tokens.
    pub const LEAST_ESTIMATE: u64 = 200;
    /// Between these a ratio is believed: tokenisers differ by less, and the rest is not text.
    const BELIEVED: (f64, f64) = (0.5, 3.0);
    /// How much of a new figure is taken over.
    const WEIGHT: f64 = 0.5;

    /// Its value.
    pub fn value(self) -> f64 {
        self.value
    }

    fn learn(&mut self, figure: f64) {
        let figure = figure.clamp(Self::BELIEVED.0, Self::BELIEVED.1);
        self.value = if self.learnt { self.value + (figure - self.value) * Self::WEIGHT } else { figure };
        self.learnt = true;
    }
}

impl Default for Ratio {
    fn default() -> Self {
        Self { value: 1.0, learnt: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_takes_the_first_figure_and_then_follows() {
        let mut session = Session::begin(None, 0);
        session.learn_ratio("m", 1_200, 1_000);
        assert!((session.ratio("m").value() - 1.2).abs() < 1e-9);
        session.learn_ratio("m", 1_000, 1_000);
        assert!((session.ratio("m").value() - 1.1).abs() < 1e-9);
        session.learn_ratio("m", 60_000, 199);
        assert!((session.ratio("m").value() - 1.1).abs() < 1e-9);
        assert!((session.ratio("other").value() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_session_is_read_back_as_it_was_written() {
        let session = Session { requests: 3, ..Session::begin(Some("s1"), 7) };
        let text = serde_json::to_string(&session).unwrap();
        assert_eq!(serde_json::from_str::<Session>(&text).unwrap(), session);
    }
}
