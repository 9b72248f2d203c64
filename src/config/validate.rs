use url::Url;

use super::entry::{Origins, Path, Said, dotted};
use super::{Config, Place, Problem, address, policy, redact};

/// The smallest limit on request bodies: agents send images and whole files.
const SMALLEST_BODY_LIMIT: u64 = 64 * 1024 * 1024;
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
    let path = key.split('.').map(str::to_owned).collect();
    Finding { keys: vec![path], what: what.into(), remedy: remedy.into() }
}

fn upstreams(config: &Config, rules: &mut Rules<'_>) {
    let mut all = vec![(vec!["upstream".to_owned(), "url".to_owned()], config.upstream.url.as_str())];
    for (name, named) in &config.upstreams {
        let path = vec!["upstreams".to_owned(), name.clone(), "url".to_owned()];
        let at = |what, remedy: &str| Finding {
            keys: vec![path[..2].to_vec(), path.clone()],
            what,
            remedy: remedy.to_owned(),
        };
        let segment = |c: char| c.is_ascii_alphanumeric() || "-_.~".contains(c);
        if name.is_empty() || !name.chars().all(segment) {
            let what = format!("the upstream name {name:?} cannot stand in a path");
            rules.problem(at(what, "use letters, digits, `-`, `_` and `.`; it is reached as /NAME/v1/..."));
        } else if name == "v1" {
            let what = "an upstream cannot be called \"v1\": that is where every API path begins".to_owned();
            rules.problem(at(what, "choose another name"));
        } else if named.url.is_empty() {
            rules.problem(at(format!("`{}` is not set", dotted(&path)), "a named upstream needs a URL"));
        }
        all.push((path, named.url.as_str()));
    }
    if !config.pruning.summary.base_url.is_empty() {
        let path = ["pruning", "summary", "base_url"].map(str::to_owned).to_vec();
        all.push((path, config.pruning.summary.base_url.as_str()));
    }
    for (path, url) in all {
        let key = dotted(&path);
        let mock = url == MOCK && key == "upstream.url";
        if url.is_empty() || mock {
            continue;
        }
        if let Err((what, remedy)) = usable(url, config) {
            let what = format!("`{key}` {what}: {:?}", redact(url));
            rules.problem(Finding { keys: vec![path], what, remedy });
        }
    }
}

/// Whether requests can be sent to a URL; else what is wrong with it and the remedy.
fn usable(text: &str, config: &Config) -> Result<(), (String, String)> {
    const EXAMPLE: &str = "for example https://openrouter.ai/api/v1 or http://127.0.0.1:11434";
    let wrong = |what: &str, remedy: &str| Err((what.to_owned(), remedy.to_owned()));
    let url = match Url::parse(text) {
        Ok(url) => url,
        Err(url::ParseError::RelativeUrlWithoutBase) => return wrong("lacks http:// or https://", EXAMPLE),
        Err(error) => return wrong(&format!("is not a URL ({error})"), EXAMPLE),
    };
    if !matches!(url.scheme(), "http" | "https") {
        // `localhost:8080` parses as a URL of the scheme `localhost`
        return wrong("does not begin with http:// or https://", EXAMPLE);
    }
    if url.fragment().is_some() || url.query().is_some() {
        return wrong(
            "has a query or a fragment",
            "give the base URL only; the client's own query is passed on",
        );
    }
    if ["/chat/completions", "/responses", "/messages"].iter().any(|end| url.path().ends_with(end)) {
        return wrong("names an endpoint", "give the base URL only, without /chat/completions and the like");
    }
    let host = url.host_str().unwrap_or_default();
    if let (Some(port), Some(own)) = (url.port_or_known_default(), address::port(&config.listen)) {
        let here = ["localhost", "127.0.0.1", "[::1]", "0.0.0.0"].contains(&host);
        if here && port == own {
            return wrong(
                "is this proxy itself (`listen`)",
                "give the address of the API, or listen elsewhere; agents are pointed at `listen`",
            );
        }
    }
    Ok(())
}

fn sizes(config: &Config, rules: &mut Rules<'_>) {
    let limit = config.server.max_body_bytes;
    if limit < SMALLEST_BODY_LIMIT {
        rules.problem(finding(
            "server.max_body_bytes",
            format!("`server.max_body_bytes` is too small: {limit} bytes"),
            format!("at least {SMALLEST_BODY_LIMIT} (64 MiB): agents send images and whole files"),
        ));
    }
    for (key, value) in [
        ("upstream.connect_timeout_ms", config.upstream.connect_timeout_ms),
        ("upstream.first_byte_timeout_ms", config.upstream.first_byte_timeout_ms),
        ("upstream.idle_timeout_ms", config.upstream.idle_timeout_ms),
        ("sessions.max_sessions", config.sessions.max_sessions),
        ("sessions.max_bytes", config.sessions.max_bytes),
        ("sessions.idle_ms", config.sessions.idle_ms),
    ] {
        if value == 0 {
            rules.problem(finding(key, format!("`{key}` must be greater than 0"), ""));
        } else if key.ends_with("_timeout_ms") && value < 100 {
            let what = format!("`{key}` is only {value} milliseconds");
            rules.warning(finding(key, what, "the unit is milliseconds: 10 seconds are 10000"));
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
