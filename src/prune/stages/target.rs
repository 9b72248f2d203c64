use serde_json::Value;

use crate::model::{ToolCall, Transcript};

/// What a call on a file does, as far as its name and arguments tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) action: Action,
    pub(super) path: String,
    /// Lines read, from 1, both included; `None` for all.
    pub(super) lines: Option<(u64, u64)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Read,
    Write,
}

const READS: [&str; 6] = ["read", "view", "cat", "open", "show", "get_file"];
const WRITES: [&str; 9] =
    ["write", "edit", "replace", "patch", "create", "insert", "update", "delete", "append"];
const PATHS: [&str; 9] = [
    "path",
    "file_path",
    "filePath",
    "filepath",
    "file",
    "filename",
    "target_file",
    "absolute_path",
    "relative_path",
];
/// How many lines a read without a limit is taken to show, from its offset on.
const OPEN_END: u64 = u64::MAX;

impl Target {
    /// Of the call whose arguments are the item at `index`; `None` when it names no file.
    pub(super) fn of(transcript: &Transcript, index: usize, call: &ToolCall) -> Option<Self> {
        let name = call.name.to_lowercase();
        let arguments: Value = serde_json::from_str(&transcript.text(index)).ok()?;
        let path = PATHS.iter().find_map(|key| arguments.get(key)?.as_str())?;
        // Tools of many commands under one name say which in an argument.
        let command = arguments.get("command").and_then(Value::as_str).unwrap_or_default().to_lowercase();
        let says = |words: &[&str]| {
            words.iter().any(|w| name.contains(w) || command == *w)
                || words.iter().any(|w| !command.is_empty() && command.starts_with(w))
        };
        let reads = command == "view" || (command.is_empty() && READS.iter().any(|w| name.contains(w)));
        let action = match () {
            () if reads => Action::Read,
            () if says(&WRITES) => Action::Write,
            () => return None,
        };
        Some(Self { action, path: path.to_owned(), lines: lines(&arguments) })
    }

    /// Whether a later call on the same file makes this one's output stale: all that it read was read again, or
    /// the file was written since.
    pub(super) fn is_stale_after(&self, later: &Self) -> bool {
        if self.action != Action::Read || self.path != later.path {
            return false;
        }
        match (later.action, self.lines, later.lines) {
            (Action::Write, ..) | (Action::Read, _, None) => true,
            (Action::Read, None, Some(_)) => false,
            (Action::Read, Some(own), Some(other)) => other.0 <= own.0 && own.1 <= other.1,
        }
    }
}

fn lines(arguments: &Value) -> Option<(u64, u64)> {
    let number = |keys: &[&str]| keys.iter().find_map(|key| arguments.get(key)?.as_u64());
    if let Some([from, to]) = arguments.get("view_range").and_then(Value::as_array).map(Vec::as_slice) {
        return Some((from.as_u64()?, to.as_u64().unwrap_or(OPEN_END)));
    }
    let from = number(&["offset", "start_line", "line_start", "start", "begin"]);
    let to = number(&["end_line", "line_end", "end"]);
    let count = number(&["limit", "num_lines", "count"]);
    if from.is_none() && to.is_none() && count.is_none() {
        return None;
    }
    let from = from.unwrap_or(1);
    Some((from, to.or(count.map(|count| from.saturating_add(count).saturating_sub(1))).unwrap_or(OPEN_END)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: Option<(u64, u64)>) -> Target {
        Target { action: Action::Read, path: "a.rs".into(), lines }
    }

    #[test]
    fn a_read_is_stale_when_all_of_it_was_read_again() {
        assert!(read(Some((10, 20))).is_stale_after(&read(None)));
        assert!(read(Some((10, 20))).is_stale_after(&read(Some((1, 20)))));
        assert!(!read(Some((10, 20))).is_stale_after(&read(Some((15, 90)))));
        assert!(!read(None).is_stale_after(&read(Some((1, 90)))));
    }

    #[test]
    fn a_read_is_stale_when_its_file_was_written() {
        let write = Target { action: Action::Write, path: "a.rs".into(), lines: None };
        assert!(read(None).is_stale_after(&write));
        assert!(!write.is_stale_after(&write));
        assert!(!read(None).is_stale_after(&Target { path: "b.rs".into(), ..write.clone() }));
    }

    #[test]
    fn ranges_are_read_from_the_usual_arguments() {
        assert_eq!(lines(&serde_json::json!({"offset": 5, "limit": 10})), Some((5, 14)));
        assert_eq!(lines(&serde_json::json!({"start_line": 3, "end_line": 9})), Some((3, 9)));
        assert_eq!(lines(&serde_json::json!({"view_range": [1, -1]})), Some((1, OPEN_END)));
        assert_eq!(lines(&serde_json::json!({"path": "x"})), None);
    }
}
