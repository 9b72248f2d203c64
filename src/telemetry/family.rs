use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{PoisonError, RwLock};

/// The metrics of one name, by their labels: each is registered once, and found again without allocating.
pub(super) struct Family<K, M>(RwLock<HashMap<K, M>>);

impl<K: Eq + Hash, M: Clone> Family<K, M> {
    pub(super) fn new() -> Self {
        Self(RwLock::new(HashMap::new()))
    }

    /// The metric of these labels, made by `make` when it is not there yet.
    pub(super) fn get<Q>(&self, labels: &Q, make: impl FnOnce() -> (K, M)) -> M
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        if let Some(known) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(labels) {
            return known.clone();
        }
        let (labels, metric) = make();
        self.0.write().unwrap_or_else(PoisonError::into_inner).entry(labels).or_insert(metric).clone()
    }

    /// How many there are, and whether these labels are among them.
    pub(super) fn holds<Q>(&self, labels: &Q) -> (usize, bool)
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        (all.len(), all.contains_key(labels))
    }
}
