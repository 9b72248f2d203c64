//! The integration tests, in one binary.

mod config;
mod config_errors;
