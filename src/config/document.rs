use std::sync::Arc;

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::entry::Said;
use super::walk::{Content, Key, Node, walk};
use super::{Place, Problem, Source};

/// Reads a TOML file.
pub(super) fn read(source: &Arc<Source>) -> Said {
    let mut said = Said::default();
    let (table, errors) = DeTable::parse_recoverable(&source.text);
    let place = |span| Place::Text { source: Arc::clone(source), span };
    if errors.is_empty() {
        let span = table.span();
        match node(Spanned::new(span, DeValue::Table(table.into_inner()))) {
            Ok(root) => walk(source, root, &mut said),
            Err(error) => {
                let at = error.span().unwrap_or(0..0);
                said.problems.push(Problem::new(place(at), format!("not TOML: {}", error.message())));
            }
        }
    }
    for error in errors {
        let at = error.span().unwrap_or(source.text.len()..source.text.len());
        said.problems.push(Problem::new(place(at), format!("not TOML: {}", error.message())));
    }
    said
}

/// A value with its members in the order of the text.
fn node(value: Spanned<DeValue<'_>>) -> Result<Node, toml::de::Error> {
    let span = value.span();
    let content = match value.into_inner() {
        DeValue::Table(table) => {
            let mut members = table
                .into_iter()
                .map(|(key, value)| {
                    let span = key.span();
                    Ok((Key { name: key.into_inner().into_owned(), span }, node(value)?))
                })
                .collect::<Result<Vec<_>, toml::de::Error>>()?;
            members.sort_by_key(|(key, _)| key.span.start);
            Content::Table(members)
        }
        other => {
            let value = Spanned::new(span.clone(), other);
            Content::Leaf(toml::Value::deserialize(ValueDeserializer::from(value))?)
        }
    };
    Ok(Node { span, content })
}
