use super::prepare::label;
use super::{Pipeline, Settled, Turn, UsageUpdate};
use crate::model::Usage;
use crate::session::{Anchor, Session};

impl Pipeline {
    /// Absorbs what an answer told, at its end. A failed request moves no figure and no baseline. Returns what was
    /// learnt, if the answer told its input size.
    pub async fn settle(&self, turn: Turn, settled: Settled) -> Option<UsageUpdate> {
        let is_success = (200..300).contains(&settled.status);
        let usage = if is_success { settled.end.usage } else { Usage::default() };
        let change = |session: &mut Session| {
            session.requests += 1;
            session.model.clone_from(&turn.model);
            session.saved_tokens += turn.saved;
            if is_success {
                turn.learn(session);
                absorb(session, &turn, usage);
            }
        };
        if let Some(thinking) = turn.thinking().filter(|_| is_success) {
            self.learnt.thinking_is(&turn.upstream, &turn.model, thinking);
        }
        if let Err(error) = self.update(&turn.key, turn.explicit_id.as_deref(), change).await {
            tracing::warn!(error = &error as &dyn std::error::Error, "usage could not be stored");
        }
        Some(UsageUpdate {
            session: label(&turn.key, turn.explicit_id.as_deref()),
            input_tokens: usage.input?,
            cache_read_tokens: usage.cache_read,
            output_tokens: usage.output,
            expected_tokens: turn.estimate.map(|estimate| (estimate as f64 * turn.standing.ratio) as u64),
            model: turn.model,
        })
    }
}

fn absorb(session: &mut Session, turn: &Turn, usage: Usage) {
    let line = turn.standing.line.unwrap_or_else(|| {
        session.lines += 1;
        session.lines
    });
    let continues = turn.standing.line.is_some() || turn.is_continued;
    // A side request, such as one for a title, is one request long; only a line that goes on becomes the main one.
    let is_main = session.main_line.is_none_or(|main| main == line || continues);
    if is_main && usage.input.is_some() {
        session.main_line = Some(line);
        session.usage.merge(usage);
    }
    let measured = usage.input.filter(|_| !turn.is_continued);
    if let (Some(real), Some(estimate)) = (measured, turn.estimate) {
        session.learn_ratio(&turn.model, real, estimate);
    }
    let size = match (measured, turn.estimate) {
        (Some(real), _) => Some((real, true)),
        (None, Some(estimate)) => Some(((estimate as f64 * turn.standing.ratio) as u64, false)),
        (None, None) => None,
    };
    // A request that carries edits another one made meanwhile begins where that prune left off.
    let is_pruned = turn.pruned || (turn.saved > 0 && turn.standing.baseline.is_none());
    let baseline = if is_pruned { size.or(turn.standing.baseline) } else { turn.standing.baseline };
    let ratio = session.ratio(&turn.model).value();
    // Shortest first, so that the longest is the last to be forgotten.
    for mark in turn.marks.iter().rev() {
        let behind = (mark.behind as f64 * ratio) as u64;
        session.anchors.insert(Anchor {
            prefix: mark.prefix,
            items: mark.items,
            model: turn.model.clone(),
            real: measured.map(|real| real.saturating_sub(behind)),
            estimate: turn.estimate.map(|estimate| estimate.saturating_sub(mark.behind)),
            baseline,
            line,
        });
    }
}
