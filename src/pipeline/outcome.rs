use bytes::Bytes;

use crate::wire::WireFormat;

/// What Secateur did with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Read, and nothing to be changed: the client's own bytes go on.
    Unchanged(Quiet),
    /// Edits were spliced in, new ones or those of earlier prunes.
    Pruned,
    /// Could not, or was not to, do its work: the client's own bytes go on.
    Bypassed(Bypass),
}

/// Why nothing was pruned although the request was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quiet {
    /// The request is smaller than the threshold.
    BelowThreshold,
    /// It has not grown by `trigger_every_n_tokens` since the last prune.
    Cooldown,
    /// It is large, but nothing in it may be touched.
    NothingToPrune,
    /// A prune was planned and reported only (`mode = "observe"`).
    Observed,
    /// It only asks how large it is.
    Counting,
}

/// Why a request went by unread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bypass {
    /// `mode = "off"`.
    Off,
    /// Not a path, or not a method, of a known wire format.
    OtherPath,
    /// The content coding is unknown or its bytes are damaged.
    Coding,
    /// The body is not a request of its format.
    Undecodable,
    /// The session store did not answer or is damaged.
    Store,
    /// Planning took longer than `pruning_timeout_ms`.
    Timeout,
    /// A bug of ours: planning panicked.
    Panicked,
    /// The provider refused the edits because of signed thinking behind them.
    Thinking,
}

/// What happened to one request; the door tells the world from it.
#[derive(Debug, Clone)]
pub struct Receipt {
    /// The format, when the path has one.
    pub format: Option<WireFormat>,
    /// What was done.
    pub outcome: Outcome,
    /// The model asked for; empty when unknown.
    pub model: String,
    /// The session's public label: never a credential, safe to log.
    pub session: String,
    /// Input tokens of the request as the client sent it: counted by the provider where it measured a prefix of
    /// it, estimated for the rest. `None` when it was not worth estimating.
    pub tokens_before: Option<u64>,
    /// Input tokens of the request as it is sent, by the same reckoning.
    pub tokens_after: Option<u64>,
    /// Statements replayed from earlier prunes.
    pub replayed: usize,
    /// Statements of this prune, by stage: `(stage or rung, how many, tokens saved)`.
    pub pruned: Vec<(&'static str, usize, u64)>,
    /// Number of this prune in its session, from 1; `None` when this request made no new one.
    pub prune: Option<u64>,
}

/// A request is sent again, smaller, because the provider refused it as too large.
#[derive(Debug, Clone)]
pub struct Recovery {
    /// The body to send, without content coding.
    pub body: Bytes,
    /// What is done with the request now.
    pub outcome: Outcome,
    /// What the provider refused.
    pub cause: Cause,
    /// What the provider says was asked, in tokens.
    pub asked: Option<u64>,
    /// What the provider says is allowed, in tokens.
    pub limit: Option<u64>,
    /// What it is expected to be now, in tokens.
    pub tokens_after: Option<u64>,
    /// Number of this prune in its session, from 1.
    pub prune: Option<u64>,
    /// Statements it adds, by stage: `(stage, how many, tokens saved)`.
    pub pruned: Vec<(&'static str, usize, u64)>,
}

/// What the provider refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The size of the request.
    Overflow,
    /// Signed thinking that no longer fits what stands in front of it.
    Thinking,
}

impl Cause {
    /// Its name in logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Overflow => "overflow",
            Self::Thinking => "thinking",
        }
    }
}

impl Receipt {
    /// Of a request that goes by unread.
    pub fn bypassed(bypass: Bypass) -> Self {
        Self {
            format: None,
            outcome: Outcome::Bypassed(bypass),
            model: String::new(),
            session: String::new(),
            tokens_before: None,
            tokens_after: None,
            replayed: 0,
            pruned: Vec::new(),
            prune: None,
        }
    }

    /// The request is sent again, smaller: what is done now is more than was decided first.
    pub fn recovered(&mut self, recovery: &Recovery) {
        self.outcome = recovery.outcome;
        self.tokens_before = self.tokens_before.or(recovery.asked);
        self.tokens_after = recovery.tokens_after.or(self.tokens_after);
        self.pruned.extend_from_slice(&recovery.pruned);
        self.prune = self.prune.or(recovery.prune);
    }
}

impl Outcome {
    /// The value of the `x-secateur-outcome` header and of the `outcome` label.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unchanged(_) => "unchanged",
            Self::Pruned => "pruned",
            Self::Bypassed(_) => "bypassed",
        }
    }

    /// The reason that follows it, if there is one.
    pub fn reason(self) -> Option<&'static str> {
        match self {
            Self::Pruned => None,
            Self::Unchanged(quiet) => Some(quiet.as_str()),
            Self::Bypassed(bypass) => Some(bypass.as_str()),
        }
    }
}

impl Quiet {
    /// Its name in headers, logs and labels.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BelowThreshold => "below_threshold",
            Self::Cooldown => "cooldown",
            Self::NothingToPrune => "nothing_to_prune",
            Self::Observed => "observed",
            Self::Counting => "counting",
        }
    }
}

impl Bypass {
    /// Its name in headers, logs and labels.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::OtherPath => "other_path",
            Self::Coding => "content_coding",
            Self::Undecodable => "undecodable",
            Self::Store => "store",
            Self::Timeout => "timeout",
            Self::Panicked => "panicked",
            Self::Thinking => "signed_thinking",
        }
    }
}
