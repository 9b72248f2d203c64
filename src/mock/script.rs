use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memchr::memmem;
use serde::Deserialize;
use serde_json::Value;

/// What a mock upstream does with which request. The format is described in [`super`].
#[derive(Debug, Clone, Default)]
pub struct Script {
    steps: Vec<Arc<Counted>>,
}

/// A script that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// A line is not a step.
    #[error("line {line} is not a step of a script")]
    Line {
        /// Number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A line is a step that says two things that cannot both be.
    #[error("line {line}: {reason}")]
    Contradiction {
        /// Number of the line, from 1.
        line: usize,
        /// What cannot be, and what to do.
        reason: &'static str,
    },
}

#[derive(Debug)]
struct Counted {
    step: Step,
    used: AtomicU64,
}

/// One line of a script.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Step {
    request: Option<u64>,
    from: Option<u64>,
    to: Option<u64>,
    model: Option<String>,
    contains: Option<String>,
    times: Option<u64>,
    pub(super) status: Option<u16>,
    pub(super) message: Option<String>,
    pub(super) retry_after: Option<u64>,
    pub(super) window: Option<u64>,
    pub(super) text: Option<String>,
    pub(super) tool_calls: Vec<ScriptedCall>,
    pub(super) delay_ms: u64,
    pub(super) chunk_delay_ms: Option<u64>,
    pub(super) cut_after_chunks: Option<usize>,
    pub(super) usage: Option<bool>,
    pub(super) thinking: bool,
    pub(super) bind_thinking: Option<bool>,
}

/// A tool call that an answer is to make.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptedCall {
    pub(super) name: String,
    /// The arguments; a string is taken as their JSON text as it stands.
    #[serde(default)]
    pub(super) arguments: Value,
}

impl Script {
    /// Reads a script from its text.
    ///
    /// # Errors
    /// With the number of the first line that is no step.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
        let steps =
            lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')).map(|(line, text)| {
                let step: Step =
                    serde_json::from_str(text).map_err(|source| ScriptError::Line { line, source })?;
                match step.contradiction() {
                    Some(reason) => Err(ScriptError::Contradiction { line, reason }),
                    None => Ok(Arc::new(Counted { step, used: AtomicU64::new(0) })),
                }
            });
        Ok(Self { steps: steps.collect::<Result<_, _>>()? })
    }

    /// The step that decides on a request, the `number`th from 1. It counts as used.
    pub(super) fn step_for(&self, number: u64, model: &str, body: &[u8]) -> Option<&Step> {
        let fits = |counted: &&Arc<Counted>| {
            let limit = counted.step.times.unwrap_or(u64::MAX);
            counted.step.fits(number, model, body)
                && counted
                    .used
                    .try_update(Ordering::SeqCst, Ordering::SeqCst, |used| (used < limit).then_some(used + 1))
                    .is_ok()
        };
        self.steps.iter().find(fits).map(|counted| &counted.step)
    }
}

impl Step {
    fn fits(&self, number: u64, model: &str, body: &[u8]) -> bool {
        self.request.is_none_or(|at| at == number)
            && self.from.is_none_or(|from| from <= number)
            && self.to.is_none_or(|to| number <= to)
            && self.model.as_ref().is_none_or(|name| name == model)
            && self.contains.as_ref().is_none_or(|text| memmem::find(body, text.as_bytes()).is_some())
    }

    fn contradiction(&self) -> Option<&'static str> {
        let answers = self.text.is_some() || self.thinking || !self.tool_calls.is_empty();
        if self.status.is_some_and(|status| !(400..600).contains(&status)) {
            Some("`status` is for errors: give one from 400 to 599")
        } else if self.status.is_some() && (answers || self.cut_after_chunks.is_some()) {
            Some(
                "`status` refuses the request: leave out `text`, `thinking`, `tool_calls` and `cut_after_chunks`",
            )
        } else if self.status.is_none() && (self.message.is_some() || self.retry_after.is_some()) {
            Some("`message` and `retry_after` are parts of a refusal: give a `status` as well")
        } else if self.tool_calls.iter().any(|call| call.name.is_empty()) {
            Some("a tool call needs a `name`")
        } else {
            None
        }
    }
}

impl ScriptedCall {
    /// The arguments as a model writes them.
    pub(super) fn arguments_text(&self) -> String {
        match &self.arguments {
            Value::Null => "{}".to_owned(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_that_fits_decides() {
        let script = Script::parse(
            "# comment\n\n{\"request\": 2, \"status\": 429}\n{\"from\": 2, \"to\": 3, \"text\": \"b\"}\n\
             {\"model\": \"m\", \"contains\": \"xyz\", \"times\": 1, \"text\": \"c\"}",
        )
        .unwrap();
        let text = |number, model, body: &[u8]| {
            script.step_for(number, model, body).map(|s| s.text.clone().unwrap_or_default())
        };
        assert_eq!(text(1, "m", b"axyzb"), Some("c".to_owned()));
        assert_eq!(text(1, "m", b"axyzb"), None, "used up");
        assert_eq!(text(2, "m", b""), Some(String::new()));
        assert_eq!(text(3, "m", b""), Some("b".to_owned()));
        assert_eq!(text(4, "n", b"xyz"), None);
    }

    #[test]
    fn mistakes_name_their_line() {
        let misspelt = Script::parse("\n{\"requests\": 2}").unwrap_err();
        assert_eq!(misspelt.to_string(), "line 2 is not a step of a script");
        assert!(
            matches!(misspelt, ScriptError::Line { source, .. } if source.to_string().contains("`request`"))
        );
        let both = Script::parse("{\"status\": 500, \"text\": \"x\"}").unwrap_err();
        assert!(both.to_string().starts_with("line 1: `status` refuses the request"));
        assert!(Script::parse("{\"status\": 200}").is_err());
    }
}
