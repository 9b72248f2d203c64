//! Every metric's name, unit, buckets and description. Names of the OpenTelemetry conventions for generative AI are
//! used, in Prometheus spelling, where there is one.

use metrics::Unit;

pub(super) const REQUESTS: &str = "secateur_requests_total";
pub(super) const IN_FLIGHT: &str = "secateur_requests_in_flight";
pub(super) const ANSWERS: &str = "secateur_upstream_answers_total";
pub(super) const ENDINGS: &str = "secateur_answers_ended_total";
pub(super) const INPUT_TOKENS: &str = "secateur_input_tokens_total";
pub(super) const PRUNES: &str = "secateur_prunes_total";
pub(super) const EDITS: &str = "secateur_edits_total";
pub(super) const EDIT_TOKENS: &str = "secateur_edit_tokens_saved_total";
pub(super) const REPLAYED: &str = "secateur_edits_replayed_total";
pub(super) const RECOVERIES: &str = "secateur_recoveries_total";
pub(super) const UPSTREAM_ERRORS: &str = "secateur_upstream_errors_total";
pub(super) const SESSIONS: &str = "secateur_sessions";
pub(super) const SESSION_BYTES: &str = "secateur_session_bytes";
pub(super) const EVICTED: &str = "secateur_sessions_evicted_total";
pub(super) const CACHED_TOKENS: &str = "secateur_cached_input_tokens_total";
pub(super) const PREPARE: &str = "secateur_prepare_duration_seconds";
pub(super) const HEAD: &str = "secateur_upstream_head_duration_seconds";
pub(super) const TOKEN_USAGE: &str = "gen_ai_client_token_usage";
pub(super) const OPERATION: &str = "gen_ai_client_operation_duration_seconds";

/// Name, unit, description.
pub(super) const COUNTERS: [(&str, Unit, &str); 12] = [
    (REQUESTS, Unit::Count, "requests by wire format, outcome and its reason"),
    (ANSWERS, Unit::Count, "answers of upstreams by status code"),
    (ENDINGS, Unit::Count, "answers by how they ended: complete, failed, cancelled"),
    (
        INPUT_TOKENS,
        Unit::Count,
        "input tokens of read requests, as the clients sent them and as they went on",
    ),
    (PRUNES, Unit::Count, "requests that made new edits"),
    (EDITS, Unit::Count, "new edits by stage"),
    (EDIT_TOKENS, Unit::Count, "tokens that new edits took away from their requests, by stage"),
    (REPLAYED, Unit::Count, "edits of earlier prunes that were said again"),
    (RECOVERIES, Unit::Count, "requests sent again after an overflow, by what came of it"),
    (UPSTREAM_ERRORS, Unit::Count, "requests or answers that failed between proxy and upstream, by kind"),
    (EVICTED, Unit::Count, "sessions forgotten, by cause"),
    (CACHED_TOKENS, Unit::Count, "input tokens that the provider read from or wrote to its prefix cache"),
];
pub(super) const HISTOGRAMS: [(&str, Unit, &str); 4] = [
    (PREPARE, Unit::Seconds, "time to decide what is sent"),
    (HEAD, Unit::Seconds, "time from sending a request to the head of its answer"),
    (TOKEN_USAGE, Unit::Count, "input and output tokens of one request, as the provider counts them"),
    (OPERATION, Unit::Seconds, "time from a request's arrival to its answer's last byte"),
];

pub(super) const TOKEN_BUCKETS: [f64; 12] =
    [1.0, 4.0, 16.0, 64.0, 256.0, 1024.0, 4096.0, 16_384.0, 65_536.0, 131_072.0, 262_144.0, 1_048_576.0];
pub(super) const LONG_BUCKETS: [f64; 14] =
    [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
pub(super) const SHORT_BUCKETS: [f64; 10] =
    [0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.05, 0.25];
