//! What is remembered between requests. Owns: how a session's key is derived, what a session holds, and the stores
//! behind one trait. Does not own: what is decided from it (`prune`), or when (`pipeline`).
//!
//! To add a store: a file here with a type that implements [`SessionStore`], and a line in the contract test.

mod anchor;
#[cfg(test)]
mod contract;
mod key;
mod memory;
mod settings;
mod state;
mod store;

pub use anchor::{Anchor, Anchors};
pub use key::{Hints, SessionKey};
pub use memory::MemoryStore;
pub use settings::Settings;
pub use state::{Ratio, Session, Thinking};
pub use store::{Saved, SessionStore, StoreError, StoreStats};
