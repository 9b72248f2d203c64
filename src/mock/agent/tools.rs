use serde_json::{Value, json};

use super::Tool;

/// The tools that the agent may call.
pub(super) fn all() -> Vec<Tool> {
    [
        (
            "read_file",
            "Reads lines of a text file. Lines come numbered.",
            text(&["path"], &["offset", "limit"]),
        ),
        ("search", "Finds lines by a regular expression.", text(&["pattern", "path"], &["max_results"])),
        ("list_dir", "Lists the files below a folder with their sizes.", text(&["path"], &["depth"])),
        (
            "edit_file",
            "Replaces a piece of a file, which must occur once.",
            text(&["path", "old_string", "new_string"], &[]),
        ),
        ("write_file", "Writes a file, and replaces one that is there.", text(&["path", "content"], &[])),
        ("run_command", "Runs a command in the project's folder.", text(&["command"], &["timeout_s"])),
        ("run_tests", "Runs the tests whose names hold the filter.", text(&["filter"], &[])),
        ("fetch_url", "Fetches a page as text.", text(&["url"], &["max_tokens"])),
        ("web_search", "Searches the web.", text(&["query"], &["max_results"])),
        ("query_api", "Lists rows of the service's API.", text(&["resource", "status"], &["page"])),
        ("get_record", "Gets one record of the service's API by its id.", text(&["id"], &[])),
        ("search_logs", "Finds lines in the service's log.", text(&["query"], &["max_lines"])),
        ("update_plan", "Writes down the plan.", text(&["plan"], &[])),
    ]
    .map(|(name, description, parameters)| Tool { name, description, parameters })
    .into()
}

/// Parameters: texts that are needed, and whole numbers that may be left out.
fn text(needed: &[&str], numbers: &[&str]) -> Value {
    let typed = |kind: &'static str| move |name: &&str| ((*name).to_owned(), json!({"type": kind}));
    let properties: Value = Value::Object(
        needed.iter().map(typed("string")).chain(numbers.iter().map(typed("integer"))).collect(),
    );
    json!({"type": "object", "properties": properties, "required": needed})
}
