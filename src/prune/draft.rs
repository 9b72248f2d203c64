use std::cell::OnceCell;

use super::references::References;
use super::{Protection, Rules, Settings, Sizes, ZoneOrigin};
use crate::model::{EditSet, Item, Transcript};

/// The transcript as it would look under the plan so far. Stages read it; only the planner writes it.
pub struct Draft<'a> {
    /// What the client sent.
    pub transcript: &'a Transcript,
    /// How large its items are, unpruned.
    pub sizes: &'a Sizes,
    /// What may be done to it.
    pub settings: &'a Settings,
    /// Why each item may not be touched.
    pub protection: Vec<Option<Protection>>,
    /// What is changed so far.
    pub edits: EditSet,
    ages: Vec<f64>,
    total: f64,
    references: OnceCell<References>,
}

impl<'a> Draft<'a> {
    /// A draft with `edits` replayed. Ages are those of the list as it is sent under these edits, and stay.
    pub fn new(
        transcript: &'a Transcript,
        sizes: &'a Sizes,
        rules: &Rules,
        settings: &'a Settings,
        edits: EditSet,
    ) -> Self {
        let protection = Protection::of_all(transcript, sizes, rules, settings);
        let mut draft = Self {
            transcript,
            sizes,
            settings,
            protection,
            edits,
            ages: Vec::new(),
            total: 0.0,
            references: OnceCell::new(),
        };
        draft.measure_ages();
        draft
    }

    /// Protects the first `items` items, whatever they are.
    pub fn freeze(&mut self, items: usize) {
        self.protection.iter_mut().take(items).for_each(|protection| *protection = Some(Protection::Signed));
    }

    fn measure_ages(&mut self) {
        let tokens: Vec<f64> = (0..self.items().len()).map(|i| f64::from(self.tokens(i))).collect();
        self.total = tokens.iter().sum();
        let mut before = 0.0;
        let mut middles = Vec::with_capacity(tokens.len());
        for own in tokens {
            middles.push(before + own / 2.0);
            before += own;
        }
        let from_end = |middle: f64| self.total - middle;
        self.ages = match self.settings.zone_origin {
            ZoneOrigin::Newest => middles.into_iter().map(from_end).collect(),
            ZoneOrigin::Oldest => middles,
        };
    }

    /// The items.
    pub fn items(&self) -> &'a [Item] {
        &self.transcript.items
    }

    /// Tokens of the item at `index` as it would be sent. A fold counts with its first item.
    pub fn tokens(&self, index: usize) -> u32 {
        self.sizes.under(&self.edits, index)
    }

    /// Whether the item at `index` is old enough for a stage that starts at `start`: below 1 a share of all message
    /// tokens, from 1 on a distance in tokens.
    pub fn is_older(&self, index: usize, start: f64) -> bool {
        let age = self.ages[index];
        if start < 1.0 { age >= start * self.total } else { age >= start }
    }

    /// What later messages refer to. Built at the first use: most requests never need it.
    pub fn references(&self) -> &References {
        self.references.get_or_init(|| References::of(self.transcript))
    }
}
