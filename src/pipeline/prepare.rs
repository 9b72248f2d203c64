use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::reading::{Reading, Standing};
use super::request::{Kept, Mark};
use super::{Bypass, Inbound, Mode, Outcome, Pipeline, Prepared, Quiet, Receipt, Turn};
use crate::model::EditSet;
use crate::prune::{Aim, Demand, Known, Plan, Planner, Sizes};
use crate::session::{Hints, Session, SessionKey, Thinking};
use crate::wire::{Codec, Coding, Decoded, Purpose, decode_all};

/// Largest body that is decoded, in bytes after undoing its content coding: a bomb passes unread.
const LARGEST_DECODED: usize = 64 * 1024 * 1024;
/// Bodies above this are read on a blocking thread, in bytes: below it takes about a millisecond.
const LARGEST_READ_INLINE: usize = 1024 * 1024;
/// Uncounted text above this is counted on a blocking thread, in bytes: below it takes about two milliseconds.
const LARGEST_COUNTED_INLINE: usize = 32 * 1024;

/// Everything that is known when a plan is to be made.
pub(super) struct Found {
    pub(super) codec: Arc<dyn Codec>,
    pub(super) purpose: Purpose,
    pub(super) reading: Arc<Reading>,
    pub(super) key: SessionKey,
    pub(super) explicit_id: Option<String>,
    pub(super) upstream: String,
    pub(super) session: Arc<Session>,
    pub(super) idle_ms: u64,
}

/// What was decided.
pub(super) struct Decision {
    pub(super) plan: Plan,
    pub(super) replayed: usize,
    pub(super) standing: Standing,
    pub(super) sizes: Option<Arc<Sizes>>,
    pub(super) outcome: Outcome,
    /// Number of the prune that was made.
    pub(super) prune: Option<u64>,
}

impl Pipeline {
    /// Decides what is sent for a request. Never fails: what goes wrong is a named bypass, and the client's own
    /// bytes go on, or the edits of earlier prunes alone.
    pub async fn prepare(&self, inbound: Inbound) -> Prepared {
        let format = self.codec(&inbound.path).map(|codec| codec.format());
        match self.find(inbound).await {
            Ok(found) if found.purpose == Purpose::Count => {
                let decision = found.replay();
                // Its answer tells nothing of the conversation: there is nothing to settle, and nothing to recover.
                Prepared { turn: None, ..self.prepared(found, decision) }
            }
            Ok(found) => {
                let decision = self.decide(&found).await;
                self.prepared(found, decision)
            }
            Err(bypass) => {
                let receipt = Receipt { format, ..Receipt::bypassed(bypass) };
                Prepared { body: None, receipt, turn: None }
            }
        }
    }

