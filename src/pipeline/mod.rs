//! One request's story, without HTTP: decode, find the session, plan, splice; recover when the provider says the
//! request is too large; absorb the usage at the end. Owns: the order of these steps, the receipt, and that every
//! failure ends in a named bypass. Does not own: sockets and status codes (`server`), or any single step.

mod commit;
mod debug;
mod learnt;
mod outcome;
#[expect(clippy::module_inception, reason = "the room is named after its one central type")]
mod pipeline;
mod policy;
mod prepare;
mod reading;
mod recover;
mod request;
mod settings;
mod settle;
#[cfg(test)]
mod tests;
mod thinking;
mod view;

pub use outcome::{Bypass, Cause, Outcome, Quiet, Receipt, Recovery};
pub use pipeline::Pipeline;
pub use policy::PolicyError;
pub use request::{HeaderLookup, Inbound, Prepared, Settled, Turn, UsageUpdate};
pub use settings::{DebugSettings, Mode, Settings};
pub use view::SessionView;
