//! The `secateur` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    secateur::cli::main()
}