    async fn find(&self, inbound: Inbound) -> Result<Found, Bypass> {
        if self.mode == Mode::Off {
            return Err(Bypass::Off);
        }
        let route = self.codecs.for_path(&inbound.path).filter(|_| inbound.is_post);
        let (codec, purpose) = route.ok_or(Bypass::OtherPath)?;
        let codec = Arc::clone(codec);
        let Inbound { headers, upstream, body, content_encoding, .. } = inbound;
        let decoded = self.read(&codec, body, content_encoding.as_deref()).await?;
        let hints = Hints { header: &*headers, upstream: &upstream, transcript: &decoded.transcript };
        let (key, explicit_id) = SessionKey::derive(&hints);
        let policy = Arc::clone(self.policies.of(&decoded.transcript.model));
        let model = &decoded.transcript.model;
        let window = policy.window.or_else(|| self.learnt.window(&upstream, model));
        let thinking = self.learnt.thinking(&upstream, model);
        let mut reading = Reading { decoded, policy, window, thinking };
        let now = self.clock.now_ms();
        let session = match self.sessions.load(&key).await {
            Ok(session) => session.unwrap_or_else(|| Arc::new(Session::begin(explicit_id.as_deref(), now))),
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "the session store failed; forwarding unpruned"
                );
                return Err(Bypass::Store);
            }
        };
        let idle_ms = now.saturating_sub(session.last_seen_ms);
        let learnt = session.thinking.get(&reading.decoded.transcript.model).copied();
        reading.thinking = learnt.or(thinking);
        let reading = Arc::new(reading);
        Ok(Found { codec, purpose, reading, key, explicit_id, upstream, session, idle_ms })
    }

    async fn decide(&self, found: &Found) -> Decision {
        let replayed = found.session.ledger.replay(&found.reading.decoded.transcript);
        if replayed.is_empty() && found.reading.is_surely_small(&found.session, found.idle_ms) {
            let standing = found.reading.standing(&found.session, None, &replayed, found.idle_ms);
            return Decision::rest(replayed, standing, None, Quiet::BelowThreshold);
        }
        match self.count(&found.reading).await {
            Ok(sizes) => self.commit_loop(found, Arc::new(sizes)).await,
            Err(bypass) => {
                let standing = found.reading.standing(&found.session, None, &replayed, found.idle_ms);
                Decision {
                    outcome: Outcome::Bypassed(bypass),
                    ..Decision::rest(replayed, standing, None, Quiet::Cooldown)
                }
            }
        }
    }

    pub(super) async fn count(&self, reading: &Arc<Reading>) -> Result<Sizes, Bypass> {
        let known = Known::look_up(&reading.decoded.transcript, &self.counter);
        if known.uncounted_bytes() <= LARGEST_COUNTED_INLINE {
            return guarded(|| reading.sizes(&known, &self.counter));
        }
        let (counter, shared) = (Arc::clone(&self.counter), Arc::clone(reading));
        let limit = Duration::from_millis(reading.policy.pruning.pruning_timeout_ms);
        blocking(limit, move || shared.sizes(&known, &counter)).await
    }

    /// Makes the plan that `aim` asks for.
    pub(super) async fn plan(
        &self,
        codec: &Arc<dyn Codec>,
        reading: &Arc<Reading>,
        sizes: &Arc<Sizes>,
        replayed: EditSet,
        aim: Aim,
    ) -> Result<Plan, Bypass> {
        if matches!(aim.demand, Demand::BelowThreshold | Demand::Cooldown) {
            return Ok(Plan::replay(replayed));
        }
        let limit = Duration::from_millis(reading.policy.pruning.pruning_timeout_ms);
        let (reading, sizes, counter) = (Arc::clone(reading), Arc::clone(sizes), Arc::clone(&self.counter));
        let codec = Arc::clone(codec);
        blocking(limit, move || {
            let policy = &reading.policy;
            let planner = Planner {
                settings: &policy.pruning,
                rules: &policy.rules,
                counter: &counter,
                frozen: reading.frozen(),
            };
            let transcript = &reading.decoded.transcript;
            let mut plan = planner.plan(transcript, &sizes, replayed.clone(), aim);
            if reading.thinking == Some(Thinking::LeftOut)
                && let Some(first) = plan.edits.first_change_since(&replayed)
                && let Some(edits) = codec.without_reasoning(&reading.decoded, &plan.edits, first)
            {
                plan.edits = edits;
            }
            plan
        })
        .await
    }

    fn prepared(&self, found: Found, decision: Decision) -> Prepared {
        let decoded = &found.reading.decoded;
        let body = (!decision.plan.edits.is_empty() && self.mode == Mode::Prune)
            .then(|| guarded(|| found.codec.render(decoded, &decision.plan.edits)));
        let (body, outcome) = match body {
            Some(Ok(body)) => (Some(body), decision.outcome),
            Some(Err(bypass)) => (None, Outcome::Bypassed(bypass)),
            None => (None, decision.outcome),
        };
        let size = decision.sizes.is_some().then_some(decision.standing.figures.size);
        let real = |estimated: u64| (estimated as f64 * decision.standing.ratio) as u64;
        let saved_before = decision.saved_in_all().saturating_sub(decision.plan.saved);
        let receipt = Receipt {
            format: Some(found.codec.format()),
            outcome,
            model: decoded.transcript.model.clone(),
            session: label(&found.key, found.explicit_id.as_deref()),
            tokens_before: size.map(|size| size + real(saved_before)),
            tokens_after: size.map(|size| size.saturating_sub(real(decision.plan.saved))),
            replayed: decision.replayed,
            pruned: decision.plan.by_stage(),
            prune: decision.prune,
        };
        let turn = Some(decision.into_turn(found, body.is_some()));
        Prepared { body, receipt, turn }
    }
}

impl Found {
    /// What earlier prunes say, and no more: for a request that only asks how large the next one would be.
    fn replay(&self) -> Decision {
        let replayed = self.session.ledger.replay(&self.reading.decoded.transcript);
        let standing = self.reading.standing(&self.session, None, &replayed, self.idle_ms);
        Decision::rest(replayed, standing, None, Quiet::Counting)
    }
}

