use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::redact::mask;

/// A configuration file as it was read: what positions in it refer to.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    /// How messages call it: its path as given.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// Where a value, or a mistake, stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In a file.
    Text {
        /// The file.
        source: Arc<Source>,
        /// The bytes that the carets point at.
        span: Range<usize>,
    },
    /// Outside any text: the name of an environment variable, a flag or a file.
    Named(String),
    /// Nobody wrote it: a default.
    Default,
}

/// One mistake, or one thing to know, with its place and the remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where it stands.
    pub place: Place,
    /// What is wrong, with the name of the key.
    pub what: String,
    /// What was expected and what to do.
    pub notes: Vec<String>,
}

/// Everything that is wrong with a configuration; the text names each mistake with its place and the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", list(.problems))]
pub struct ConfigError {
    /// At least one; those in a file first, in its order.
    pub problems: Vec<Problem>,
}

impl ConfigError {
    /// An error of these problems, put in order.
    pub(super) fn new(mut problems: Vec<Problem>) -> Self {
        problems.sort_by_key(|problem| match &problem.place {
            Place::Text { span, .. } => (0, span.start),
            Place::Named(_) => (1, 0),
            Place::Default => (2, 0),
        });
        Self { problems }
    }
}

impl Place {
    /// The place in one line: `FILE:LINE`, a variable's or a flag's name; `None` for defaults.
    pub fn brief(&self) -> Option<String> {
        match self {
            Self::Text { source, span } => {
                Some(format!("{}:{}", source.name, Position::of(&source.text, span.start).line))
            }
            Self::Named(name) => Some(name.clone()),
            Self::Default => None,
        }
    }
}

impl Problem {
    /// A problem without notes.
    pub fn new(place: Place, what: impl Into<String>) -> Self {
        Self { place, what: what.into(), notes: Vec::new() }
    }

    /// The problem with one more note; an empty note is left out.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        let note = note.into();
        if !note.is_empty() {
            self.notes.push(note);
        }
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.what)?;
        let gutter = match &self.place {
            Place::Text { source, span } => excerpt(f, source, span)?,
            Place::Named(name) => {
                write!(f, "\n  --> {name}")?;
                2
            }
            Place::Default => 2,
        };
        for note in &self.notes {
            // A note of several lines (the error of a regular expression points into it) keeps its columns.
            let note = note.replace('\n', &format!("\n{:gutter$}   ", ""));
            write!(f, "\n{:gutter$} = {note}", "")?;
        }
        Ok(())
    }
}

/// The line that `span` begins in, with carets. Returns the width of the line's number.
fn excerpt(f: &mut fmt::Formatter<'_>, source: &Source, span: &Range<usize>) -> Result<usize, fmt::Error> {
    const WIDEST: usize = 100;
    let at = Position::of(&source.text, span.start);
    let line: Vec<char> = mask(at.text).replace('\t', " ").chars().collect();
    let carets = source.text.get(span.clone()).map_or(0, |t| t.lines().next().unwrap_or("").chars().count());
    // A whole configuration may stand in one line: show the neighbourhood only.
    let from = if line.len() > WIDEST { at.column.saturating_sub(WIDEST / 2) } else { 0 };
    let to = line.len().min(from + WIDEST);
    let shown: String = line[from.min(to)..to].iter().collect();
    let indent = at.column - 1 - from.min(at.column - 1);
    let carets = carets.clamp(1, (to + 1).saturating_sub(from + indent).max(1));
    let gutter = at.line.to_string().len().max(2);
    write!(f, "\n{:gutter$}--> {}:{}:{}", "", source.name, at.line, at.column)?;
    write!(f, "\n{:gutter$} |\n{:gutter$} | {}", "", at.line, shown.trim_end())?;
    write!(f, "\n{:gutter$} | {:indent$}{:^<carets$}", "", "", "")?;
    Ok(gutter)
}

/// A line of a text; line and column count from 1, the column in characters.
struct Position<'a> {
    line: usize,
    column: usize,
    text: &'a str,
}

impl<'a> Position<'a> {
    fn of(text: &'a str, offset: usize) -> Self {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let start = text[..offset].rfind('\n').map_or(0, |n| n + 1);
        let end = text[offset..].find('\n').map_or(text.len(), |n| offset + n);
        Self {
            line: text[..start].matches('\n').count() + 1,
            column: text[start..offset].chars().count() + 1,
            text: text[start..end].trim_end_matches('\r'),
        }
    }
}

fn list(problems: &[Problem]) -> String {
    let mut text = match problems.len() {
        1 => "the configuration has a problem".to_owned(),
        n => format!("the configuration has {n} problems"),
    };
    for problem in problems {
        text.push_str("\n\n");
        text.push_str(&problem.to_string());
    }
    text
}

/// A list of names in lines that a terminal can show.
pub(super) fn wrapped(title: &str, names: &[&str]) -> String {
    const WIDEST: usize = 96;
    let mut text = title.to_owned();
    let mut width = text.chars().count();
    for (n, name) in names.iter().enumerate() {
        let comma = if n + 1 < names.len() { "," } else { "" };
        let more = name.chars().count() + 1 + comma.len();
        if width + more > WIDEST {
            text.push_str("\n ");
            width = 1;
        }
        text.push(' ');
        text.push_str(name);
        text.push_str(comma);
        width += more;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, word: &str) -> Vec<String> {
        let start = text.find(word).unwrap();
        let source = Arc::new(Source { name: "f".to_owned(), text: text.to_owned() });
        let place = Place::Text { source, span: start..start + word.len() };
        Problem::new(place, "wrong").to_string().lines().map(str::to_owned).collect()
    }

    /// What the carets stand under.
    fn pointed_at(lines: &[String]) -> String {
        let [.., line, carets] = lines else { panic!("{lines:?}") };
        let skipped = carets.chars().take_while(|c| *c != '^').count();
        let width = carets.chars().filter(|c| *c == '^').count();
        line.chars().skip(skipped).take(width).collect()
    }

    #[test]
    fn carets_stand_under_the_word_wherever_it_is() {
        let long = format!("{{ {} \"täil\": 1 {} }}", "é, ".repeat(200), "x".repeat(300));
        for (text, word) in
            [("a = 1", "a"), ("\ta =\t1\r\nb", "1"), ("é = \"ö\" # x", "# x"), (&long, "täil")]
        {
            let lines = shown(text, word);
            assert_eq!(pointed_at(&lines), word, "{lines:#?}");
            assert!(lines.iter().all(|line| line.chars().count() <= 110), "{lines:#?}");
        }
    }

    #[test]
    fn only_the_first_line_of_a_long_value_is_shown() {
        let lines = shown("a = [\n1,\n2]\n", "[\n1,\n2]");
        assert_eq!(pointed_at(&lines), "[");
        assert!(lines[1].ends_with("f:1:5"), "{lines:#?}");
    }
}
