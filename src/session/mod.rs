//! What is remembered between requests. Owns: how a session's key is derived, what a session holds, and the stores
//! behind one trait. Does not own: what is decided from it (`prune`), or when (`pipeline`).

mod settings;
mod store;

pub use settings::Settings;
pub use store::SessionStore;
