use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use metrics::{Counter, Gauge, Histogram, Key, KeyName, Label, Level, Metadata, Recorder as _, Unit};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle, PrometheusRecorder};

use super::family::Family;
use super::names::{
    ANSWERS, CACHED_TOKENS, COUNTERS, EDIT_TOKENS, EDITS, ENDINGS, EVICTED, HEAD, HISTOGRAMS, IN_FLIGHT,
    INPUT_TOKENS, LONG_BUCKETS, OPERATION, PREPARE, PRUNES, RECOVERIES, REPLAYED, REQUESTS, SESSION_BYTES,
    SESSIONS, SHORT_BUCKETS, TOKEN_BUCKETS, TOKEN_USAGE, UPSTREAM_ERRORS,
};
use crate::model::Usage;

/// All metrics of one running proxy: one function a fact.
pub struct Metrics {
    recorder: PrometheusRecorder,
    handle: PrometheusHandle,
    in_flight: Gauge,
    requests: Family<[&'static str; 3], Counter>,
    formats: Family<&'static str, PerFormat>,
    models: Family<String, PerModel>,
    stages: Family<&'static str, PerStage>,
    recoveries: Family<&'static str, Counter>,
    upstream_errors: Family<&'static str, Counter>,
    answers: Family<u16, Counter>,
    endings: Family<&'static str, Counter>,
    samples: AtomicU64,
}

/// A request as it was prepared.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The wire format, or [`NO_FORMAT`].
    pub format: &'static str,
    /// `unchanged`, `pruned`, `bypassed`.
    pub outcome: &'static str,
    /// The reason of the outcome, or empty.
    pub reason: &'static str,
    /// Input tokens as the client sent it.
    pub tokens_before: Option<u64>,
    /// Input tokens as it goes on.
    pub tokens_after: Option<u64>,
    /// Edits replayed from earlier prunes.
    pub replayed: usize,
    /// New edits: stage or rung, how many, tokens saved.
    pub pruned: &'a [(&'static str, usize, u64)],
    /// Time that preparing took, in microseconds.
    pub prepare_us: u64,
}

/// What the session store holds.
#[derive(Debug, Clone, Copy)]
pub struct Sessions {
    /// Sessions remembered.
    pub kept: u64,
    /// Bytes they take, about.
    pub bytes: u64,
    /// Sessions ever forgotten, by cause.
    pub evicted: [(&'static str, u64); 2],
}

/// An answer, at its end.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    /// The model that was asked for; empty when unknown.
    pub model: &'a str,
    /// What the answer said of usage.
    pub usage: Usage,
    /// From the request's arrival to the answer's last byte.
    pub total: Duration,
    /// `complete`, `failed`, `cancelled`.
    pub ending: &'static str,
}

#[derive(Clone)]
struct PerFormat {
    before: Counter,
    after: Counter,
    prunes: Counter,
    replayed: Counter,
    prepare: Histogram,
    head: Histogram,
}

#[derive(Clone)]
struct PerModel {
    input: Histogram,
    output: Histogram,
    cache_read: Counter,
    cache_write: Counter,
    duration: Histogram,
}

#[derive(Clone)]
struct PerStage {
    edits: Counter,
    tokens: Counter,
}

/// Most models that get a label of their own; the others share one. Model names come from clients.
const MOST_MODELS: usize = 64;
const OTHER_MODEL: &str = "other";
const UNKNOWN_MODEL: &str = "unknown";

/// Histograms keep every sample until they are summed up, so that is done after this many answers at the latest.
const SAMPLES_BETWEEN_UPKEEP: u64 = 4_096;

const METADATA: Metadata<'static> = Metadata::new("secateur", Level::INFO, None);

/// The `format` label of requests that have no wire format.
pub const NO_FORMAT: &str = "none";

impl Metrics {
    /// Metrics that all stand at zero.
    pub fn new() -> Self {
        let buckets = |name: &str| Matcher::Full(name.to_owned());
        let recorder = PrometheusBuilder::new()
            .set_buckets(&LONG_BUCKETS)
            .and_then(|builder| builder.set_buckets_for_metric(buckets(PREPARE), &SHORT_BUCKETS))
            .and_then(|builder| builder.set_buckets_for_metric(buckets(TOKEN_USAGE), &TOKEN_BUCKETS))
            .expect("no list of buckets is empty")
            .build_recorder();
        for (name, unit, text) in COUNTERS {
            recorder.describe_counter(KeyName::from(name), Some(unit), text.into());
        }
        for (name, unit, text) in HISTOGRAMS {
            recorder.describe_histogram(KeyName::from(name), Some(unit), text.into());
        }
        recorder.describe_gauge(SESSIONS.into(), Some(Unit::Count), "sessions remembered".into());
        recorder.describe_gauge(
            SESSION_BYTES.into(),
            Some(Unit::Bytes),
            "memory of the sessions, about".into(),
        );
        recorder.describe_gauge(IN_FLIGHT.into(), Some(Unit::Count), "requests under way".into());
        let in_flight = recorder.register_gauge(&Key::from_static_name(IN_FLIGHT), &METADATA);
        Self {
            handle: recorder.handle(),
            recorder,
            in_flight,
            requests: Family::new(),
            formats: Family::new(),
            models: Family::new(),
            stages: Family::new(),
            recoveries: Family::new(),
            upstream_errors: Family::new(),
            answers: Family::new(),
            endings: Family::new(),
            samples: AtomicU64::new(0),
        }
    }