impl Decision {
    /// Nothing new.
    pub(super) fn rest(edits: EditSet, standing: Standing, sizes: Option<Arc<Sizes>>, quiet: Quiet) -> Self {
        let outcome = if edits.is_empty() { Outcome::Unchanged(quiet) } else { Outcome::Pruned };
        Self { replayed: edits.len(), plan: Plan::replay(edits), standing, sizes, outcome, prune: None }
    }

    /// Estimated tokens that all edits take away, earlier ones included.
    fn saved_in_all(&self) -> u64 {
        let Some(sizes) = &self.sizes else { return 0 };
        let all = 0..sizes.len();
        sizes.raw(all.clone()).saturating_sub(sizes.sum(all, &self.plan.edits))
    }

    fn into_turn(self, found: Found, is_edited: bool) -> Turn {
        let edits = if is_edited { self.plan.edits.clone() } else { EditSet::default() };
        let saved = if is_edited { self.saved_in_all() } else { 0 };
        let (reading, sizes) = (found.reading, self.sizes);
        Turn {
            key: found.key,
            explicit_id: found.explicit_id,
            upstream: found.upstream,
            model: reading.decoded.transcript.model.clone(),
            codec: found.codec,
            standing: self.standing,
            is_continued: reading.decoded.transcript.is_continued,
            pruned: self.prune.is_some(),
            estimate: sizes.as_ref().map(|sizes| Planner::estimate(sizes, &edits)),
            saved,
            marks: marks(&reading, sizes.as_deref(), &edits),
            recoveries: 0,
            refusals: 0,
            lesson: None,
            kept: Some(Kept { reading, edits, sizes }),
        }
    }
}

/// The states that an answer to this request measures.
pub(super) fn marks(reading: &Reading, sizes: Option<&Sizes>, edits: &EditSet) -> Vec<Mark> {
    let chain = &reading.decoded.transcript.chain;
    let all = chain.len();
    let without = reading.without_trailing_user_text().filter(|_| sizes.is_some());
    let ends = std::iter::once(all).chain(without).filter(|items| *items > 0);
    ends.map(|items| Mark {
        prefix: chain[items - 1],
        items,
        behind: sizes.map_or(0, |sizes| sizes.sum(items..all, edits)),
    })
    .collect()
}

/// How a session is called in logs: the client's own id where it gave one, else the beginning of the key.
pub(super) fn label(key: &SessionKey, explicit_id: Option<&str>) -> String {
    match explicit_id {
        Some(id) => id.chars().take(Session::LONGEST_LABEL).collect(),
        None => key.to_string().chars().take(12).collect(),
    }
}

impl Pipeline {
    async fn read(
        &self,
        codec: &Arc<dyn Codec>,
        body: Bytes,
        coding: Option<&str>,
    ) -> Result<Decoded, Bypass> {
        let codings = Coding::of(coding).map_err(|_| Bypass::Coding)?;
        if codings.is_empty() {
            return read(codec, body, codings).await;
        }
        // A few bytes may stand for many: only so many such bodies are held in full at a time.
        let _turn = self.inflating.acquire().await.map_err(|_| Bypass::Coding)?;
        read(codec, body, codings).await
    }
}

async fn read(codec: &Arc<dyn Codec>, body: Bytes, codings: Vec<Coding>) -> Result<Decoded, Bypass> {
    let is_coded = !codings.is_empty();
    let codec = Arc::clone(codec);
    let size = body.len();
    let decode = move || {
        let body = if codings.is_empty() {
            body
        } else {
            decode_all(&codings, &body, LARGEST_DECODED).map_err(|_| Bypass::Coding)?.into()
        };
        codec.decode(body).map_err(|error| {
            tracing::debug!(
                error = &error as &dyn std::error::Error,
                "the body is no conversation; forwarding as is"
            );
            Bypass::Undecodable
        })
    };
    if size <= LARGEST_READ_INLINE && !is_coded {
        guarded(decode)?
    } else {
        blocking(Duration::MAX, decode).await?
    }
}

/// Runs pure work; a panic in it is a bug of ours, and a bypass.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Bypass> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| Bypass::Panicked)
}

/// Runs pure work on a blocking thread. Past `limit` it is left to end by itself, and nobody waits for it.
async fn blocking<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Bypass> {
    match tokio::time::timeout(limit, tokio::task::spawn_blocking(work)).await {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(_)) => Err(Bypass::Panicked),
        Err(_) => Err(Bypass::Timeout),
    }
}
