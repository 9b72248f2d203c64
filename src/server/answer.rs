use axum::response::{IntoResponse as _, Response};
use http::header::{CONTENT_TYPE, HeaderMap};
use http::{HeaderName, HeaderValue, StatusCode};
use serde_json::Value;

use crate::pipeline::{Outcome, Quiet, Receipt};

/// What was done with the request: `unchanged`, `pruned`, `bypassed` or `error`, and the reason.
pub(super) const OUTCOME: HeaderName = HeaderName::from_static("x-secateur-outcome");
/// Input tokens of a pruned request as the client sent it.
const TOKENS_BEFORE: HeaderName = HeaderName::from_static("x-secateur-tokens-before");
/// Input tokens of a pruned request as it went on.
const TOKENS_AFTER: HeaderName = HeaderName::from_static("x-secateur-tokens-after");

/// What was newly pruned, by stage, such as `hard=5, soft=2`. Absent when only earlier edits were sent again.
const PRUNED: HeaderName = HeaderName::from_static("x-secateur-pruned");

/// Writes onto an answer what was done with its request.
pub(super) fn tell(headers: &mut HeaderMap, receipt: &Receipt) {
    headers.insert(OUTCOME, outcome(receipt.outcome));
    // When only observing, these are what would have been.
    if matches!(receipt.outcome, Outcome::Pruned | Outcome::Unchanged(Quiet::Observed)) {
        let figures = [(TOKENS_BEFORE, receipt.tokens_before), (TOKENS_AFTER, receipt.tokens_after)];
        for (name, figure) in figures {
            if let Some(tokens) = figure {
                headers.insert(name, HeaderValue::from(tokens));
            }
        }
        if let Some(stages) = stages(&receipt.pruned) {
            headers.insert(PRUNED, stages);
        }
    }
}

fn stages(pruned: &[(&'static str, usize, u64)]) -> Option<HeaderValue> {
    let named: Vec<_> = pruned.iter().map(|(stage, edits, _)| format!("{stage}={edits}")).collect();
    let value = || HeaderValue::try_from(named.join(", ")).expect("names of stages are plain ASCII");
    (!named.is_empty()).then(value)
}

/// The outcome's value, such as `unchanged; reason=below_threshold`.
pub(super) fn outcome(outcome: Outcome) -> HeaderValue {
    let Some(reason) = outcome.reason() else { return HeaderValue::from_static(outcome.as_str()) };
    HeaderValue::try_from(format!("{}; reason={reason}", outcome.as_str()))
        .expect("names of outcomes and reasons are plain ASCII")
}

/// An answer of ours.
pub(super) fn json(status: StatusCode, body: &Value) -> Response {
    (status, [(CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}

/// A header's value as text; `None` when it is absent or no text.
pub(super) fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::Bypass;

    #[test]
    fn the_reason_follows_the_outcome() {
        assert_eq!(outcome(Outcome::Pruned), "pruned");
        assert_eq!(outcome(Outcome::Unchanged(Quiet::Cooldown)), "unchanged; reason=cooldown");
        assert_eq!(outcome(Outcome::Bypassed(Bypass::OtherPath)), "bypassed; reason=other_path");
    }
}
