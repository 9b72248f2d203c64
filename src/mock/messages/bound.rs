use super::facts::{Block, Kind};
use crate::mock::error::Refusal;
use crate::model::Fingerprint;

/// How the mock's own signatures begin. Others are taken as they are.
const OWN: &str = "mock.";

/// What the instructions and messages are, up to some block, thinking aside: that may be left out.
#[derive(Debug, Default)]
pub(super) struct Binding {
    pub(super) prefix: Fingerprint,
    /// The refusal of the first thinking that is not what was thought there.
    pub(super) broken: Option<Refusal>,
}

/// The signature of thinking behind a prefix.
pub(super) fn sign(prefix: Fingerprint, thinking: &str) -> String {
    format!("{OWN}{}", Fingerprint::of(&[b"thinking", prefix.as_bytes(), thinking.as_bytes()]))
}

impl Binding {
    /// Goes on behind a block.
    pub(super) fn follow(&mut self, block: &Block) {
        if !matches!(block.kind, Kind::Thinking(_)) {
            self.prefix = self.prefix.then(block.piece.print);
        }
    }

    /// Goes on behind a block of a message, and checks it if it is thinking.
    pub(super) fn check(&mut self, message: usize, at: usize, block: &Block) {
        if let Kind::Thinking(Some((text, signature))) = &block.kind
            && signature.starts_with(OWN)
            && *signature != sign(self.prefix, text)
            && self.broken.is_none()
        {
            let place = format!("messages.{message}.content.{at}");
            self.broken = Some(Refusal::invalid(place, "Invalid `signature` in `thinking` block"));
        }
        self.follow(block);
    }
}
