use serde_json::Value;

use crate::model::Usage;
use crate::wire::UsageFigures;
use crate::wire::figures::{first, member};
use crate::wire::json::Object;

/// The members of a usage object as they stand there. Cached tokens are no part of the input in it, and a stream tells
/// some members at its start and others at its end: the sum is made of the last that is known of each.
#[derive(Debug, Default)]
pub(super) struct Members {
    input: Input,
    output: Option<u64>,
    /// What was read for the first reply, where one request led to several: with tools of the provider's own, which
    /// it lets the model use on the spot, the other figures are sums over all replies.
    first_reply: Option<Input>,
}

/// What was read.
#[derive(Debug, Clone, Copy, Default)]
struct Input {
    uncached: Option<u64>,
    cache_read: Option<u64>,
    cache_write: Option<u64>,
}

impl UsageFigures for Members {
    fn read(&mut self, document: &[u8]) {
        let Ok(document) = serde_json::from_slice::<Object<'_>>(document) else { return };
        let started = document.get("message").ok().flatten().and_then(|raw| Object::read(raw).ok());
        let usages = [started.and_then(|message| member(&message, "usage")), member(&document, "usage")];
        usages.iter().flatten().for_each(|usage| self.take_over(usage));
    }

    fn usage(&self) -> Usage {
        let Input { uncached, cache_read, cache_write } = self.first_reply.unwrap_or(self.input);
        let cached = cache_read.unwrap_or(0).saturating_add(cache_write.unwrap_or(0));
        let input = uncached.map(|tokens| tokens.saturating_add(cached));
        let mut usage = Usage::default();
        usage.merge(Usage { input, cache_read, cache_write, output: self.output });
        usage
    }
}

impl Members {
    fn take_over(&mut self, usage: &Value) {
        self.input.merge(Input::of(usage));
        merge(&mut self.output, first(usage, &["output_tokens"]));
        let replies =
            usage.get("iterations").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let mut replies =
            replies.iter().filter(|reply| reply.get("type").is_some_and(|kind| kind == "message"));
        if let (Some(reply), Some(_)) = (replies.next(), replies.next()) {
            self.first_reply.get_or_insert_default().merge(Input::of(reply));
        }
    }
}

impl Input {
    fn of(usage: &Value) -> Self {
        Self {
            uncached: first(usage, &["input_tokens"]),
            cache_read: first(usage, &["cache_read_input_tokens"]),
            cache_write: first(usage, &["cache_creation_input_tokens"]),
        }
    }

    fn merge(&mut self, later: Self) {
        merge(&mut self.uncached, later.uncached);
        merge(&mut self.cache_read, later.cache_read);
        merge(&mut self.cache_write, later.cache_write);
    }
}

/// Takes over a later figure; a zero only where nothing is known.
fn merge(known: &mut Option<u64>, later: Option<u64>) {
    *known = later.filter(|tokens| *tokens > 0).or(*known).or(later);
}
