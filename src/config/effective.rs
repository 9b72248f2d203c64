use std::fmt::Write as _;

use toml::{Table, Value};

use super::Config;
use super::entry::{Origins, bare, dotted};
use super::redact::{is_secret, redact};

const GROWS: &str = "a string takes whatever is written to it";

/// The configuration as TOML, secrets hidden; a comment says where a value that is not a default comes from.
pub(super) fn write(config: &Config, origins: &Origins) -> String {
    let table = Table::try_from(config).expect("a configuration is plain tables, texts and numbers");
    let mut out = String::new();
    section(&mut out, &mut Vec::new(), &table, origins);
    out
}

fn section(out: &mut String, path: &mut Vec<String>, table: &Table, origins: &Origins) {
    let (tables, values): (Vec<_>, Vec<_>) = table.iter().partition(|(_, value)| value.is_table());
    // A table that only holds tables needs no line of its own, one that the user named does even when empty.
    if !path.is_empty() && (!values.is_empty() || tables.is_empty() && path.len() > 1) {
        writeln!(out, "\n[{}]", dotted(path)).expect(GROWS);
    }
    for (name, value) in values {
        path.push(name.clone());
        let origin = origins.get(path).and_then(super::Place::brief);
        let comment = origin.map(|origin| format!("  # {origin}")).unwrap_or_default();
        writeln!(out, "{} = {}{comment}", bare(name), hidden(name, value)).expect(GROWS);
        path.pop();
    }
    for (name, value) in tables {
        if let Value::Table(below) = value {
            path.push(name.clone());
            section(out, path, below, origins);
            path.pop();
        }
    }
}

fn hidden(name: &str, value: &Value) -> Value {
    match value {
        Value::String(text) if is_secret(name) && !text.is_empty() => Value::String("***".to_owned()),
        Value::String(text) => Value::String(redact(text)),
        Value::Array(list) => Value::Array(list.iter().map(|value| hidden(name, value)).collect()),
        other => other.clone(),
    }
}
