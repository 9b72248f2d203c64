//! Who may import whom, and how long a file may be. A room is a folder or file directly under `src/`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Longest file, in lines.
const LONGEST: usize = 400;

/// Room, and the rooms that it may name in a `crate::` path.
const ROOMS: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("upstream", &[]),
    ("tokens", &["model"]),
    ("wire", &["model"]),
    ("session", &["model"]),
    ("telemetry", &["model"]),
    ("tap", &["model", "wire"]),
    ("prune", &["model", "tokens"]),
    ("pipeline", &["model", "tokens", "wire", "prune", "session", "tap"]),
    ("mock", &["model", "wire", "tokens"]),
    ("server", &["model", "wire", "tap", "upstream", "telemetry", "pipeline"]),
    ("config", &["model", "tokens", "prune", "session", "upstream", "pipeline", "telemetry", "server"]),
    ("app", &["model", "prune", "session", "upstream", "pipeline", "telemetry", "server", "config"]),
    ("cli", &["app", "config", "pipeline", "telemetry", "wire", "mock", "model"]),
    ("lib", &[]),
    ("main", &["cli"]),
];

/// External crate, and the rooms it is at home in.
const HOMES: &[(&str, &[&str])] = &[
    ("axum", &["server", "mock", "app"]),
    ("reqwest", &["upstream", "app"]),
    ("clap", &["cli"]),
    ("toml", &["config", "mock"]),
    ("tiktoken_rs", &["tokens"]),
    ("moka", &["session"]),
    ("metrics", &["telemetry"]),
];

/// Rooms that do no I/O and spawn nothing.
const PURE: &[&str] = &["model", "wire", "tokens", "prune"];

fn source_files(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).expect("src can be read") {
        let path = entry.expect("an entry can be read").path();
        if path.is_dir() {
            source_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

fn files() -> Vec<(String, PathBuf, String)> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut paths = Vec::new();
    source_files(&src, &mut paths);
    paths.sort();
    let read = |path: PathBuf| {
        let below = path.strip_prefix(&src).expect("found below src");
        let room = below.components().next().expect("has a name").as_os_str().to_string_lossy();
        let room = room.trim_end_matches(".rs").to_owned();
        let text = fs::read_to_string(&path).expect("a source file is text");
        (room, path, text)
    };
    paths.into_iter().map(read).collect()
}

/// The first names behind every `crate::` in a line, groups included.
fn rooms_named(line: &str) -> Vec<String> {
    let code = line.split("//").next().unwrap_or_default();
    let mut named = Vec::new();
    for rest in code.split("crate::").skip(1) {
        let name = |text: &str| -> String {
            text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
        };
        match rest.strip_prefix('{') {
            Some(group) => named.extend(group.split(',').map(name)),
            None => named.push(name(rest)),
        }
    }
    named.retain(|name| !name.is_empty());
    named
}

fn names_crate(line: &str, name: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    let path = format!("{name}::");
    code.match_indices(&path).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        before.is_none_or(|c| !(c.is_alphanumeric() || c == '_' || c == ':'))
    })
}

#[test]
fn imports_only_go_down() {
    let mut problems = Vec::new();
    for (room, path, text) in files() {
        let Some((_, allowed)) = ROOMS.iter().find(|(name, _)| *name == room) else {
            problems.push(format!("{}: room {room} is not in the table", path.display()));
            continue;
        };
        for (number, line) in text.lines().enumerate() {
            let at = format!("{}:{}", path.display(), number + 1);
            for named in rooms_named(line) {
                let is_room = ROOMS.iter().any(|(name, _)| *name == named);
                if is_room && named != room && !allowed.contains(&named.as_str()) {
                    problems.push(format!("{at}: {room} may not import {named}"));
                }
            }
            for (name, homes) in HOMES {
                if names_crate(line, name) && !homes.contains(&room.as_str()) {
                    problems.push(format!("{at}: {name} is not at home in {room}"));
                }
            }
            if PURE.contains(&room.as_str()) && names_crate(line, "tokio") {
                problems.push(format!("{at}: {room} does no I/O and spawns nothing"));
            }
            if line.contains("super::super::") {
                problems.push(format!("{at}: super::super:: hides which room is meant"));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn no_file_is_too_long() {
    let long = |(_, path, text): (String, PathBuf, String)| {
        let lines = text.lines().count();
        (lines > LONGEST).then(|| format!("{}: {lines} lines", path.display()))
    };
    let problems: Vec<_> = files().into_iter().filter_map(long).collect();
    assert!(problems.is_empty(), "longer than {LONGEST} lines:\n{}", problems.join("\n"));
}

#[test]
fn every_room_of_the_table_exists() {
    let built: BTreeSet<_> = files().into_iter().map(|(room, ..)| room).collect();
    let missing: Vec<_> = ROOMS.iter().filter(|(room, _)| !built.contains(*room)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_walk_sees_what_it_looks_for() {
    assert_eq!(rooms_named("use crate::{model::Item, wire};"), ["model", "wire"]);
    assert_eq!(rooms_named("let x = crate::server::run(); // crate::cli"), ["server"]);
    assert!(names_crate("use axum::Router;", "axum") && !names_crate("use my_axum::x;", "axum"));
}
