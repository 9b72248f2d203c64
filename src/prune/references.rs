use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use crate::model::{ItemKind, Role, Transcript};

/// Which names, paths, ids and numbers were mentioned, and by which item last: in calls, replies and user text. Tool
/// outputs are left out: they repeat themselves.
#[derive(Debug, Default)]
pub struct References {
    last: HashMap<u64, usize>,
}

/// Shortest string that counts as a reference, in bytes.
const SHORTEST: usize = 5;
/// Shortest one that is nothing but small letters, and so may be any word.
const SHORTEST_WORD: usize = 12;

impl References {
    /// Of everything in `transcript`.
    pub fn of(transcript: &Transcript) -> Self {
        let mut last = HashMap::new();
        for (index, item) in transcript.items.iter().enumerate() {
            let speaks = matches!(
                item.kind,
                ItemKind::ToolCall(_) | ItemKind::Message { role: Role::Assistant | Role::User }
            );
            if speaks {
                last.extend(atoms(&transcript.text(index)).map(|atom| (key(atom), index)));
            }
        }
        Self { last }
    }

    /// The references in `line` that an item behind `index` makes again.
    pub fn later<'t>(&self, line: &'t str, index: usize) -> impl Iterator<Item = &'t str> {
        atoms(line).filter(move |atom| self.last.get(&key(atom)).is_some_and(|last| *last > index))
    }
}

fn key(atom: &str) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(atom)
}

/// The strings in a text that look like a path, an id, a name or a number.
pub(super) fn atoms(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '@' | '#')))
        .map(|run| run.trim_matches(['.', '/', '-', '@', '#']))
        .filter(|atom| looks_like_reference(atom))
}

fn looks_like_reference(atom: &str) -> bool {
    if atom.len() < SHORTEST || atom.len() > 200 {
        return false;
    }
    let marked = atom.bytes().skip(1).any(|b| !b.is_ascii_lowercase() && b.is_ascii());
    marked || (atom.is_ascii() && atom.len() >= SHORTEST_WORD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_ids_and_numbers_are_references_and_words_are_not() {
        let found: Vec<_> = atoms("the file `src/wire/sse.rs:42`, user_17 (INV-20391) said hello.").collect();
        assert_eq!(found, ["src/wire/sse.rs", "user_17", "INV-20391"]);
    }
}
