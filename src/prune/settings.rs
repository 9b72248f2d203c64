use serde::{Deserialize, Serialize};

/// What to prune, when and how far: the `[pruning]` table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// A request of this many tokens or more is pruned. Below 1 it is a share of the model's window.
    pub pruning_threshold: f64,
    /// Tokens by which a conversation must grow after a prune before the next one.
    pub trigger_every_n_tokens: u64,
    /// A prune goes down to this share of the threshold.
    pub prune_to: f64,
    /// The newest messages that hold this many tokens are not touched.
    pub keep_recent_tokens: u64,
    /// This many of the newest messages are not touched.
    pub keep_recent_messages: usize,
    /// Age at which tool output is trimmed. Below 1 an age is a share of all message tokens (0 newest, 1
    /// oldest), from 1 on a distance in tokens from the end.
    pub soft_threshold: f64,
    /// Age at which tool output becomes a placeholder.
    pub hard_threshold: f64,
    /// Age at which blocks become a short account.
    pub detail_threshold: f64,
    /// From which end ages are measured.
    pub zone_origin: ZoneOrigin,
    /// How the oldest blocks are accounted for.
    pub detail_pruning_mode: DetailMode,
    /// What stands for cleared tool output. `{tool}`, `{tokens}`, `{lines}` are filled in while the text is the
    /// default; a configured text is used exactly.
    pub hard_clear_placeholder: String,
    /// What stands for the output of an accounted block, in front of its conclusion. As above.
    pub detail_placeholder: String,
    /// Leave tool outputs alone that hold an image.
    pub skip_tools_with_images: bool,
    /// What an image is counted as, in tokens.
    pub image_tokens: u32,
    /// Names of tools whose output is never pruned; `*` and `?` match as in file names.
    pub protect_tools: Vec<String>,
    /// Regular expressions; tool output that matches one is never pruned.
    pub protect_patterns: Vec<String>,
    /// Regular expressions for agents without tool calls: a user message that matches one is tool output.
    pub observation_patterns: Vec<String>,
    /// Longest time planning one request may take, in milliseconds; after it the client's own bytes go on.
    pub pruning_timeout_ms: u64,
    /// A lower threshold, in tokens, for when the provider's prefix cache is surely cold. 0 switches it off.
    pub threshold_when_cold: u64,
    /// After this long without a request, in milliseconds, the provider's prefix cache counts as cold.
    pub cache_lifetime_ms: u64,
    /// How tool output is trimmed.
    pub soft_trim: SoftTrim,
    /// The model that writes short accounts.
    pub summary: SummarySettings,
}

/// How tool output is trimmed: the `[pruning.soft_trim]` table. All in characters (Unicode scalar values).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SoftTrim {
    /// Output up to this long is left alone, and trimmed output is no longer than this.
    pub max_chars: usize,
    /// How much of the beginning stays.
    pub head_chars: usize,
    /// How much of the end stays.
    pub tail_chars: usize,
}

/// The model that writes short accounts: the `[pruning.summary]` table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SummarySettings {
    /// Its id; empty means none.
    pub model: String,
    /// Longest account, in characters.
    pub max_chars: usize,
    /// Longest wait for one account, in milliseconds.
    pub timeout_ms: u64,
    /// Where it is reached; empty means the request's own upstream.
    pub base_url: String,
}

/// From which end ages are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ZoneOrigin {
    /// Older is pruned harder.
    Newest,
    /// Measured from the start, as the ancestor plugin does: newer is pruned harder.
    Oldest,
}

/// How the oldest blocks are accounted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DetailMode {
    /// Calls stay; of each output its conclusion.
    Default,
    /// The block's last reply stays; the rest is cleared.
    KeepLastReply,
    /// A short account by a model.
    ModelSummary,
}

/// The default of `hard_clear_placeholder`.
pub const HARD_PLACEHOLDER: &str =
    "[old {tool} output cleared: {tokens} tokens, {lines} lines; call again if needed]";
/// The default of `detail_placeholder`.
pub const DETAIL_PLACEHOLDER: &str = "[old {tool} output, {tokens} tokens, in brief]";

impl Default for Settings {
    fn default() -> Self {
        Self {
            pruning_threshold: 80_000.0,
            trigger_every_n_tokens: 5_000,
            prune_to: 0.6,
            keep_recent_tokens: 10_000,
            keep_recent_messages: 10,
            soft_threshold: 0.7,
            hard_threshold: 0.85,
            detail_threshold: 0.95,
            zone_origin: ZoneOrigin::Newest,
            detail_pruning_mode: DetailMode::Default,
            hard_clear_placeholder: HARD_PLACEHOLDER.to_owned(),
            detail_placeholder: DETAIL_PLACEHOLDER.to_owned(),
            skip_tools_with_images: true,
            image_tokens: 1_000,
            protect_tools: Vec::new(),
            protect_patterns: Vec::new(),
            observation_patterns: Vec::new(),
            pruning_timeout_ms: 20_000,
            threshold_when_cold: 0,
            cache_lifetime_ms: 3_600_000,
            soft_trim: SoftTrim::default(),
            summary: SummarySettings::default(),
        }
    }
}

impl Default for SoftTrim {
    fn default() -> Self {
        Self { max_chars: 4_000, head_chars: 1_500, tail_chars: 1_500 }
    }
}

impl Default for SummarySettings {
    fn default() -> Self {
        Self { model: String::new(), max_chars: 600, timeout_ms: 20_000, base_url: String::new() }
    }
}

/// The settings for one model: those of `[pruning]` with the model's own laid over them.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ModelPolicy {
    /// What to prune, when and how far.
    pub pruning: Settings,
    /// The model's window in tokens, when configured.
    pub context_window: Option<u64>,
}
