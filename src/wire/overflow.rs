use super::error_body::ErrorBody;
use super::numbers::{self, Pair};

/// Codes and types that say: too large for the model. Compared without regard to case.
const CODES: [&str; 9] = [
    "context_length_exceeded",
    "context_window_exceeded",
    "context_exceeded",
    "exceed_context_size_error",
    "exceeds_context_size",
    "model_max_prompt_tokens_exceeded",
    "prompt_too_long",
    "tokens_limit_reached",
    "contextwindowexceedederror",
];
/// The provider says that the request is larger than the model's window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overflow {
    /// Tokens of the request, if told. Where the provider counts the room for the answer in, so does this.
    pub asked: Option<u64>,
    /// The window in tokens, if told.
    pub limit: Option<u64>,
}

/// Whether an answer says that the request is too large for the model: by its code, or by two numbers that only make
/// sense as tokens asked for and tokens allowed. Only a 400 or 413 can: a rate limit is none, whatever its words.
pub fn read_overflow(status: u16, body: &[u8]) -> Option<Overflow> {
    if !matches!(status, 400 | 413) {
        return None;
    }
    let error = ErrorBody::read(body);
    let by_code = error.codes.iter().any(|code| CODES.iter().any(|known| known.eq_ignore_ascii_case(code)));
    if let (Some(asked), Some(limit)) = (error.asked, error.limit) {
        return (by_code || asked > limit).then_some(Overflow { asked: Some(asked), limit: Some(limit) });
    }
    let pair = || error.messages.iter().find_map(|message| numbers::asked_and_limit(message));
    let sure_pair =
        || error.messages.iter().find_map(|message| numbers::only_two(message)).filter(|_| by_code);
    match pair().or_else(sure_pair) {
        Some(Pair { asked, limit }) => Some(Overflow { asked: Some(asked), limit: Some(limit) }),
        None if by_code => Some(Overflow {
            asked: error.asked,
            limit: error.limit.or_else(|| error.messages.iter().find_map(|message| numbers::limit(message))),
        }),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn message(text: &str) -> Option<(u64, u64)> {
        let body = json!({"error": {"message": text, "type": "invalid_request_error", "code": null}});
        let found = read_overflow(400, body.to_string().as_bytes())?;
        Some((found.asked.unwrap(), found.limit.unwrap()))
    }

    #[test]
    fn a_known_code_makes_two_numbers_enough_whatever_the_words() {
        let read = |code: &str| {
            let text = "There is room for 16000 tokens at most, and 48000 tokens were sent.";
            let body = json!({"error": {"message": text, "code": code}}).to_string();
            read_overflow(400, body.as_bytes())
        };
        assert_eq!(
            read("context_length_exceeded"),
            Some(Overflow { asked: Some(48_000), limit: Some(16_000) })
        );
        assert_eq!(read("invalid_value"), None);
    }

    /// A refusal, the tokens it says were asked for, and the tokens it says are allowed.
    const OVERFLOWS: &[(&str, u64, u64)] = &[
        (
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 8545 tokens.",
            8545,
            8192,
        ),
        (
            "This model's maximum context length is 16384 tokens. However, you requested 122946 tokens (112946 in the messages, 10000 in the completion).",
            122_946,
            16384,
        ),
        (
            "This endpoint's maximum context length is 131072 tokens. However, you requested about 138956 tokens (7884 of text input, 131072 in the output).",
            138_956,
            131_072,
        ),
        (
            "This model's maximum context length is 128000 tokens. However, you requested 65535 output tokens and your prompt contains at least 62466 input tokens, for a total of at least 128001 tokens.",
            128_001,
            128_000,
        ),
        (
            "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 8192 tokens and your request has 5000 input tokens (4096 > 8192 - 5000).",
            9096,
            8192,
        ),
        ("prompt is too long: 208310 tokens > 200000 maximum", 208_310, 200_000),
        (
            "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length",
            209_573,
            200_000,
        ),
        (
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            1_200_000,
            1_048_576,
        ),
        (
            "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
            40_000,
            32_768,
        ),
        (
            "Trying to keep the first 15857 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.",
            15_857,
            4096,
        ),
        (
            "request (20001 tokens) exceeds the available context size (8192 tokens), try increasing it",
            20_001,
            8192,
        ),
        (
            "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
            537_812,
            131_072,
        ),
        ("Your request exceeded model token limit: 262144 (requested: 300000)", 300_000, 262_144),
        ("prompt token count of 130,000 exceeds the limit of 128,000", 130_000, 128_000),
        ("Requested tokens (2285) exceed context window of 2048", 2285, 2048),
        ("The decoder prompt (length 9000) is longer than the maximum model length of 8192.", 9000, 8192),
        (
            "Requested token count exceeds the model's maximum context length of 32768 tokens. You requested a total of 40000 tokens: 30000 tokens from the input messages and 10000 tokens for the completion.",
            40_000,
            32_768,
        ),
        (
            "The input (40000 tokens) is longer than the model's context length (32768 tokens).",
            40_000,
            32_768,
        ),
    ];

    const OTHER_REFUSALS: &[&str] = &[
        "max_tokens is too large: 50000. This model supports at most 16384 completion tokens, whereas you provided 50000.",
        "max_tokens: 50000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-sonnet-20241022",
        "Invalid 'messages[3].content': string too long. Expected a string with maximum length 1048576, but got a string with length 1500000 instead.",
        "messages.0.content.1.image: image exceeds 5 MB maximum: 5316852 bytes > 5242880 bytes",
        "Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested 7000, please reduce your prompt and try again.",
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 100 tokens.",
        "An assistant message with 'tool_calls' must be followed by tool messages. Message 9000 of the context is not.",
        "thinking.budget_tokens: Input should be greater than or equal to 1024",
        "",
    ];

    #[test]
    fn two_numbers_tell_what_was_asked_and_what_is_allowed() {
        for (text, asked, limit) in OVERFLOWS {
            assert_eq!(message(text), Some((*asked, *limit)), "{text}");
        }
    }

    #[test]
    fn other_refusals_are_no_overflow() {
        for text in OTHER_REFUSALS {
            assert_eq!(message(text), None, "{text}");
        }
        let real = br#"{"error":{"code":"context_length_exceeded"}}"#;
        assert!([200, 401, 422, 429, 500, 503].iter().all(|status| read_overflow(*status, real).is_none()));
    }

    #[test]
    fn a_body_of_too_many_bytes_is_no_overflow() {
        for message in [
            "Request exceeds the maximum size",
            "Request exceeds the maximum allowed number of bytes. The maximum request size is 32 MB.",
            "request body too large: 34000000 bytes > 33554432 bytes",
        ] {
            let body = json!({"type": "error", "error": {"type": "request_too_large", "message": message}});
            assert_eq!(read_overflow(413, body.to_string().as_bytes()), None, "{message}");
        }
        let body = json!({"type": "error", "error": {"type": "invalid_request_error",
            "message": "prompt is too long: 208310 tokens > 200000 maximum"}});
        let expected = Some(Overflow { asked: Some(208_310), limit: Some(200_000) });
        assert_eq!(read_overflow(400, body.to_string().as_bytes()), expected);
        assert_eq!(read_overflow(413, body.to_string().as_bytes()), expected);
    }

    #[test]
    fn a_code_is_enough() {
        let unknown = Some(Overflow { asked: None, limit: None });
        for body in [
            json!({"error": {"message": "Your input exceeds the context window of this model.", "code": "context_length_exceeded"}}),
            json!({"error": {"message": "too long", "type": "exceed_context_size_error", "code": 400}}),
            json!({"code": "CONTEXT_LENGTH_EXCEEDED"}),
            json!([{"error": {"status": "context_length_exceeded"}}]),
        ] {
            assert_eq!(read_overflow(400, body.to_string().as_bytes()), unknown, "{body}");
        }
        let sized = json!({"error": {"code": "tokens_limit_reached", "message": "Request body too large for gpt-4o model. Max size: 8000 tokens."}});
        let limit = Some(Overflow { asked: None, limit: Some(8000) });
        assert_eq!(read_overflow(413, sized.to_string().as_bytes()), limit);
    }

    #[test]
    fn llama_tells_its_figures_in_members() {
        let body = json!({"error": {
            "code": 400, "message": "the request exceeds the available context size. try increasing it",
            "type": "exceed_context_size_error", "n_prompt_tokens": 14429, "n_ctx": 8192
        }});
        let expected = Some(Overflow { asked: Some(14429), limit: Some(8192) });
        assert_eq!(read_overflow(400, body.to_string().as_bytes()), expected);
    }

    #[test]
    fn a_router_wraps_the_error_of_its_provider() {
        let raw =
            json!({"error": {"message": "prompt is too long: 208310 tokens > 200000 maximum"}}).to_string();
        let body = json!({"error": {
            "message": "Provider returned error", "code": 400,
            "metadata": {"raw": raw, "provider_name": "p"}
        }});
        let expected = Some(Overflow { asked: Some(208_310), limit: Some(200_000) });
        assert_eq!(read_overflow(400, body.to_string().as_bytes()), expected);
        let old_vllm = json!({"object": "error", "code": 400, "type": "BadRequestError", "message":
            "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens in the messages"});
        let expected = Some(Overflow { asked: Some(5000), limit: Some(4096) });
        assert_eq!(read_overflow(400, old_vllm.to_string().as_bytes()), expected);
        let text = json!({"error": "context length of 4096 tokens exceeded: request has 5000"}).to_string();
        assert_eq!(read_overflow(400, text.as_bytes()), expected);
        assert_eq!(read_overflow(413, b"context length of 4096 tokens exceeded: request has 5000"), expected);
    }

    proptest! {
        #[test]
        fn any_body_is_survived(body: Vec<u8>, text: String, words in "(context|limit|tokens| |>|[0-9]{1,22}|é|,)*") {
            read_overflow(400, &body);
            read_overflow(400, json!({"error": {"message": text}}).to_string().as_bytes());
            read_overflow(413, words.as_bytes());
        }
    }
}
