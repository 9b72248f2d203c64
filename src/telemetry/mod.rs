//! What is told about the running program. Owns: how logs are set up, and every metric's name, unit and labels.
//! Does not own: when something is counted or logged (`server`), or where metrics are read (`server::admin`).

mod family;
mod logging;
mod metrics;
mod names;

pub use logging::{Format, LogError, LogSettings, init};
pub use metrics::{Answer, Metrics, NO_FORMAT, Request, Sessions};
