use super::entry::{Origins, Path, Said, dotted};
use super::shape::closest;
use super::{Config, Place, Problem, address, policy, redact};
use crate::server;
use crate::upstream::{self, SettingsError, UrlError};

/// In place of a URL: the mock upstream in the same process.
pub const MOCK: &str = "mock";

/// Checks the rules between values. Rules that involve a value in `wrong` (which was left out) say nothing.
pub(super) fn check(config: &Config, origins: &Origins, wrong: &[Path]) -> Said {
    let mut rules = Rules { origins, wrong, said: Said::default() };
    address::check(config, &mut rules);
    upstreams(config, &mut rules);
    sizes(config, &mut rules);
    policy::check(config, &mut rules);
    rules.said
}

/// Collects what the rules find.
pub(super) struct Rules<'a> {
    origins: &'a Origins,
    wrong: &'a [Path],
    said: Said,
}

/// A finding of a rule.
pub(super) struct Finding {
    /// The paths of the values involved; of those that somebody set, the last is pointed at.
    pub(super) keys: Vec<Path>,
    /// What is wrong.
    pub(super) what: String,
    /// What to do.
    pub(super) remedy: String,
}

impl Rules<'_> {
    /// Adds a mistake.
    pub(super) fn problem(&mut self, finding: Finding) {
        if let Some(problem) = self.place(finding) {
            self.said.problems.push(problem);
        }
    }

    /// Adds something to know.
    pub(super) fn warning(&mut self, finding: Finding) {
        if let Some(problem) = self.place(finding) {
            self.said.warnings.push(problem);
        }
    }

    fn place(&self, finding: Finding) -> Option<Problem> {
        if finding.keys.iter().any(|key| self.wrong.contains(key)) {
            return None;
        }
        let place = finding.keys.iter().rev().find_map(|key| self.origins.get(key)).cloned();
        Some(Problem::new(place.unwrap_or(Place::Default), finding.what).note(finding.remedy))
    }
}

/// A finding about one value.
pub(super) fn finding(key: &str, what: impl Into<String>, remedy: impl Into<String>) -> Finding {
    Finding { keys: vec![path_of(key)], what: what.into(), remedy: remedy.into() }
}

fn upstreams(config: &Config, rules: &mut Rules<'_>) {
    let mut settings = config.upstreams();
    if settings.url.as_deref() == Some(MOCK) {
        settings.url = None;
    }
    for error in settings.problems() {
        let key = match &error {
            // Only serving needs one.
            SettingsError::NoUpstream => continue,
            SettingsError::Url { key, .. } => {
                match key.strip_prefix("upstreams.").and_then(|k| k.strip_suffix(".url")) {
                    Some(name) => named(name),
                    None => path_of(key),
                }
            }
            SettingsError::Name { name } => named(name)[..2].to_vec(),
            SettingsError::Zero { key } => path_of(key),
        };
        // A named upstream without any key has its place at its own name.
        let keys = vec![key[..key.len().min(2)].to_vec(), key];
        let example = "for example https://openrouter.ai/api/v1 or http://127.0.0.1:11434";
        let unclear = matches!(error, SettingsError::Url { problem: UrlError::Scheme(_), .. });
        let remedy = if unclear { example.to_owned() } else { String::new() };
        rules.problem(Finding { keys, what: redact(&error.to_string()), remedy });
    }
    let own = config.upstream.url.iter().map(|url| (path_of("upstream.url"), url.as_str()));
    let further = config.upstreams.iter().map(|(name, one)| (named(name), one.url.as_str()));
    for (path, url) in own.chain(further) {
        if let Some((what, remedy)) = misused(url, config) {
            let what = format!("`{}` {what}: {:?}", dotted(&path), redact(url));
            rules.problem(Finding { keys: vec![path], what, remedy: remedy.to_owned() });
        }
    }
    let base_url = &config.pruning.summary.base_url;
    if !base_url.is_empty() {
        let settings = upstream::Settings { url: Some(base_url.clone()), ..upstream::Settings::default() };
        for error in settings.problems() {
            let what = redact(&error.to_string()).replace("upstream.url", "pruning.summary.base_url");
            rules.problem(finding("pruning.summary.base_url", what, ""));
        }
    }
}

fn path_of(key: &str) -> Path {
    key.split('.').map(str::to_owned).collect()
}

fn named(name: &str) -> Path {
    vec!["upstreams".to_owned(), name.to_owned(), "url".to_owned()]
}

/// What is wrong with a URL that can be used as such, and the remedy.
fn misused(text: &str, config: &Config) -> Option<(&'static str, &'static str)> {
    let url: http::Uri = text.parse().ok()?;
    if ["/chat/completions", "/responses", "/messages"].iter().any(|end| url.path().ends_with(end)) {
        return Some(("names an endpoint", "give the base URL only, without /chat/completions and the like"));
    }
    let port = url.port_u16().or(if url.scheme_str() == Some("https") { Some(443) } else { Some(80) });
    let here = ["localhost", "127.0.0.1", "[::1]", "0.0.0.0"].contains(&url.host()?);
    (here && port == Some(config.listen.port())).then_some((
        "is this proxy itself (`listen`)",
        "give the address of the API, or listen elsewhere; agents are pointed at `listen`",
    ))
}

fn sizes(config: &Config, rules: &mut Rules<'_>) {
    let limit = config.server.max_body_bytes;
    let least = server::Settings::LEAST_BODY_LIMIT;
    if limit < least {
        let what = format!("`server.max_body_bytes` is too small: {limit} bytes");
        let remedy = format!("at least {least} (64 MiB): agents send images and whole files");
        rules.problem(finding("server.max_body_bytes", what, remedy));
    }
    for (key, value) in [
        ("sessions.max_sessions", config.sessions.max_sessions),
        ("sessions.max_bytes", config.sessions.max_bytes),
        ("sessions.idle_ms", config.sessions.idle_ms),
    ] {
        if value == 0 {
            rules.problem(finding(key, format!("`{key}` must be greater than 0"), ""));
        }
    }
    log_level(config, rules);
    for (key, value) in [
        ("upstream.connect_timeout_ms", config.upstream.connect_timeout_ms),
        ("upstream.first_byte_timeout_ms", config.upstream.first_byte_timeout_ms),
        ("upstream.idle_timeout_ms", config.upstream.idle_timeout_ms),
    ] {
        if (1..100).contains(&value) {
            let what = format!("`{key}` is only {value} milliseconds");
            rules.warning(finding(key, what, "10 seconds are 10000"));
        }
    }
    if !config.state_dir.is_empty() {
        let remedy = "`state_dir` is reserved for a store on disk";
        rules.warning(finding(
            "state_dir",
            "today everything is kept in memory; nothing is written here",
            remedy,
        ));
    }
}

fn log_level(config: &Config, rules: &mut Rules<'_>) {
    const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];
    let level = config.log.level.trim();
    if let Err(error) = config.log.check() {
        rules.problem(finding("log.level", error.to_string(), ""));
    } else if !level.contains(['=', ',']) && !LEVELS.contains(&level.to_ascii_lowercase().as_str()) {
        // As a filter it would be the name of some other part, and everything of ours would stay silent.
        let meant = closest(level, LEVELS).map(|name| format!("did you mean {name:?}? ")).unwrap_or_default();
        let remedy = format!("{meant}expected one of {}", LEVELS.map(|name| format!("{name:?}")).join(", "));
        rules.problem(finding("log.level", format!("`log.level` has no value {level:?}"), remedy));
    }
}