    /// A request came in.
    pub fn arrived(&self) {
        self.in_flight.increment(1.0);
    }

    /// A request that came in is over, whatever became of it.
    pub fn left(&self) {
        self.in_flight.decrement(1.0);
    }

    /// It was decided what is sent for a request.
    pub fn prepared(&self, request: &Request<'_>) {
        self.counted([request.format, request.outcome, request.reason]);
        let format = self.format(request.format);
        format.prepare.record(request.prepare_us as f64 / 1e6);
        if let (Some(before), Some(after)) = (request.tokens_before, request.tokens_after) {
            format.before.increment(before);
            format.after.increment(after);
        }
        format.replayed.increment(request.replayed as u64);
        if !request.pruned.is_empty() {
            format.prunes.increment(1);
        }
        for (stage, edits, tokens) in request.pruned {
            let one = self.stages.get(*stage, || (*stage, self.new_stage(stage)));
            one.edits.increment(*edits as u64);
            one.tokens.increment(*tokens);
        }
    }

    /// A request that is no conversation was handed on.
    pub fn passed(&self, outcome: &'static str, reason: &'static str) {
        self.counted([NO_FORMAT, outcome, reason]);
    }

    /// An upstream answered with this status, this long after the request was sent.
    pub fn answered(&self, format: &'static str, status: u16, after: Duration) {
        let make = || (status, self.counter(ANSWERS, &["status"], &[&status.to_string()]));
        self.answers.get(&status, make).increment(1);
        self.format(format).head.record(after);
    }

    /// The answer to a conversation ended.
    pub fn ended(&self, answer: &Answer<'_>) {
        let model = self.model(answer.model);
        model.duration.record(answer.total);
        let usage = answer.usage;
        usage.input.into_iter().for_each(|tokens| model.input.record(tokens as f64));
        usage.output.into_iter().for_each(|tokens| model.output.record(tokens as f64));
        model.cache_read.increment(usage.cache_read.unwrap_or(0));
        model.cache_write.increment(usage.cache_write.unwrap_or(0));
        self.ended_unread(answer.ending);
    }

    /// The answer to a request that is no conversation ended: `complete`, `failed`, `cancelled`.
    pub fn ended_unread(&self, ending: &'static str) {
        self.endings.get(ending, || (ending, self.counter(ENDINGS, &["ending"], &[ending]))).increment(1);
        let ended = self.samples.fetch_add(1, Ordering::Relaxed) + 1;
        if ended.is_multiple_of(SAMPLES_BETWEEN_UPKEEP) {
            self.handle.run_upkeep();
        }
    }

    /// A request was sent again after an overflow: `accepted`, `refused` or `failed`.
    pub fn recovered(&self, result: &'static str) {
        let make = || (result, self.counter(RECOVERIES, &["result"], &[result]));
        self.recoveries.get(result, make).increment(1);
    }

    /// A request or an answer failed between proxy and upstream.
    pub fn upstream_failed(&self, kind: &'static str) {
        let make = || (kind, self.counter(UPSTREAM_ERRORS, &["kind"], &[kind]));
        self.upstream_errors.get(kind, make).increment(1);
    }

    /// What the session store holds.
    pub fn sessions(&self, sessions: &Sessions) {
        let gauge = |name| self.recorder.register_gauge(&Key::from_static_name(name), &METADATA);
        gauge(SESSIONS).set(sessions.kept as f64);
        gauge(SESSION_BYTES).set(sessions.bytes as f64);
        for (cause, total) in sessions.evicted {
            self.counter(EVICTED, &["cause"], &[cause]).absolute(total);
        }
    }

    /// Everything in the text format of Prometheus.
    pub fn render(&self) -> String {
        self.handle.render()
    }

