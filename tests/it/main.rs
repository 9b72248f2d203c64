//! Secateur from outside: real sockets, one binary, one file per behaviour.

mod admin;
mod architecture;
mod cli;
mod config;
mod config_errors;
mod failing;
mod passing;
mod replay;
mod shutdown;
mod support;
mod trying;
