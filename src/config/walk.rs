use std::ops::Range;
use std::sync::Arc;

use toml::{Table, Value};

use super::ancestor::is_json;
use super::entry::{Entry, Path, Said, dotted, mistake};
use super::error::wrapped;
use super::shape::{Shape, closest};
use super::{Place, Problem, Source};

/// A value in a text, with where it stands; the same for every format of file.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) content: Content,
}

/// A table with its members in order, or a value.
#[derive(Debug)]
pub(super) enum Content {
    Table(Vec<(Key, Node)>),
    Leaf(Value),
}

/// A name with where it stands.
#[derive(Debug, Clone)]
pub(super) struct Key {
    pub(super) name: String,
    pub(super) span: Range<usize>,
}

/// Reads a tree into `said`: names and types are checked against the shape of the configuration, and a mistake
/// leaves the rest as it is.
pub(super) fn walk(source: &Arc<Source>, root: Node, said: &mut Said) {
    let mut walk = Walk { source, said, path: Path::new() };
    let nowhere = root.span.start..root.span.start;
    walk.node(root, nowhere, Shape::config());
}

struct Walk<'a> {
    source: &'a Arc<Source>,
    said: &'a mut Said,
    path: Path,
}

impl Walk<'_> {
    fn place(&self, span: Range<usize>) -> Place {
        Place::Text { source: Arc::clone(self.source), span }
    }

    fn node(&mut self, node: Node, key: Range<usize>, shape: &Shape) {
        match (node.content, shape) {
            (Content::Table(members), Shape::Table(_) | Shape::Chosen(_)) => {
                if members.is_empty() && !self.path.is_empty() {
                    self.entry(Value::Table(Table::new()), key);
                }
                for (key, node) in members {
                    self.member(key, node, shape);
                }
            }
            (Content::Table(_), _) => self.leaf(&Value::Table(Table::new()), key, shape),
            (Content::Leaf(value), _) => self.leaf(&value, node.span, shape),
        }
    }

    fn member(&mut self, key: Key, node: Node, shape: &Shape) {
        let depth = self.path.len();
        if let Some(below) = shape.get(&key.name) {
            self.path.push(key.name);
            self.node(node, key.span, below);
        } else if let Some(path) = shape.alias(&key.name) {
            let below = shape.at(&path).expect("an alias is only found when its path is there");
            self.path.extend(path.map(str::to_owned));
            self.node(node, key.span, below);
        } else {
            self.unknown(&key, shape);
        }
        self.path.truncate(depth);
    }

    fn leaf(&mut self, value: &Value, span: Range<usize>, shape: &Shape) {
        if let Some((what, remedy)) = mistake(&self.path, value, shape) {
            let problem = Problem::new(self.place(span), what).note(remedy);
            self.said.problems.push(problem);
            self.said.wrong.push(self.path.clone());
        } else {
            self.entry(value.clone(), span);
        }
    }

    fn entry(&mut self, value: Value, span: Range<usize>) {
        let place = self.place(span);
        if let Some(twice) = self.said.entries.iter().find(|e| e.path == self.path && !e.value.is_table()) {
            let first = twice.place.brief().unwrap_or_default();
            self.said.problems.push(
                Problem::new(place, format!("`{}` is given twice", dotted(&self.path)))
                    .note(format!("first at {first}; keep one of them")),
            );
            return;
        }
        self.said.entries.push(Entry { path: self.path.clone(), value, place });
    }

    fn unknown(&mut self, key: &Key, shape: &Shape) {
        let name = &key.name;
        let section = match self.path.as_slice() {
            [] => String::new(),
            // There the user sees one block, not our tables.
            _ if is_json(&self.source.text) => String::new(),
            path => format!(" in [{}]", dotted(path)),
        };
        let problem = Problem::new(self.place(key.span.clone()), format!("unknown key `{name}`{section}"))
            .note(meant(name, shape))
            .note(wrapped("expected here:", &shape.names()));
        self.said.problems.push(problem);
    }
}

/// What the user meant by an unknown name: a similar one here, or the same in another table.
fn meant(name: &str, shape: &Shape) -> String {
    let elsewhere = || {
        let config = Shape::config();
        let leaves = config.leaves();
        let home = leaves.into_iter().find(|leaf| leaf.last().is_some_and(|last| last == name))?;
        let (_, table) = home.split_last()?;
        Some(match table {
            [] => format!("`{name}` belongs at the top of the file, above every table"),
            table => format!("`{name}` belongs in [{}]", dotted(table)),
        })
    };
    let similar = || closest(name, shape.names()).map(|name| format!("did you mean `{name}`?"));
    let alias = || {
        let pruning = Shape::config().get("pruning")?;
        pruning.alias(name).map(|_| format!("`{name}` belongs in [pruning]"))
    };
    elsewhere().or_else(alias).or_else(similar).unwrap_or_default()
}
