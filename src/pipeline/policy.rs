use std::sync::Arc;

use globset::{Glob, GlobMatcher};

use super::Settings;
use crate::prune::{ModelPolicy, RuleError, Rules};

/// What holds for one model, compiled.
#[derive(Debug)]
pub(super) struct Policy {
    pub(super) pruning: crate::prune::Settings,
    pub(super) rules: Rules,
    pub(super) window: Option<u64>,
}

/// All policies, by model name.
pub(super) struct Policies {
    default: Arc<Policy>,
    models: Vec<(GlobMatcher, Arc<Policy>)>,
}

/// Settings that cannot be obeyed.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// A pattern in the pruning settings.
    #[error("a pruning pattern does not compile")]
    Rule(#[from] RuleError),
    /// A model name pattern.
    #[error("models.{pattern:?} is not a name pattern")]
    Model {
        /// The pattern.
        pattern: String,
        /// What the compiler says.
        #[source]
        source: globset::Error,
    },
}

impl Policies {
    pub(super) fn new(settings: &Settings) -> Result<Self, PolicyError> {
        let compile = |policy: &ModelPolicy| -> Result<_, RuleError> {
            Ok(Arc::new(Policy {
                pruning: policy.pruning.clone(),
                rules: Rules::new(&policy.pruning)?,
                window: policy.context_window,
            }))
        };
        let model = |(pattern, policy): &(String, ModelPolicy)| -> Result<_, PolicyError> {
            let source = |source| PolicyError::Model { pattern: pattern.clone(), source };
            Ok((Glob::new(pattern).map_err(source)?.compile_matcher(), compile(policy)?))
        };
        Ok(Self {
            default: compile(&settings.default)?,
            models: settings.models.iter().map(model).collect::<Result<_, _>>()?,
        })
    }

    /// The policy of the first pattern that matches the model's name.
    pub(super) fn of(&self, model: &str) -> &Arc<Policy> {
        self.models.iter().find(|(name, _)| name.is_match(model)).map_or(&self.default, |(_, policy)| policy)
    }
}
