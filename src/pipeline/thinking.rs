//! Signed thinking that an edit in front of it made invalid: first it is left out, which the API allows; if that is
//! refused too, the client's own bytes go.

use std::sync::Arc;

use super::prepare::marks;
use super::request::{Kept, Lesson};
use super::{Bypass, Cause, Mode, Outcome, Pipeline, Recovery, Turn};
use crate::model::{EditSet, Ledger};
use crate::prune::Planner;
use crate::session::{Session, Thinking};

impl Pipeline {
    /// What to send after the provider refused edits because of signed thinking. `None` when there were none, so
    /// that the refusal is the client's to answer, or when its own bytes were sent already.
    pub(super) async fn give_way(&self, turn: &mut Turn) -> Option<Recovery> {
        if self.mode != Mode::Prune || turn.kept.as_ref().is_none_or(|kept| kept.edits.is_empty()) {
            return None;
        }
        let Kept { reading, edits, sizes } = turn.kept.take()?;
        let transcript = &reading.decoded.transcript;
        let mut refused = Ledger::default();
        refused.remember(&edits, transcript);
        turn.refusals += 1;
        let first = edits.first_change_since(&EditSet::default()).filter(|_| turn.refusals == 1);
        let without = first.and_then(|first| turn.codec.without_reasoning(&reading.decoded, &edits, first));
        let (edits, outcome) = match without {
            Some(without) => {
                let change = |session: &mut Session| {
                    Arc::make_mut(&mut session.ledger).remember(&without, transcript);
                };
                self.update(&turn.key, turn.explicit_id.as_deref(), change).await.ok()?;
                turn.lesson = Some(Lesson::LeftOut);
                (without, Outcome::Pruned)
            }
            None => {
                turn.lesson = Some(Lesson::Kept(refused));
                turn.pruned = false;
                turn.saved = 0;
                (EditSet::default(), Outcome::Bypassed(Bypass::Thinking))
            }
        };
        turn.estimate = sizes.as_ref().map(|sizes| Planner::estimate(sizes, &edits));
        turn.marks = marks(&reading, sizes.as_deref(), &edits);
        let body = turn.codec.render(&reading.decoded, &edits);
        turn.kept = Some(Kept { reading, edits, sizes });
        Some(Recovery {
            body,
            outcome,
            cause: Cause::Thinking,
            asked: None,
            limit: None,
            tokens_after: None,
            prune: None,
            pruned: Vec::new(),
        })
    }
}

impl Turn {
    /// What an accepted answer teaches of signed thinking with this model.
    pub(super) fn thinking(&self) -> Option<Thinking> {
        self.lesson.as_ref().map(|lesson| match lesson {
            Lesson::LeftOut => Thinking::LeftOut,
            Lesson::Kept(_) => Thinking::Kept,
        })
    }

    /// Takes what an accepted answer taught into the session.
    pub(super) fn learn(&self, session: &mut Session) {
        if let Some(thinking) = self.thinking() {
            session.thinking.insert(self.model.clone(), thinking);
        }
        if let Some(Lesson::Kept(refused)) = &self.lesson {
            Arc::make_mut(&mut session.ledger).forget(refused);
        }
    }
}
