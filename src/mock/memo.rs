use std::sync::Arc;

use quick_cache::sync::Cache;
use serde_json::Value;
use serde_json::value::RawValue;

use super::error::Refusal;
use crate::model::Fingerprint;

/// Pieces of requests remembered; an agent's ten longest conversations, with some 200 bytes each.
const REMEMBERED: usize = 50_000;

/// What is known of pieces of requests, by their bytes: a client sends its whole history every time, and each piece is
/// checked and counted once.
pub(super) struct Memo<T>(Cache<Fingerprint, Arc<T>>);

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Self(Cache::new(REMEMBERED))
    }
}

impl<T> Memo<T> {
    /// What is known of a piece, which stands at `place`; otherwise what `read` finds in it, given its fingerprint.
    pub(super) fn get(
        &self,
        raw: &RawValue,
        place: impl FnOnce() -> String,
        read: impl FnOnce(&Value, &str, Fingerprint) -> Result<T, Refusal>,
    ) -> Result<Arc<T>, Refusal> {
        let print = Fingerprint::of(&[raw.get().as_bytes()]);
        if let Some(known) = self.0.get(&print) {
            return Ok(known);
        }
        let place = place();
        let value = serde_json::from_str(raw.get()).map_err(|error| {
            Refusal::invalid(&*place, format!("`{place}` is not valid JSON at its byte {}.", error.column()))
        })?;
        let known = Arc::new(read(&value, &place, print)?);
        self.0.insert(print, Arc::clone(&known));
        Ok(known)
    }
}
