use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

static SECRETS: LazyLock<[Regex; 3]> = LazyLock::new(|| {
    [
        // user and password of a URL
        r#"://([^/?#\s"']+)@"#,
        // the value of a query parameter
        r#"[?&][^=&\s"']+=([^&#\s"']+)"#,
        // a text given to something whose name says that it is secret
        r#"(?i)(?:key|token|secret|password|authorization)"?'?\s*[=:]\s*["']([^"']+)["']"#,
    ]
    .map(|pattern| Regex::new(pattern).expect("the patterns are fixed and were tried"))
});

/// `text` with every secret in it shown as `***`. Meant for values of the configuration.
pub fn redact(text: &str) -> String {
    replaced(text, |_| "***".to_owned())
}

/// `text` with every character of a secret replaced by `*`, so that columns stay where they were.
pub(super) fn mask(text: &str) -> String {
    replaced(text, |secret| "*".repeat(secret.chars().count()))
}

/// Whether a key of this name holds a secret.
pub(super) fn is_secret(key: &str) -> bool {
    let last = key.rsplit('_').next().unwrap_or(key);
    ["key", "token", "secret", "password"].contains(&last)
}

fn replaced(text: &str, with: impl Fn(&str) -> String) -> String {
    let mut spans: Vec<Range<usize>> = Vec::new();
    for pattern in SECRETS.iter() {
        spans.extend(pattern.captures_iter(text).filter_map(|c| c.get(1)).map(|m| m.range()));
    }
    spans.sort_by_key(|s| s.start);
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for span in spans {
        if span.end <= done {
            continue;
        }
        let start = span.start.max(done);
        out.push_str(&text[done..start]);
        out.push_str(&with(&text[start..span.end]));
        done = span.end;
    }
    out.push_str(&text[done..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_in_urls_and_beside_telling_names_are_hidden() {
        let shown = [
            ("https://me:sesame@host/v1?key=abc&x=1#top", "https://***@host/v1?key=***&x=***#top"),
            (r#"api_key = "sk-123""#, r#"api_key = "***""#),
            (r#""apiKey": "sk-123", "n": 1"#, r#""apiKey": "***", "n": 1"#),
            ("https://host/v1", "https://host/v1"),
            ("keep_recent_tokens = 10", "keep_recent_tokens = 10"),
        ];
        for (text, redacted) in shown {
            assert_eq!(redact(text), redacted);
        }
    }

    #[test]
    fn masking_keeps_columns() {
        let line = r#"url = "https://me:sésame@host/v1?key=abc" # note"#;
        let masked = mask(line);
        assert_eq!(masked.chars().count(), line.chars().count());
        assert!(!masked.contains("same") && !masked.contains("abc") && masked.ends_with("# note"));
    }

    #[test]
    fn names_of_secrets_are_known_and_counts_of_tokens_are_none() {
        assert!(is_secret("api_key") && is_secret("token"));
        assert!(!is_secret("keep_recent_tokens") && !is_secret("trigger_every_n_tokens"));
    }
}
