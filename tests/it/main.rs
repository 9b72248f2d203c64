//! Secateur from outside: real sockets, one binary, one file per behaviour.

mod admin;
mod failing;
mod passing;
mod shutdown;
mod support;
