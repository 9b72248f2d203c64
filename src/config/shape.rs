use std::sync::LazyLock;

use toml::{Table, Value};

use super::Config;
use super::models::CONTEXT_WINDOW;
use crate::upstream::NamedUpstream;

/// What may stand where: derived from the defaults, so that a new field of a room's `Settings` is known at once.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    /// true or false
    Flag,
    /// a whole number
    Whole,
    /// a number
    Number,
    /// a text
    Text,
    /// a list of texts
    List,
    /// these names, in the order of the struct
    Table(Vec<(String, Shape)>),
    /// names that the user chooses, each with this
    Chosen(Box<Shape>),
}

/// Other names of keys in `[pruning]` and `[models."..."]`, by which the ancestor plugin and its users know them.
const ALIASES: [(&str, [&str; 2]); 7] = [
    ("soft_trim_max_chars", ["soft_trim", "max_chars"]),
    ("soft_trim_head_chars", ["soft_trim", "head_chars"]),
    ("soft_trim_tail_chars", ["soft_trim", "tail_chars"]),
    ("detail_summary_model", ["summary", "model"]),
    ("detail_summary_max_chars", ["summary", "max_chars"]),
    ("detail_summary_timeout_ms", ["summary", "timeout_ms"]),
    ("detail_summary_base_url", ["summary", "base_url"]),
];

static CONFIG: LazyLock<Shape> = LazyLock::new(|| {
    let table = |value| Table::try_from(value).expect("the defaults are plain tables, texts and numbers");
    let mut shape = Shape::of(&Value::Table(table(&Config::default())));
    let named = Shape::of(&Value::Table(Table::try_from(NamedUpstream::default()).expect("a plain table")));
    let mut model = shape.at(&["pruning"]).cloned().expect("the table is a field of Config");
    if let Shape::Table(keys) = &mut model {
        keys.insert(0, (CONTEXT_WINDOW.to_owned(), Shape::Whole));
    }
    if let Shape::Table(keys) = &mut shape {
        for (name, shape) in keys {
            match name.as_str() {
                "upstreams" => *shape = Shape::Chosen(Box::new(named.clone())),
                // Not set by default, and what is not set is not there.
                "upstream" => {
                    if let Shape::Table(keys) = shape {
                        keys.insert(0, ("url".to_owned(), Shape::Text));
                    }
                }
                "models" => *shape = Shape::Chosen(Box::new(model.clone())),
                _ => {}
            }
        }
    }
    shape
});

impl Shape {
    /// The shape of a whole configuration.
    pub(super) fn config() -> &'static Self {
        &CONFIG
    }

    fn of(default: &Value) -> Self {
        match default {
            Value::Boolean(_) => Self::Flag,
            Value::Integer(_) => Self::Whole,
            Value::Float(_) => Self::Number,
            Value::String(_) | Value::Datetime(_) => Self::Text,
            Value::Array(_) => Self::List,
            Value::Table(table) => {
                Self::Table(table.iter().map(|(name, value)| (name.clone(), Self::of(value))).collect())
            }
        }
    }

    /// What stands under `name`, if anything may.
    pub(super) fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Table(keys) => keys.iter().find(|(key, _)| key == name).map(|(_, shape)| shape),
            Self::Chosen(each) => Some(each),
            _ => None,
        }
    }

    /// What stands at a path.
    pub(super) fn at<S: AsRef<str>>(&self, path: &[S]) -> Option<&Self> {
        path.iter().try_fold(self, |shape, name| shape.get(name.as_ref()))
    }

    /// The path below this table that `alias` is another name of.
    pub(super) fn alias(&self, alias: &str) -> Option<[&'static str; 2]> {
        let (_, path) = ALIASES.iter().find(|(name, _)| *name == alias)?;
        self.at(path).map(|_| *path)
    }

    /// The names that may stand here; empty where the user chooses them.
    pub(super) fn names(&self) -> Vec<&str> {
        match self {
            Self::Table(keys) => keys.iter().map(|(name, _)| name.as_str()).collect(),
            _ => Vec::new(),
        }
    }

    /// The paths of all values whose names are fixed.
    pub(super) fn leaves(&self) -> Vec<Vec<String>> {
        let mut leaves = Vec::new();
        if let Self::Table(keys) = self {
            for (name, shape) in keys {
                match shape {
                    Self::Table(_) => leaves.extend(shape.leaves().into_iter().map(|mut path| {
                        path.insert(0, name.clone());
                        path
                    })),
                    Self::Chosen(_) => {}
                    _ => leaves.push(vec![name.clone()]),
                }
            }
        }
        leaves
    }

    /// In words, what is expected here.
    pub(super) fn expected(&self) -> &'static str {
        match self {
            Self::Flag => "true or false",
            Self::Whole => "a whole number",
            Self::Number => "a number",
            Self::Text => "a text in quotes",
            Self::List => "a list of texts",
            Self::Table(_) | Self::Chosen(_) => "a table",
        }
    }
}

/// Of `known` the name that `name` is most likely a slip of the pen for.
pub(super) fn closest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase().replace('-', "_");
    let score = |other: &str| strsim::jaro_winkler(&name, &other.to_lowercase());
    let close = |other: &&str| {
        let distance = strsim::damerau_levenshtein(&name, &other.to_lowercase());
        distance <= other.len().max(name.len()) / 3
    };
    known.into_iter().filter(close).max_by(|a, b| score(a).total_cmp(&score(b)))
}
