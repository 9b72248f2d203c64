use std::fmt::Display;
use std::io::Write as _;

/// Writes a line to standard output. A reader that has gone (`secateur check | head`) is no error.
pub(super) fn say(text: impl Display) {
    writeln!(std::io::stdout(), "{}", Trimmed(text)).ok();
}

/// Writes a line to standard error.
pub(super) fn complain(text: impl Display) {
    writeln!(std::io::stderr(), "{}", Trimmed(text)).ok();
}

/// A text without the line end that it may bring.
struct Trimmed<T>(T);

impl<T: Display> Display for Trimmed<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.to_string().trim_end_matches('\n'))
    }
}
