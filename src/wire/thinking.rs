use super::error_body::ErrorBody;

/// The provider refuses a request because of the thinking in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThinkingRefusal {
    /// What is wrong with it.
    pub fault: ThinkingFault,
    /// Position, from 0, of the message it names.
    pub message: Option<usize>,
    /// Position, from 0, of the content block it names.
    pub block: Option<usize>,
}

/// What is wrong with thinking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThinkingFault {
    /// A block is not what the model said there: it, or something in front of it, was changed.
    Changed,
    /// There is none where the provider wants some.
    Missing,
}

/// Whether an answer says that signed thinking is no longer valid, or is missing. Only a 400 can.
pub fn read_thinking_refusal(status: u16, body: &[u8]) -> Option<ThinkingRefusal> {
    if status != 400 {
        return None;
    }
    ErrorBody::read(body).messages.iter().find_map(|message| refusal(message))
}

fn refusal(message: &str) -> Option<ThinkingRefusal> {
    let words = message.to_lowercase().replace('`', "");
    let has = |words_of_it: &[&str]| words_of_it.iter().any(|word| words.contains(word));
    if !has(&["thinking"]) {
        return None;
    }
    let changed = has(&["bound to a different conversation", "cannot be modified"])
        || (has(&["invalid signature", "invalid data", "signature is invalid", "signature mismatch"])
            && has(&["thinking block", "thinking blocks"]));
    let missing = has(&["expected thinking", "expected a thinking", "must start with a thinking block"]);
    let fault = match (changed, missing) {
        (true, _) => ThinkingFault::Changed,
        (_, true) => ThinkingFault::Missing,
        _ => return None,
    };
    let mut path = words.split("messages.").skip(1).filter_map(position);
    let (message, block) = path.next().unzip();
    Some(ThinkingRefusal { fault, message, block: block.flatten() })
}

/// The numbers of a message and of its block at the beginning of a path such as `5.content.0`.
fn position(path: &str) -> Option<(usize, Option<usize>)> {
    let mut steps = path.split(|c: char| !c.is_ascii_alphanumeric());
    let message = steps.next()?.parse().ok()?;
    let block = steps.next().filter(|step| *step == "content").and_then(|_| steps.next()?.parse().ok());
    Some((message, block))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(message: &str) -> Option<ThinkingRefusal> {
        let body = json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}});
        read_thinking_refusal(400, body.to_string().as_bytes())
    }

    fn at(fault: ThinkingFault, message: usize, block: usize) -> ThinkingRefusal {
        ThinkingRefusal { fault, message: Some(message), block: Some(block) }
    }

    #[test]
    fn a_changed_block_is_named() {
        for (text, message, block) in [
            ("messages.5.content.0: Invalid `signature` in `thinking` block", 5, 0),
            ("messages.3.content.12: Invalid signature in thinking block", 3, 12),
            ("messages.1.content.2: Invalid `data` in `redacted_thinking` block", 1, 2),
            (
                "messages.7.content.1: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block.",
                7,
                1,
            ),
            (
                "messages.9.content.3: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.",
                9,
                3,
            ),
        ] {
            assert_eq!(read(text), Some(at(ThinkingFault::Changed, message, block)), "{text}");
        }
    }

    #[test]
    fn a_missing_block_is_told_apart() {
        let text = "messages.11.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block.";
        assert_eq!(read(text), Some(at(ThinkingFault::Missing, 11, 0)));
    }

    #[test]
    fn the_place_may_be_untold_and_the_error_wrapped() {
        let untold = "The thinking block is bound to a different conversation.";
        let expected = ThinkingRefusal { fault: ThinkingFault::Changed, message: None, block: None };
        assert_eq!(read(untold), Some(expected));
        let inner = json!({"type": "error", "error": {"type": "invalid_request_error",
            "message": "messages.1.content.0: Invalid `signature` in `thinking` block"}});
        for body in [
            json!({"error": {"code": 400, "message": inner.to_string(), "status": "INVALID_ARGUMENT"}}),
            json!({"type": "error", "error": {"type": "request_fail", "upstream_error": inner}}),
            json!({"error": {"message": "Provider returned error", "metadata": {"raw": inner.to_string()}}}),
        ] {
            let refusal = read_thinking_refusal(400, body.to_string().as_bytes());
            assert_eq!(refusal, Some(at(ThinkingFault::Changed, 1, 0)), "{body}");
        }
    }

    #[test]
    fn other_refusals_are_none() {
        for text in [
            "thinking.budget_tokens: Input should be greater than or equal to 1024",
            "messages.2.content.1.thinking.signature: Field required",
            "messages.3.content.0: Invalid signature in the document",
            "prompt is too long: 208310 tokens > 200000 maximum",
            "",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
        let text = "messages.5.content.0: Invalid `signature` in `thinking` block";
        let body = json!({"error": {"message": text}}).to_string();
        assert!(
            [200, 401, 413, 429, 500].iter().all(|s| read_thinking_refusal(*s, body.as_bytes()).is_none())
        );
    }

    proptest! {
        #[test]
        fn any_body_is_survived(body: Vec<u8>, words in "(thinking|messages\\.|invalid signature|[0-9]{1,25}|\\.content|é|:)*") {
            read_thinking_refusal(400, &body);
            read(&words);
        }
    }
}
