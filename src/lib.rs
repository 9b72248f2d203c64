//! Secateur: a sidecar HTTP proxy in front of LLM APIs that prunes old tool output, so that an agent never meets a
//! full context window.
//!
//! The code is a house of rooms, one folder each; a folder's head says what the room owns and what it does not. From
//! the bottom up, and an import may only point down (`tests/it/architecture.rs` holds the table):
//!
//! - [`model`]: the neutral vocabulary: transcript, item, edit, ledger, usage, clock
//! - [`wire`]: bytes to model and back, one folder a wire format; event streams, content codings, refusals
//! - [`tokens`]: how large a text is
//! - [`prune`]: which edits: gate, zones, stages, ladder, guard; pure
//! - [`session`]: what is remembered between requests, and the stores behind one trait
//! - [`tap`]: the body wrapper that forwards an answer and reads its usage on the way
//! - [`upstream`]: targets, headers, the one HTTP client
//! - [`pipeline`]: one request's story without HTTP: prepare, recover, settle
//! - [`telemetry`]: log set-up, and every metric's name, unit and labels
//! - [`server`]: the HTTP door: relay, layers, admin, the end of the program
//! - [`mock`]: an upstream without a model, and a generator of agent conversations
//! - [`config`]: every room's settings gathered; their mistakes as product text
//! - [`app`]: settings become one running proxy
//! - [`cli`]: the commands

pub mod app;
pub mod cli;
pub mod config;
pub mod mock;
pub mod model;
pub mod pipeline;
pub mod prune;
pub mod server;
pub mod session;
pub mod tap;
pub mod telemetry;
pub mod tokens;
pub mod upstream;
pub mod wire;
