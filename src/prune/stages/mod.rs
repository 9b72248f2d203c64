//! The stages, one a file. Each reads a draft and makes proposals; none decides, none changes anything.
//!
//! To add one: a file here with a type that implements [`Stage`](super::Stage), and a line where the ladder lists it.

mod conclusion;
mod cut;
mod detail;
mod fold;
mod hard;
mod placeholder;
mod soft;
mod superseded;
mod target;
mod tighten;

pub use detail::Detail;
pub use fold::FoldBlocks;
pub use hard::Hard;
pub use soft::Soft;
pub use superseded::Superseded;
pub use tighten::Tighten;
