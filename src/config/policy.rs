use globset::Glob;
use regex::Regex;

use super::entry::{Path, dotted};
use super::validate::{Finding, Rules};
use super::{Config, Models};
use crate::prune::{DetailMode, ModelPolicy, Settings};

/// The rules of `[pruning]`, and of each model's settings laid over it.
pub(super) fn check(config: &Config, rules: &mut Rules<'_>) {
    let base = ModelPolicy { pruning: config.pruning.clone(), context_window: None };
    Policy { settings: &base.pruning, model: None }.check(rules);
    for (pattern, policy) in config.models.policies(&config.pruning) {
        let own = Own { pattern: &pattern, models: &config.models };
        let at = vec!["models".to_owned(), pattern.clone()];
        if let Err(error) = Glob::new(&pattern) {
            let what = format!("the model pattern {pattern:?} is not valid: {}", error.kind());
            rules.problem(Finding { keys: vec![at.clone()], what, remedy: GLOB_HELP.to_owned() });
        }
        if policy.context_window.is_some_and(|window| window < 1_000) {
            let key = own.path("context_window");
            let what = format!("`{}` is implausibly small", dotted(&key));
            let remedy = "the unit is tokens: a window of 128 k is 128000".to_owned();
            rules.problem(Finding { keys: vec![key], what, remedy });
        }
        Policy { settings: &policy.pruning, model: Some(own) }.check(rules);
    }
}

const GLOB_HELP: &str =
    "`*` and `?` match as in file names, `[ab]` one of these characters, `{a,b}` one of these words";

/// What one model sets for itself.
struct Own<'a> {
    pattern: &'a str,
    models: &'a Models,
}

impl Own<'_> {
    fn path(&self, name: &str) -> Path {
        ["models", self.pattern].into_iter().chain(name.split('.')).map(str::to_owned).collect()
    }

    fn sets(&self, name: &str) -> bool {
        let own = self.models.iter().find(|(pattern, _)| *pattern == self.pattern);
        let mut names = name.split('.');
        let first = names.next().and_then(|first| own?.1.get(first));
        first.and_then(|value| names.try_fold(value, |value, name| value.get(name))).is_some()
    }
}

/// Settings to check: those of `[pruning]`, or of one model.
struct Policy<'a> {
    settings: &'a Settings,
    model: Option<Own<'a>>,
}

