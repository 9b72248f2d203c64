//! Secateur from outside: real sockets, one binary, one file per behaviour.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod admin;
mod arbitrary;
mod architecture;
mod bound;
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
mod secrecy;
mod sessions;
mod shapes;
mod shutdown;
mod sticky;
mod streams;
mod support;
mod terminating;
mod trimming;
mod trying;
mod usage;
mod windows;
