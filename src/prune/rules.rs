use globset::{Glob, GlobSet, GlobSetBuilder};
use regex::{RegexSet, RegexSetBuilder};

use super::Settings;

/// The settings that are matched against names and texts, compiled.
#[derive(Debug, Clone)]
pub struct Rules {
    tools: GlobSet,
    protected: RegexSet,
    observations: RegexSet,
}

/// A pattern in the settings that does not compile.
#[derive(Debug, thiserror::Error)]
pub enum RuleError {
    /// A tool name pattern.
    #[error("protect_tools[{index}] is not a name pattern")]
    Glob {
        /// Position in the list, from 0.
        index: usize,
        /// What the compiler says.
        #[source]
        source: globset::Error,
    },
    /// A regular expression.
    #[error("{key}[{index}] is not a regular expression")]
    Regex {
        /// The key of the list.
        key: &'static str,
        /// Position in the list, from 0.
        index: usize,
        /// What the compiler says.
        #[source]
        source: regex::Error,
    },
}

impl Rules {
    /// Compiles the patterns of `settings`.
    ///
    /// # Errors
    /// Names the first pattern that does not compile.
    pub fn new(settings: &Settings) -> Result<Self, RuleError> {
        Self::all(settings).map_err(|mut problems| problems.swap_remove(0))
    }

    /// Compiles the patterns of `settings`.
    ///
    /// # Errors
    /// Names every pattern that does not compile.
    pub fn all(settings: &Settings) -> Result<Self, Vec<RuleError>> {
        let mut problems = Vec::new();
        let mut tools = GlobSetBuilder::new();
        for (index, pattern) in settings.protect_tools.iter().enumerate() {
            match Glob::new(pattern) {
                Ok(glob) => drop(tools.add(glob)),
                Err(source) => problems.push(RuleError::Glob { index, source }),
            }
        }
        let protected = regexes("protect_patterns", &settings.protect_patterns, &mut problems);
        let observations = regexes("observation_patterns", &settings.observation_patterns, &mut problems);
        match (tools.build(), problems.is_empty()) {
            (Ok(tools), true) => Ok(Self { tools, protected, observations }),
            (Err(source), _) => {
                problems.push(RuleError::Glob { index: 0, source });
                Err(problems)
            }
            (Ok(_), false) => Err(problems),
        }
    }

    /// Whether the output of the tool of this name is never pruned.
    pub fn protects_tool(&self, name: &str) -> bool {
        !self.tools.is_empty() && self.tools.is_match(name)
    }

    /// Whether a text is never pruned.
    pub fn protects_text(&self, text: &str) -> bool {
        !self.protected.is_empty() && self.protected.is_match(text)
    }

    /// Whether a user message is tool output.
    pub fn is_observation(&self, text: &str) -> bool {
        !self.observations.is_empty() && self.observations.is_match(text)
    }

    /// Whether any text can be an observation: when not, user texts need not be looked at.
    pub fn knows_observations(&self) -> bool {
        !self.observations.is_empty()
    }

    /// Whether any text can be protected.
    pub fn knows_protected_texts(&self) -> bool {
        !self.protected.is_empty()
    }
}

fn regexes(key: &'static str, patterns: &[String], problems: &mut Vec<RuleError>) -> RegexSet {
    for (index, pattern) in patterns.iter().enumerate() {
        if let Err(source) = regex::Regex::new(pattern) {
            problems.push(RuleError::Regex { key, index, source });
        }
    }
    RegexSetBuilder::new(patterns).build().unwrap_or_else(|_| RegexSet::empty())
}
