//! The body wrapper: forwards frames unaltered, feeds a usage reader, reports exactly once. Does not own: what the
//! figures mean (`wire`), or what happens at the end (whoever hands in the report's receiver).

mod body;

pub use body::{Ended, Ending, TapBody, TapEnd};
