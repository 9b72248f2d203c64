//! The integration tests, in one binary.

mod cli;
mod config;
mod config_errors;