impl Policy<'_> {
    fn check(&self, rules: &mut Rules<'_>) {
        self.numbers(rules);
        self.zones(rules);
        self.texts(rules);
        self.patterns(rules);
    }

    /// Where these values were set, or `None` when a model only inherits them: that was reported already.
    fn keys(&self, names: &[&str]) -> Option<Vec<Path>> {
        let base = |name: &&str| format!("pruning.{name}").split('.').map(str::to_owned).collect();
        let Some(own) = &self.model else { return Some(names.iter().map(base).collect()) };
        let (set, inherited): (Vec<&str>, Vec<&str>) = names.iter().partition(|name| own.sets(name));
        let set_here = set.iter().map(|name| own.path(name));
        (!set.is_empty()).then(|| inherited.iter().map(base).chain(set_here).collect())
    }

    fn problem(&self, rules: &mut Rules<'_>, names: &[&str], what: String, remedy: &str) {
        if let Some(keys) = self.keys(names) {
            rules.problem(Finding { keys, what, remedy: remedy.to_owned() });
        }
    }

    fn warning(&self, rules: &mut Rules<'_>, names: &[&str], what: String, remedy: &str) {
        if let Some(keys) = self.keys(names) {
            rules.warning(Finding { keys, what, remedy: remedy.to_owned() });
        }
    }

    fn numbers(&self, rules: &mut Rules<'_>) {
        let s = self.settings;
        let threshold = s.pruning_threshold;
        let name = "pruning_threshold";
        if !threshold.is_finite() || threshold <= 0.0 {
            let what = format!("`pruning_threshold` must be greater than 0, found {threshold}");
            let remedy = "a number of tokens (80000), or below 1 a share of the model's window (0.8); \
                          mode = \"off\" switches pruning off";
            self.problem(rules, &[name], what, remedy);
        } else if threshold >= 1.0 {
            if threshold <= 100.0 {
                let what = format!("`pruning_threshold` is only {threshold} tokens");
                self.warning(
                    rules,
                    &[name],
                    what,
                    "below 1 it is a share of the model's window: 80 % is 0.8",
                );
            }
            if s.keep_recent_tokens as f64 >= threshold {
                let what = format!(
                    "`keep_recent_tokens` ({}) is not below `pruning_threshold` ({threshold}): little or nothing \
                     can be pruned",
                    s.keep_recent_tokens
                );
                self.warning(rules, &[name, "keep_recent_tokens"], what, "keep less, or prune later");
            }
            if s.threshold_when_cold as f64 > threshold {
                let what = format!(
                    "`threshold_when_cold` ({}) is above `pruning_threshold` ({threshold})",
                    s.threshold_when_cold
                );
                let remedy =
                    "it is a lower threshold for when pruning costs no cached prefix; 0 switches it off";
                self.problem(rules, &[name, "threshold_when_cold"], what, remedy);
            }
        }
        if !(s.prune_to > 0.0 && s.prune_to <= 1.0) {
            let what = format!("`prune_to` must be above 0 and at most 1, found {}", s.prune_to);
            self.problem(rules, &["prune_to"], what, "it is a share of `pruning_threshold`");
        }
        for (name, value) in [
            ("pruning_timeout_ms", s.pruning_timeout_ms),
            ("cache_lifetime_ms", s.cache_lifetime_ms),
            ("image_tokens", u64::from(s.image_tokens)),
        ] {
            if value == 0 {
                self.problem(rules, &[name], format!("`{name}` must be greater than 0"), "");
            }
        }
        if s.summary.timeout_ms == 0 {
            let what = "`summary.timeout_ms` must be greater than 0".to_owned();
            self.problem(rules, &["summary.timeout_ms"], what, "");
        }
    }

    fn zones(&self, rules: &mut Rules<'_>) {
        let s = self.settings;
        let starts = [
            ("soft_threshold", s.soft_threshold),
            ("hard_threshold", s.hard_threshold),
            ("detail_threshold", s.detail_threshold),
        ];
        for (name, value) in starts {
            if !value.is_finite() || value < 0.0 {
                let what = format!("`{name}` must be 0 or more, found {value}");
                let remedy = "below 1 a share of all message tokens, from 1 on a number of tokens; \
                              1000000000 keeps a stage from ever starting";
                self.problem(rules, &[name], what, remedy);
            }
        }
        for pair in starts.windows(2) {
            let [(first, start), (next, then)] = [pair[0], pair[1]];
            // A share and a distance cannot be compared before the request is known.
            let same_axis = (start < 1.0) == (then < 1.0);
            if same_axis && start > then {
                let what = format!("`{first}` ({start}) is above `{next}` ({then})");
                let remedy =
                    "the stages start in this order: soft_threshold, hard_threshold, detail_threshold";
                self.problem(rules, &[first, next], what, remedy);
            }
        }
        if s.detail_pruning_mode == DetailMode::ModelSummary {
            let what =
                "summaries by a model do not exist yet: `default` is used for \"model_summary\"".to_owned();
            self.warning(rules, &["detail_pruning_mode"], what, "");
        }
        if let Some(own) = starts.iter().find(|(_, value)| *value > 1.0 && *value <= 100.0) {
            let (name, value) = own;
            let what = format!("`{name}` is only {value} tokens");
            self.warning(rules, &[name], what, "below 1 it is a share of all message tokens: 85 % is 0.85");
        }
    }

    fn texts(&self, rules: &mut Rules<'_>) {
        let s = self.settings;
        let trim = &s.soft_trim;
        if trim.head_chars.saturating_add(trim.tail_chars) > trim.max_chars {
            let what = format!(
                "`head_chars` ({}) and `tail_chars` ({}) together exceed `max_chars` ({})",
                trim.head_chars, trim.tail_chars, trim.max_chars
            );
            let keys = ["soft_trim.head_chars", "soft_trim.tail_chars", "soft_trim.max_chars"];
            self.problem(rules, &keys, what, "trimmed output would be longer than what is left alone");
        }
        for (name, text) in [
            ("hard_clear_placeholder", &s.hard_clear_placeholder),
            ("detail_placeholder", &s.detail_placeholder),
        ] {
            if text.trim().is_empty() {
                let what = format!("`{name}` must not be empty");
                self.problem(rules, &[name], what, "some providers refuse empty tool output");
            }
        }
    }

    fn patterns(&self, rules: &mut Rules<'_>) {
        let s = self.settings;
        for tool in &s.protect_tools {
            if let Err(error) = Glob::new(tool) {
                let what =
                    format!("`protect_tools` has a pattern that is not valid: {tool:?}: {}", error.kind());
                self.problem(rules, &["protect_tools"], what, GLOB_HELP);
            }
        }
        for (name, list) in
            [("protect_patterns", &s.protect_patterns), ("observation_patterns", &s.observation_patterns)]
        {
            for pattern in list {
                if let Err(error) = Regex::new(pattern) {
                    let what = format!("`{name}` has an entry that is no regular expression: {pattern:?}");
                    self.problem(rules, &[name], what, &error.to_string());
                }
            }
        }
    }
}
