//! The neutral vocabulary: what a conversation is made of, what may be changed in it, and what is remembered of
//! that. Owns: items, transcripts, fingerprints, edits, the ledger, usage figures, the clock.
//! Does not own: how any of it is written on a wire (`wire`), how large it is (`tokens`), what to do about it
//! (`prune`), or where it is kept (`session`). Imports no other room.

mod clock;
mod edit;
mod fingerprint;
mod item;
mod ledger;
#[cfg(test)]
pub(crate) mod testing;
mod transcript;
mod usage;

pub use clock::{Clock, ManualClock, SystemClock};
pub use edit::{Edit, EditSet, Fold, FoldedRange, Strength};
pub use fingerprint::{ByFingerprint, Fingerprint};
pub use item::{Item, ItemKind, Part, PartKind, Parts, Role, Span, ToolCall, ToolResult};
pub use ledger::Ledger;
pub use transcript::Transcript;
pub use usage::Usage;
