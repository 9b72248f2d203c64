//! Secateur from outside: real sockets, one binary, one file per behaviour.

mod admin;
mod architecture;
mod chain;
mod cli;
mod config;
mod config_errors;
mod failing;
mod passing;
mod replay;
mod scope;
mod shutdown;
mod sticky;
mod support;
