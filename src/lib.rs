//! Secateur: a sidecar HTTP proxy in front of LLM APIs that prunes old tool output, so that an agent never meets a
//! full context window.

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
