use std::process::ExitCode;

use super::arguments::Settings;
use super::terminal::{complain, say};
use crate::config::load;

/// Prints the configuration in force, and what the user should know about it.
pub(super) fn run(settings: Settings) -> anyhow::Result<ExitCode> {
    let loaded = load(&settings.sources())?;
    say(loaded.to_toml());
    for warning in &loaded.warnings {
        complain(format_args!("warning: {warning}\n"));
    }
    if let Err(error) = loaded.ready_to_serve() {
        for missing in &error.problems {
            complain(format_args!("note: {missing}\n"));
        }
    }
    Ok(ExitCode::SUCCESS)
}