    fn counted(&self, labels: [&'static str; 3]) {
        let make = || (labels, self.counter(REQUESTS, &["format", "outcome", "reason"], &labels));
        self.requests.get(&labels, make).increment(1);
    }

    fn format(&self, format: &'static str) -> PerFormat {
        self.formats.get(format, || (format, self.new_format(format)))
    }

    fn model(&self, name: &str) -> PerModel {
        let name = if name.is_empty() { UNKNOWN_MODEL } else { name };
        let (count, known) = self.models.holds(name);
        let label = if known || (count < MOST_MODELS && is_label(name)) { name } else { OTHER_MODEL };
        self.models.get(label, || (label.to_owned(), self.new_model(label)))
    }

    fn new_format(&self, format: &str) -> PerFormat {
        let tokens = |side| self.counter(INPUT_TOKENS, &["format", "side"], &[format, side]);
        PerFormat {
            before: tokens("before"),
            after: tokens("after"),
            prunes: self.counter(PRUNES, &["format"], &[format]),
            replayed: self.counter(REPLAYED, &["format"], &[format]),
            prepare: self.histogram(PREPARE, &["format"], &[format]),
            head: self.histogram(HEAD, &["format"], &[format]),
        }
    }

    fn new_model(&self, model: &str) -> PerModel {
        const MODEL: [&str; 2] = ["gen_ai_operation_name", "gen_ai_request_model"];
        let usage = |kind| {
            self.histogram(TOKEN_USAGE, &[MODEL[0], MODEL[1], "gen_ai_token_type"], &["chat", model, kind])
        };
        let cached = |access| self.counter(CACHED_TOKENS, &[MODEL[1], "access"], &[model, access]);
        PerModel {
            input: usage("input"),
            output: usage("output"),
            cache_read: cached("read"),
            cache_write: cached("write"),
            duration: self.histogram(OPERATION, &MODEL, &["chat", model]),
        }
    }

    fn new_stage(&self, stage: &str) -> PerStage {
        PerStage {
            edits: self.counter(EDITS, &["stage"], &[stage]),
            tokens: self.counter(EDIT_TOKENS, &["stage"], &[stage]),
        }
    }

    fn counter(&self, name: &'static str, labels: &[&'static str], values: &[&str]) -> Counter {
        self.recorder.register_counter(&key(name, labels, values), &METADATA)
    }

    fn histogram(&self, name: &'static str, labels: &[&'static str], values: &[&str]) -> Histogram {
        self.recorder.register_histogram(&key(name, labels, values), &METADATA)
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

fn key(name: &'static str, labels: &[&'static str], values: &[&str]) -> Key {
    let labels = labels.iter().zip(values).map(|(label, value)| Label::new(*label, (*value).to_owned()));
    Key::from_parts(name, labels.collect::<Vec<_>>())
}

/// Whether a name that a client sent looks like a model's and may stand in a label.
fn is_label(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:/@+".contains(&byte);
    name.len() <= 100 && name.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(model: &str) -> Answer<'_> {
        let usage = Usage { input: Some(500), cache_read: Some(300), ..Usage::default() };
        Answer { model, usage, total: Duration::from_millis(30), ending: "complete" }
    }

    #[test]
    fn each_fact_shows_under_its_name() {
        let metrics = Metrics::new();
        metrics.prepared(&Request {
            format: "chat",
            outcome: "pruned",
            reason: "",
            tokens_before: Some(900),
            tokens_after: Some(400),
            replayed: 2,
            pruned: &[("hard", 3, 500)],
            prepare_us: 700,
        });
        metrics.answered("chat", 200, Duration::from_millis(20));
        metrics.ended(&answer("gpt-4.1"));
        metrics.recovered("accepted");
        metrics.upstream_failed("upstream_idle");
        metrics.sessions(&Sessions { kept: 7, bytes: 9, evicted: [("full", 0), ("idle", 2)] });
        let text = metrics.render();
        for line in [
            "secateur_requests_total{format=\"chat\",outcome=\"pruned\",reason=\"\"} 1",
            "secateur_input_tokens_total{format=\"chat\",side=\"after\"} 400",
            "secateur_edit_tokens_saved_total{stage=\"hard\"} 500",
            "secateur_edits_replayed_total{format=\"chat\"} 2",
            "secateur_upstream_answers_total{status=\"200\"} 1",
            "secateur_recoveries_total{result=\"accepted\"} 1",
            "secateur_upstream_errors_total{kind=\"upstream_idle\"} 1",
            "secateur_sessions 7",
            "secateur_sessions_evicted_total{cause=\"idle\"} 2",
            "secateur_cached_input_tokens_total{gen_ai_request_model=\"gpt-4.1\",access=\"read\"} 300",
            "secateur_prepare_duration_seconds_bucket{format=\"chat\",le=\"0.001\"} 1",
            "secateur_upstream_head_duration_seconds_sum{format=\"chat\"} 0.02",
        ] {
            assert!(text.contains(line), "{line} is not in\n{text}");
        }
        assert!(text.contains("gen_ai_client_token_usage_sum{gen_ai_operation_name=\"chat\""), "{text}");
    }

    #[test]
    fn clients_cannot_make_labels_without_end() {
        let metrics = Metrics::new();
        for number in 0..500 {
            metrics.ended(&answer(&format!("model-{number}")));
        }
        metrics.ended(&answer("evil\"} 1\nmodel"));
        let text = metrics.render();
        let labelled = text.lines().filter(|line| line.contains("duration_seconds_count{")).count();
        assert_eq!(labelled, MOST_MODELS + 1);
        assert!(text.contains("gen_ai_request_model=\"other\""));
        assert!(!text.contains("evil"));
    }

    #[test]
    fn samples_do_not_pile_up_when_nobody_reads_them() {
        let metrics = Metrics::new();
        for _ in 0..=SAMPLES_BETWEEN_UPKEEP {
            metrics.ended(&answer("m"));
        }
        assert!(metrics.render().contains(&format!(
            "_count{{gen_ai_operation_name=\"chat\",gen_ai_request_model=\"m\"}} {}",
            SAMPLES_BETWEEN_UPKEEP + 1
        )));
    }
}
