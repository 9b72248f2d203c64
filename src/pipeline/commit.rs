use std::sync::Arc;

use super::prepare::{Decision, Found, label};
use super::{Bypass, Mode, Outcome, Pipeline, Quiet};
use crate::model::Transcript;
use crate::prune::{Demand, Gate, Plan, Sizes};
use crate::session::{Saved, Session, SessionKey, StoreError};

/// How often a plan is made anew because another request of the session was quicker.
const TRIES: usize = 4;
/// Most statements that a ledger keeps; beyond it those without a target go.
const MOST_EDITS: usize = 10_000;

impl Pipeline {
    /// Plans, and makes the plan stand before its request leaves. When another request of the session made one in
    /// between, that one stands, and this one plans on top of it.
    pub(super) async fn commit_loop(&self, found: &Found, sizes: Arc<Sizes>) -> Decision {
        let reading = &found.reading;
        let transcript = &reading.decoded.transcript;
        let mut session = Arc::clone(&found.session);
        for _ in 0..TRIES {
            let replayed = session.ledger.replay(transcript);
            let standing = reading.standing(&session, Some(&sizes), &replayed, found.idle_ms);
            let demand = Gate(&reading.policy.pruning).decide(&standing.figures);
            let (size, ratio) = (standing.figures.size, standing.ratio);
            let plan =
                match self.plan(&found.codec, reading, &sizes, replayed.clone(), demand, size, ratio).await {
                    Ok(plan) => plan,
                    Err(bypass) => {
                        let rest = Decision::rest(replayed, standing, Some(sizes), Quiet::Cooldown);
                        return Decision { outcome: Outcome::Bypassed(bypass), ..rest };
                    }
                };
            if plan.steps.is_empty() {
                return Decision::rest(replayed, standing, Some(sizes), quiet(demand));
            }
            let seen = replayed.len();
            if self.mode == Mode::Observe {
                let outcome = Outcome::Unchanged(Quiet::Observed);
                return Decision { plan, replayed: seen, standing, sizes: Some(sizes), outcome, prune: None };
            }
            let next = remembering(&session, &plan, transcript, self.clock.now_ms());
            match self.sessions.save(&found.key, next).await {
                Ok(Saved::Stored(stored)) => {
                    let name = label(&found.key, found.explicit_id.as_deref());
                    self.debug.show_plan(&name, transcript, &plan);
                    let prune = Some(stored.prunes);
                    let outcome = Outcome::Pruned;
                    return Decision { plan, replayed: seen, standing, sizes: Some(sizes), outcome, prune };
                }
                Ok(Saved::Conflict(current)) => {
                    let begin = || Session::begin(found.explicit_id.as_deref(), self.clock.now_ms());
                    session = current.unwrap_or_else(|| Arc::new(begin()));
                }
                Err(error) => return store_failed(&error, replayed, standing, sizes),
            }
        }
        // The session is busier than it can be planned for: what stands is said again, nothing is added.
        let replayed = session.ledger.replay(transcript);
        let standing = reading.standing(&session, Some(&sizes), &replayed, found.idle_ms);
        Decision::rest(replayed, standing, Some(sizes), Quiet::Cooldown)
    }

    /// Changes what is stored of a session, whoever else changes it meanwhile.
    ///
    /// # Errors
    /// When the store does not answer.
    pub(super) async fn update(
        &self,
        key: &SessionKey,
        explicit_id: Option<&str>,
        change: impl Fn(&mut Session),
    ) -> Result<Arc<Session>, StoreError> {
        let mut current = self.sessions.load(key).await?;
        loop {
            let mut next = match &current {
                Some(session) => (**session).clone(),
                None => Session::begin(explicit_id, self.clock.now_ms()),
            };
            change(&mut next);
            next.last_seen_ms = self.clock.now_ms();
            match self.sessions.save(key, next).await? {
                Saved::Stored(stored) => return Ok(stored),
                Saved::Conflict(other) => current = other,
            }
        }
    }
}

/// The session with the edits of a new plan.
fn remembering(session: &Session, plan: &Plan, transcript: &Transcript, now_ms: u64) -> Session {
    let mut next = session.clone();
    remember(&mut next, plan, transcript);
    next.last_seen_ms = now_ms;
    next
}

/// Takes the edits of a plan into a session's ledger.
pub(super) fn remember(session: &mut Session, plan: &Plan, transcript: &Transcript) {
    let ledger = Arc::make_mut(&mut session.ledger);
    ledger.remember(&plan.edits, transcript);
    ledger.shrink_to(MOST_EDITS, transcript);
    session.prunes += 1;
}

fn quiet(demand: Demand) -> Quiet {
    match demand {
        Demand::BelowThreshold => Quiet::BelowThreshold,
        Demand::Cooldown => Quiet::Cooldown,
        Demand::Prune { .. } | Demand::AtRisk { .. } => Quiet::NothingToPrune,
    }
}

fn store_failed(
    error: &StoreError,
    replayed: crate::model::EditSet,
    standing: super::reading::Standing,
    sizes: Arc<Sizes>,
) -> Decision {
    tracing::warn!(
        error = error as &dyn std::error::Error,
        "a new prune could not be stored; it is not made"
    );
    let rest = Decision::rest(replayed, standing, Some(sizes), Quiet::Cooldown);
    Decision { outcome: Outcome::Bypassed(Bypass::Store), ..rest }
}
