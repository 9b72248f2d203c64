//! The way to the providers. Owns: which upstream a path belongs to and the exact target sent there, which headers
//! go on and which end here, the one HTTP client with its time limits, and what can go wrong between it and a
//! provider. Does not own: what is sent (`pipeline`), or how a failure is told to the client (`server`).

mod answer;
mod body;
mod client;
mod error;
mod headers;
mod settings;
mod target;
mod tls;

pub use answer::AnswerBody;
pub use body::RequestBody;
pub use client::Upstream;
pub use error::{BoxError, UpstreamError};
pub use headers::{AsSent, answer_headers, request_headers};
pub use settings::{NamedUpstream, Settings, SettingsError, UrlError};
pub use target::{Target, TargetError, Targets};
