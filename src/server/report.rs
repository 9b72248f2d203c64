use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use tracing::{debug, info, warn};

use super::Door;
use super::refusal::{Refusal, with_causes};
use crate::pipeline::{Bypass, Outcome, Quiet, Receipt, UsageUpdate};
use crate::tap::{Ending, TapEnd};
use crate::telemetry::{Answer, Metrics, NO_FORMAT, Request};
use crate::upstream::UpstreamError;

/// It was decided what is sent for a request. A prune or a bypass is logged now; that nothing was to be done is
/// logged when the answer has ended, off the request's path.
pub(super) fn prepared(metrics: &Metrics, receipt: &Receipt, took: Duration) {
    // What was only observed did not happen: the request goes on as it came.
    let observed = receipt.outcome == Outcome::Unchanged(Quiet::Observed);
    metrics.prepared(&Request {
        format: format(receipt),
        outcome: receipt.outcome.as_str(),
        reason: receipt.outcome.reason().unwrap_or(""),
        tokens_before: receipt.tokens_before,
        tokens_after: if observed { receipt.tokens_before } else { receipt.tokens_after },
        replayed: receipt.replayed,
        pruned: if observed { &[] } else { &receipt.pruned },
        prepare_us: took.as_micros() as u64,
    });
    match receipt.outcome {
        Outcome::Bypassed(bypass) => bypassed(receipt, bypass),
        Outcome::Pruned if receipt.prune.is_some() => pruned(receipt),
        Outcome::Unchanged(Quiet::Observed) => pruned(receipt),
        Outcome::Pruned | Outcome::Unchanged(_) => {}
    }
}

fn bypassed(receipt: &Receipt, bypass: Bypass) {
    let (session, model, reason) = (receipt.session.as_str(), model(receipt), bypass.as_str());
    match bypass {
        Bypass::Off | Bypass::OtherPath => debug!(session, model, reason, "bypass"),
        Bypass::Coding | Bypass::Undecodable => info!(session, model, reason, "bypass"),
        Bypass::Store | Bypass::Timeout | Bypass::Panicked | Bypass::Thinking => {
            warn!(session, model, reason, "bypass");
        }
    }
}

fn pruned(receipt: &Receipt) {
    let edits: usize = receipt.pruned.iter().map(|(_, edits, _)| edits).sum();
    let stages: Vec<_> = receipt.pruned.iter().map(|(stage, edits, _)| format!("{stage}:{edits}")).collect();
    info!(
        session = receipt.session,
        model = model(receipt),
        number = receipt.prune,
        before = receipt.tokens_before,
        after = receipt.tokens_after,
        edits,
        stages = stages.join(","),
        replayed = receipt.replayed,
        observed = (receipt.prune.is_none()).then_some(true),
        "prune"
    );
}

/// A request was sent again because it was too large, and this is what came of it.
pub(super) fn recovered(metrics: &Metrics, receipt: &Receipt, tries: u32, status: StatusCode) {
    metrics.recovered(if status.is_success() { "accepted" } else { "refused" });
    info!(
        session = receipt.session,
        model = model(receipt),
        tries,
        status = status.as_u16(),
        before = receipt.tokens_before,
        after = receipt.tokens_after,
        "recover"
    );
}

/// A request that was to be sent again was not answered: the client gets the answer to the one before.
pub(super) fn resend_failed(metrics: &Metrics, receipt: &Receipt, error: &UpstreamError) {
    metrics.recovered("failed");
    metrics.upstream_failed(error.as_str());
    let cause = with_causes(error, 0);
    warn!(
        session = receipt.session,
        model = model(receipt),
        cause,
        "recover: the smaller request got no answer"
    );
}

/// The answer to a conversation ended.
pub(super) fn ended(metrics: &Metrics, receipt: &Receipt, status: StatusCode, total: Duration, end: &TapEnd) {
    let ending = name(end.ending);
    let status = status.as_u16();
    metrics.ended(&Answer { model: &receipt.model, usage: end.usage, total, ending });
    if let Outcome::Unchanged(quiet) = receipt.outcome {
        let tokens = receipt.tokens_before;
        let (session, model, reason) = (receipt.session.as_str(), model(receipt), quiet.as_str());
        info!(session, model, reason, tokens, "skip");
    }
    let ms = total.as_millis() as u64;
    debug!(session = receipt.session, status, ending, bytes = end.bytes, ms, "answer");
}

/// What an answer said of usage was absorbed.
pub(super) fn settled(update: &UsageUpdate) {
    info!(
        session = update.session,
        model = shown(&update.model),
        input_tokens = update.input_tokens,
        cached_tokens = update.cache_read_tokens,
        output_tokens = update.output_tokens,
        expected_tokens = update.expected_tokens,
        source = "provider",
        "usage_update"
    );
}

/// A request that is no conversation was answered.
pub(super) fn passed(metrics: &Metrics, path: &str, status: StatusCode, after: Duration) {
    let outcome = Outcome::Bypassed(Bypass::OtherPath);
    metrics.passed(outcome.as_str(), outcome.reason().unwrap_or(""));
    metrics.answered(NO_FORMAT, status.as_u16(), after);
    debug!(path, status = status.as_u16(), reason = Bypass::OtherPath.as_str(), "bypass");
}

/// The answer to a request that is no conversation ended.
pub(super) fn ended_unread(metrics: &Metrics, status: StatusCode, total: Duration, end: &TapEnd) {
    let ending = name(end.ending);
    metrics.ended_unread(ending);
    debug!(status = status.as_u16(), ending, bytes = end.bytes, ms = total.as_millis() as u64, "answer");
}

/// A client got an answer of ours.
pub(super) fn refused(metrics: &Metrics, refusal: &Refusal) {
    let (status, code) = (refusal.status().as_u16(), refusal.code());
    match refusal {
        Refusal::Upstream { upstream, error } => {
            metrics.upstream_failed(error.as_str());
            warn!(status, code, upstream, cause = with_causes(error, 0), "no answer from the upstream");
        }
        Refusal::WebSocket => debug!(status, code, "refused"),
        Refusal::Body(_) | Refusal::Target(_) | Refusal::Panicked => {
            info!(status, code, cause = with_causes(refusal, 0), "refused");
        }
    }
}

/// Tells once when an answer breaks off. Its head has gone, so all that is left is to cut the client off as well.
pub(super) fn on_break(
    door: &Arc<Door>,
) -> impl FnMut(UpstreamError) -> UpstreamError + Send + Unpin + 'static {
    let metrics = Arc::clone(&door.metrics);
    move |error| {
        metrics.upstream_failed(error.as_str());
        warn!(
            code = error.as_str(),
            cause = with_causes(&error, 0),
            "an answer broke off; the client was cut off"
        );
        error
    }
}

/// The label of a receipt's wire format.
pub(super) fn format(receipt: &Receipt) -> &'static str {
    receipt.format.map_or(NO_FORMAT, crate::wire::WireFormat::as_str)
}

fn model(receipt: &Receipt) -> &str {
    shown(&receipt.model)
}

/// A model's name as it is logged: clients may send any text there.
fn shown(model: &str) -> &str {
    const LONGEST: usize = 100;
    &model[..model.floor_char_boundary(LONGEST)]
}

fn name(ending: Ending) -> &'static str {
    match ending {
        Ending::Complete => "complete",
        Ending::Failed => "failed",
        Ending::Cancelled => "cancelled",
    }
}
