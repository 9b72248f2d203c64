//! Secateur from outside: real sockets, one binary, one file per behaviour.

mod admin;
mod arbitrary;
mod architecture;
mod chain;
mod cli;
mod codings;
mod config;
mod config_errors;
mod debug_io;
mod failing;
mod fidelity;
mod framing;
mod modes;
mod passing;
mod recovery;
mod replay;
mod scope;
mod sessions;
mod shapes;
mod shutdown;
mod sticky;
mod streams;
mod support;
mod trimming;
mod usage;
mod windows;
