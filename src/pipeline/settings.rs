use serde::{Deserialize, Serialize};

use crate::prune::ModelPolicy;

/// What the pipeline does with requests: the top-level `mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Prune.
    #[default]
    Prune,
    /// Plan and report; forward unchanged.
    Observe,
    /// Forward everything unread.
    Off,
}

/// Everything the pipeline is told.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// What to do with requests.
    pub mode: Mode,
    /// The settings for models that no pattern names.
    pub default: ModelPolicy,
    /// `[models."PATTERN"]` in the order of the file: the first pattern that matches a model's name counts.
    pub models: Vec<(String, ModelPolicy)>,
    /// What the debug options ask for.
    pub debug: DebugSettings,
}

/// The debug options, by the names of the ancestor plugin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DebugSettings {
    /// Show what each prune changed: previews of the text before and after. Off, no message text is ever shown.
    pub debug_pruning_io: bool,
    /// Show what the summary model was asked and answered.
    pub debug_summary_io: bool,
    /// A file to append these to, one JSON object a line; empty means the log.
    pub debug_log_file: String,
    /// Longest preview, in characters.
    pub debug_preview_chars: usize,
}

impl Default for DebugSettings {
    fn default() -> Self {
        Self {
            debug_pruning_io: false,
            debug_summary_io: false,
            debug_log_file: String::new(),
            debug_preview_chars: 200,
        }
    }
}
