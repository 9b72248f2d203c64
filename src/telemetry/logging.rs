use std::io::{self, IsTerminal as _};

use serde::{Deserialize, Serialize};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// How the log is written: the `[log]` table. It goes to standard error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogSettings {
    /// How much: `off`, `error`, `warn`, `info`, `debug` or `trace`; or a filter expression such as
    /// `info,secateur::server=debug`. A level alone concerns Secateur; other parts then tell warnings only.
    pub level: String,
    /// Lines for people, or one JSON object a line.
    pub format: Format,
}

/// How a log line is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// Why the log cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// Neither a level nor a filter expression.
    #[error(
        "`log.level`: \"{level}\" is neither a level (off, error, warn, info, debug, trace) nor a filter such as \
         \"info,secateur::server=debug\""
    )]
    Level {
        /// The value as configured.
        level: String,
        /// What the parser says.
        #[source]
        source: tracing_subscriber::filter::ParseError,
    },
    /// Something else in this process writes the log already.
    #[error("the log is already set up")]
    Twice(#[from] tracing_subscriber::util::TryInitError),
}

const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

impl Default for LogSettings {
    fn default() -> Self {
        Self { level: "info".to_owned(), format: Format::Text }
    }
}

impl LogSettings {
    /// Whether the level can be used.
    ///
    /// # Errors
    /// When it is neither a level nor a filter expression.
    pub fn check(&self) -> Result<(), LogError> {
        self.filter().map(drop)
    }

    /// A level alone must not reach into the HTTP libraries: at `trace` they print what goes over the wire.
    fn filter(&self) -> Result<EnvFilter, LogError> {
        let level = self.level.trim().to_ascii_lowercase();
        let directives = match LEVELS.iter().position(|known| *known == level) {
            Some(0) => "off".to_owned(),
            Some(1) => "error".to_owned(),
            Some(_) => format!("warn,secateur={level}"),
            None => self.level.clone(),
        };
        EnvFilter::builder()
            .parse(directives)
            .map_err(|source| LogError::Level { level: self.level.clone(), source })
    }
}

/// Starts the log of this process. Panics are told there by their place alone: their words may quote a request.
///
/// # Errors
/// When the level cannot be read, or the log was started before.
pub fn init(settings: &LogSettings) -> Result<(), LogError> {
    let registry = tracing_subscriber::registry().with(settings.filter()?);
    let is_terminal = io::stderr().is_terminal();
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr).with_ansi(is_terminal);
    match settings.format {
        Format::Text => registry.with(lines.with_target(false)).try_init()?,
        Format::Json => registry.with(lines.json().flatten_event(true)).try_init()?,
    }
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        tracing::error!(place, "a bug: the program panicked");
    }));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(level: &str) -> Result<String, String> {
        let settings = LogSettings { level: level.to_owned(), format: Format::Text };
        settings.filter().map(|filter| filter.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_level_alone_keeps_the_libraries_quiet() {
        for level in ["warn", "info", "debug", "TRACE"] {
            let directives = filter(level).unwrap();
            let mut parts: Vec<_> = directives.split(',').collect();
            parts.sort_unstable();
            assert_eq!(parts, [&format!("secateur={}", level.to_lowercase()), "warn"]);
        }
        assert_eq!(filter("off").unwrap(), "off");
    }

    #[test]
    fn an_expression_is_taken_as_it_is_and_a_mistake_is_named() {
        assert_eq!(filter("hyper=trace").unwrap(), "hyper=trace");
        assert!(filter("secateur=loud").unwrap_err().contains("\"secateur=loud\""));
        assert!(filter("").is_ok());
    }
}
