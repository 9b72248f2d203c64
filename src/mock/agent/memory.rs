use std::collections::{BTreeMap, HashSet};

use super::output::Mention;
use super::random::Random;
use super::sizes;

/// Most things that one output leaves behind, and most that are kept in all.
const PER_OUTPUT: usize = 8;
const KEPT: usize = 3000;

/// What the agent has seen in outputs and not yet named in a call.
#[derive(Debug, Default)]
pub(super) struct Memory {
    seen: BTreeMap<String, (Mention, f64)>,
    named: HashSet<String>,
}

impl Memory {
    /// Takes over some of an output's mentions; `now` is the conversation's size in tokens.
    pub(super) fn absorb(&mut self, mut mentions: Vec<Mention>, now: f64, random: &mut Random) {
        for mention in &mentions {
            if let Some((_, at)) = self.seen.get_mut(&mention.text) {
                *at = now;
            }
        }
        for _ in 0..PER_OUTPUT.min(mentions.len()) {
            let mention = mentions.swap_remove(random.below(mentions.len()));
            if !self.named.contains(&mention.text) {
                self.seen.insert(mention.text.clone(), (mention, now));
            }
        }
        if self.seen.len() > KEPT {
            let oldest =
                self.seen.iter().min_by(|a, b| a.1.1.total_cmp(&b.1.1)).map(|(text, _)| text.clone());
            self.seen.remove(&oldest.unwrap_or_default());
        }
    }

    /// Says that a call names a text by other means than from an output.
    pub(super) fn name(&mut self, text: &str) {
        self.seen.remove(text);
        self.named.insert(text.to_owned());
    }

    /// Something seen about as far back as agents look back; it counts as named from now on.
    pub(super) fn recall(&mut self, now: f64, random: &mut Random) -> Option<Mention> {
        let wanted = now - sizes::draw(sizes::DISTANCE, random);
        // In a young conversation everything is near: any place in it will do.
        let wanted = if wanted < 0.0 { now * random.unit() } else { wanted };
        let off = |at: f64| (at - wanted).abs();
        let nearest = self.seen.values().min_by(|a, b| off(a.1).total_cmp(&off(b.1)))?;
        let mention = nearest.0.clone();
        self.name(&mention.text);
        Some(mention)
    }
}
