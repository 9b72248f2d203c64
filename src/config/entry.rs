use std::collections::BTreeMap;

use serde::Deserialize;
use toml::{Table, Value};

use super::shape::{Shape, closest};
use super::{Config, Place, Problem, redact};

/// The names from the top of the configuration down to a value.
pub(super) type Path = Vec<String>;

/// One value that somebody set. An empty table stands for a name of the user's without settings.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) path: Path,
    pub(super) value: Value,
    pub(super) place: Place,
}

/// What a source says: its entries, what is wrong with it, and what the user should know.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) entries: Vec<Entry>,
    pub(super) problems: Vec<Problem>,
    pub(super) warnings: Vec<Problem>,
    /// Where values stand that were left out because they are wrong.
    pub(super) wrong: Vec<Path>,
}

/// Where each value that is set comes from.
pub(super) type Origins = BTreeMap<Path, Place>;

/// A path as it is written in a file: `models."gpt-4o*".prune_to`.
pub(super) fn dotted<S: AsRef<str>>(path: &[S]) -> String {
    path.iter().map(|name| bare(name.as_ref())).collect::<Vec<_>>().join(".")
}

/// A name as TOML wants it: in quotes where it needs them.
pub(super) fn bare(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(plain) {
        name.to_owned()
    } else {
        Value::String(name.to_owned()).to_string()
    }
}

/// Puts `value` at `path` below `table`, over what stands there.
pub(super) fn put(table: &mut Table, path: &[String], value: Value) {
    let Some((name, rest)) = path.split_first() else { return };
    if rest.is_empty() {
        match (table.get(name), &value) {
            // An empty table only says that the name is there.
            (Some(Value::Table(_)), Value::Table(_)) => {}
            _ => {
                table.insert(name.clone(), value);
            }
        }
        return;
    }
    let below = table.entry(name.clone()).or_insert_with(|| Value::Table(Table::new()));
    if let Value::Table(below) = below {
        put(below, rest, value);
    }
}

/// What is wrong with `value` at `path`, if anything: first its kind, then what its own type says of it.
pub(super) fn mistake(path: &[String], value: &Value, shape: &Shape) -> Option<(String, String)> {
    let fits = match (shape, value) {
        (Shape::Flag, Value::Boolean(_))
        | (Shape::Whole | Shape::Number, Value::Integer(_))
        | (Shape::Number, Value::Float(_))
        | (Shape::Text, Value::String(_)) => true,
        (Shape::Table(_) | Shape::Chosen(_), Value::Table(table)) => table.is_empty(),
        (Shape::List, Value::Array(list)) => list.iter().all(Value::is_str),
        _ => false,
    };
    let key = dotted(path);
    if !fits {
        let hint = match (shape, value) {
            (Shape::Text, Value::Integer(_) | Value::Float(_) | Value::Boolean(_)) => "put it in quotes",
            (Shape::Whole | Shape::Number | Shape::Flag, Value::String(_)) => "write it without quotes",
            (Shape::List, _) => r#"for example ["read_file", "search"]"#,
            _ => "",
        };
        return Some((
            format!("`{key}` must be {}, found {}", shape.expected(), found(value)),
            hint.to_owned(),
        ));
    }
    let mut alone = Table::new();
    put(&mut alone, path, value.clone());
    let error = Config::deserialize(Value::Table(alone)).err()?;
    Some(match (shape, value) {
        (Shape::Whole, Value::Integer(n)) if *n < 0 => {
            (format!("`{key}` must not be negative, found {n}"), String::new())
        }
        (Shape::Whole, Value::Integer(n)) => (format!("`{key}` is too large: {n}"), String::new()),
        (Shape::Text, Value::String(text)) if error.message().starts_with("unknown variant") => {
            let expected: Vec<&str> = error.message().split('`').skip(1).step_by(2).skip(1).collect();
            let meant = closest(text, expected.iter().copied())
                .map(|name| format!("did you mean {name:?}? "))
                .unwrap_or_default();
            let all = expected.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
            (format!("`{key}` has no value {:?}", redact(text)), format!("{meant}expected one of {all}"))
        }
        // What the type itself says: what is wrong, and in a second line the remedy.
        _ => {
            let (what, remedy) = error.message().split_once('\n').unwrap_or((error.message(), ""));
            (format!("`{key}` {}", redact(what)), remedy.to_owned())
        }
    })
}

/// A value in words.
fn found(value: &Value) -> String {
    match value {
        Value::String(text) if text.chars().count() <= 60 => format!("the text {:?}", redact(text)),
        Value::String(_) => "a long text".to_owned(),
        Value::Integer(_) | Value::Float(_) => format!("the number {value}"),
        Value::Boolean(_) => format!("{value}"),
        Value::Datetime(_) => format!("the time {value}"),
        Value::Array(list) => match list.iter().find(|one| !one.is_str()) {
            Some(one) => format!("a list with {}", found(one)),
            None => "a list".to_owned(),
        },
        Value::Table(_) => "a table".to_owned(),
    }
}
