//! The command line. Owns: commands, flags, what is printed, exit codes. Does not own: what a command does beyond
//! calling down; settings are `config`'s, serving is `app`'s.

mod arguments;
mod check;
mod demo;
mod health;
mod mock;
mod serve;
mod terminal;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command};
use terminal::{complain, say};

use crate::config::ConfigError;

/// Wrong usage, as in `sysexits.h`.
const USAGE: u8 = 64;
/// A configuration that cannot be used.
const CONFIG: u8 = 78;

/// Runs the command that this process was started with, and returns its exit code: 0, 64 for wrong usage, 78 for a
/// configuration that cannot be used, 1 for everything else.
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() => {
            complain(error.render());
            return ExitCode::from(USAGE);
        }
        // help and version
        Err(text) => {
            say(text.render());
            return ExitCode::SUCCESS;
        }
    };
    let done = match arguments.command {
        Some(Command::Check(settings)) => check::run(settings),
        Some(Command::Health(health)) => Ok(health::run(&health)),
        Some(Command::Serve(settings)) => serve::run(settings),
        Some(Command::Mock(mock)) => mock::run(&mock),
        Some(Command::Demo(demo)) => demo::run(&demo),
        None => serve::run(arguments.settings),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            let code = if error.is::<ConfigError>() { CONFIG } else { 1 };
            complain(format_args!("secateur: {error:#}"));
            ExitCode::from(code)
        }
    }
}
