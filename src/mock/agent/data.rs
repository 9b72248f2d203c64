use serde_json::{Map, Value, json};

use super::output::{Kind, Output};
use super::project::Project;
use super::random::{BASE64, HEX, LOWER, Random};

/// An id of a record, as `ord_4k2j...`.
pub(super) fn record_id(kind: &str, random: &mut Random) -> String {
    format!("{}_{}", &kind[..3], random.string(LOWER, 18))
}

fn record(id: &str, kind: &str, project: &Project, random: &mut Random) -> Map<String, Value> {
    let vocabulary = &project.vocabulary;
    let mut row = Map::new();
    row.insert("id".into(), id.into());
    row.insert("kind".into(), kind.into());
    row.insert("status".into(), random.pick(&["open", "closed", "pending", "failed", "archived"]).into());
    row.insert(
        "created_at".into(),
        format!("2026-0{}-1{}T0{}:30:00Z", random.between(1, 9), random.below(10), random.below(10)).into(),
    );
    row.insert("total".into(), json!(random.between(100, 9_999_999) as f64 / 100.0));
    row.insert(
        "note".into(),
        if random.chance(0.3) { Value::Null } else { vocabulary.fill("{s}", random).into() },
    );
    row
}

/// Rows that an API or a database answers with.
pub(super) fn rows(out: &mut Output, kind: &str, project: &Project, random: &mut Random) {
    let pretty = random.chance(0.4);
    let mut rows = Vec::new();
    let mut length = 0;
    while length + 40 < out.left() || rows.is_empty() {
        let id = record_id(kind, random);
        let mut row = record(&id, kind, project, random);
        let other = record_id("customer", random);
        row.insert("customer".into(), other.into());
        out.mention(Kind::Record, &id, 0);
        let row = Value::Object(row);
        length += if pretty { format!("{row:#}").len() + 24 } else { row.to_string().len() };
        rows.push(row);
    }
    let answer = json!({"data": rows, "has_more": random.chance(0.5), "next": random.string(LOWER, 20)});
    out.line(&if pretty { format!("{answer:#}") } else { answer.to_string() });
}

/// One record with everything that hangs on it.
pub(super) fn details(out: &mut Output, id: &str, project: &Project, random: &mut Random) {
    let mut row = record(id, "record", project, random);
    let mut length = 180;
    let mut events = Vec::new();
    while length + 60 < out.left() {
        let id = record_id("event", random);
        let event = json!({"id": id, "at": random.between(1_760_000_000, 1_790_000_000), "text": project.vocabulary.fill("{s}", random)});
        length += event.to_string().len() + 60;
        out.mention(Kind::Record, &id, 0);
        events.push(event);
    }
    row.insert("events".into(), events.into());
    out.line(&format!("{:#}", Value::Object(row)));
}

/// The last commits.
pub(super) fn commits(out: &mut Output, project: &Project, random: &mut Random) {
    while !out.is_full() {
        let hash = random.string(HEX, 40);
        out.line(&format!("{hash} {}", project.vocabulary.fill("{v} {s}", random)));
        out.mention(Kind::Commit, &hash, 0);
    }
}

/// What a commit changed.
pub(super) fn diff(out: &mut Output, hash: &str, project: &mut Project, random: &mut Random) {
    out.line(&format!("commit {hash}"));
    out.line(&project.vocabulary.fill("    {v} the {a} {n}: {s}", random));
    while !out.is_full() {
        let at = random.below(project.files.len());
        let file = &mut project.files[at];
        let path = file.path.clone();
        let added = file.language.statements(random.between(2, 12), random);
        let lines = file.lines(0);
        let start = random.below(lines.len());
        out.line(&format!("diff --git a/{path} b/{path}"));
        out.line(&format!("@@ -{start},6 +{start},{} @@", 6 + added.len()));
        lines[start..].iter().take(4).for_each(|line| out.line(&format!(" {line}")));
        lines[start..].iter().skip(4).take(3).for_each(|line| out.line(&format!("-{line}")));
        for line in added {
            if out.is_full() {
                break;
            }
            out.line(&format!("+{line}"));
        }
        out.mention(Kind::Path, &path, start);
    }
}

/// A file that is no text.
pub(super) fn blob(out: &mut Output, random: &mut Random) {
    out.line("content-type: application/octet-stream; encoding: base64");
    while !out.is_full() {
        out.line(&random.string(BASE64, 76));
    }
}
