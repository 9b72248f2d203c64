/// Where sessions are kept.
pub trait SessionStore: Send + Sync {}
