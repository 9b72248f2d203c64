use serde_json::Value;

use super::figures::figure;

/// How deep errors are wrapped in each other: a router's around a provider's around a server's.
const DEEPEST: usize = 8;
/// How many errors of a list are looked at.
const MOST_ERRORS: usize = 4;
/// How many bytes of a message are looked at.
const LONGEST_TEXT: usize = 16 << 10;

/// What the errors in a refusal's body say, however they are wrapped.
#[derive(Debug, Default)]
pub(super) struct ErrorBody {
    /// Codes, types and statuses.
    pub(super) codes: Vec<String>,
    /// What is said for people.
    pub(super) messages: Vec<String>,
    /// Tokens asked for, in a member of its own.
    pub(super) asked: Option<u64>,
    /// Tokens allowed, in a member of its own.
    pub(super) limit: Option<u64>,
}

impl ErrorBody {
    /// Reads a body, whatever it is: one that is no JSON is a message.
    pub(super) fn read(body: &[u8]) -> Self {
        let mut found = Self::default();
        if let Ok(answer) = serde_json::from_slice::<Value>(body) {
            found.look_into(&answer, 0);
        } else {
            found.messages.push(String::from_utf8_lossy(&body[..body.len().min(LONGEST_TEXT)]).into_owned());
        }
        found
    }

    fn look_into(&mut self, value: &Value, depth: usize) {
        if depth > DEEPEST {
            return;
        }
        match value {
            Value::Array(values) => {
                for value in values.iter().take(MOST_ERRORS) {
                    self.look_into(value, depth + 1);
                }
            }
            Value::Object(object) => {
                for (name, value) in object {
                    match (name.as_str(), value) {
                        ("code" | "type" | "error_code" | "status", Value::String(code)) => {
                            self.codes.push(code.clone());
                        }
                        ("n_prompt_tokens", count) => self.asked = figure(count).or(self.asked),
                        ("n_ctx", count) => self.limit = figure(count).or(self.limit),
                        (
                            "error" | "metadata" | "raw" | "message" | "detail" | "msg" | "innererror"
                            | "upstream_error" | "body",
                            inner,
                        ) => self.look_into(inner, depth + 1),
                        _ => {}
                    }
                }
            }
            Value::String(text) => match serde_json::from_str::<Value>(text) {
                Ok(inner @ (Value::Object(_) | Value::Array(_))) => self.look_into(&inner, depth + 1),
                _ => self.messages.push(text[..text.floor_char_boundary(LONGEST_TEXT)].to_owned()),
            },
            _ => {}
        }
    }
}
