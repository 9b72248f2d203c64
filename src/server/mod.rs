//! The HTTP door. Owns: the two listeners and their routes, the order of layers, reading bodies within limits, how a
//! request is relayed and its answer handed on, our few errors in the API's own shape, what is logged and counted.
//! Does not own: what is decided about a request (`pipeline`), or how upstreams are reached (`upstream`).

mod admin;
mod answer;
mod body;
mod converse;
mod door;
mod layers;
mod learn;
mod pass;
mod refusal;
mod relay;
mod report;
mod router;
mod serve;
mod settings;

pub use axum::Router;
pub use door::Door;
pub use router::{admin_router, proxy_router};
pub use serve::{Bound, ServeError, shutdown_signal};
pub use settings::{Settings, SettingsError};
