//! Two numbers in a provider's sentence: how many tokens were asked for, and how many are allowed. Sentences differ
//! from provider to provider; what they share is that the allowed number stands behind a word for a limit.

/// Windows below this are taken for something else.
const SMALLEST: u64 = 512;
/// Numbers above this are taken for something else.
const LARGEST: u64 = 100_000_000;

/// Tokens asked for, and fewer that are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) asked: u64,
    pub(super) limit: u64,
}

/// A number, with the words in front of it (since the number before) and the words behind.
struct Number<'t> {
    value: u64,
    before: &'t str,
    behind: &'t str,
}

/// The two numbers of a message that says that a request does not fit into a model's window.
pub(super) fn asked_and_limit(message: &str) -> Option<Pair> {
    let message = message.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| message.contains(word));
    let speaks_of_it =
        has(&["token", "context", "model length"]) && has(&["context", "prompt", "input", "request"]);
    if !speaks_of_it
        || has(&["per minute", "per day", "per hour", "(tpm)", "rate limit", "rate_limit", "quota"])
    {
        return None;
    }
    let numbers = numbers(&message);
    let (place, limit) = find_limit(&numbers)?;
    let mut others: Vec<u64> = numbers
        .iter()
        .enumerate()
        .filter(|(i, n)| *i != place && n.value != limit)
        .map(|(_, n)| n.value)
        .collect();
    others.sort_unstable_by(|a, b| b.cmp(a));
    others.dedup();
    let asked = match others[..] {
        [largest, ..] if largest > limit => largest,
        [prompt, answer, ..] if prompt + answer > limit => prompt + answer,
        // As much room for the answer as the window has: the same number twice.
        [prompt, ..]
            if numbers.iter().filter(|n| n.value == limit).count() > 1 && has(&["max_tokens", "output"]) =>
        {
            limit + prompt
        }
        _ => return None,
    };
    Some(Pair { asked, limit })
}

/// The only two numbers of a message that is known to say that a request does not fit, whatever its words.
pub(super) fn only_two(message: &str) -> Option<Pair> {
    let message = message.to_lowercase();
    let numbers = numbers(&message);
    let plausible: Vec<u64> =
        numbers.iter().map(|n| n.value).filter(|value| (SMALLEST..=LARGEST).contains(value)).collect();
    match plausible[..] {
        [a, b] if a != b => Some(Pair { asked: a.max(b), limit: a.min(b) }),
        _ => None,
    }
}

/// The allowed number alone.
pub(super) fn limit(message: &str) -> Option<u64> {
    let message = message.to_lowercase();
    find_limit(&numbers(&message)).map(|(_, limit)| limit)
}

fn find_limit(numbers: &[Number<'_>]) -> Option<(usize, u64)> {
    const CUES: [&str; 12] = [
        "maximum",
        "max ",
        "limit",
        "window",
        "context length",
        "context size",
        "n_ctx",
        "prompt length is",
        "model length",
        "allowed",
        "available",
        "capacity",
    ];
    const REQUEST: [&str; 7] =
        ["requested", "resulted", "contains", "request has", "your request", "input token", "prompt token"];
    let compared = |n: &Number<'_>| n.before.trim_end().ends_with('>');
    let named = |n: &Number<'_>| {
        let last = |words: &[&str]| words.iter().filter_map(|word| n.before.rfind(word)).max();
        n.behind.trim_start().starts_with("maximum") || last(&CUES) > last(&REQUEST)
    };
    let plausible = |n: &Number<'_>| (SMALLEST..=LARGEST).contains(&n.value);
    let place = numbers.iter().position(|n| compared(n) && plausible(n));
    let place = place.or_else(|| numbers.iter().position(|n| named(n) && plausible(n)))?;
    Some((place, numbers[place].value))
}

/// The whole numbers that stand for themselves: no part of a name, a version or a fraction.
fn numbers(text: &str) -> Vec<Number<'_>> {
    let bytes = text.as_bytes();
    let mut found: Vec<(usize, usize, u64)> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let start = at;
        at += digits(&bytes[at..]);
        while bytes.get(at) == Some(&b',') && digits(&bytes[at + 1..]) == 3 {
            at += 4;
        }
        let joined = |byte: u8| {
            byte.is_ascii_alphanumeric() || !byte.is_ascii() || matches!(byte, b'_' | b'-' | b'/' | b'#')
        };
        let before = start.checked_sub(1).map(|i| bytes[i]);
        let fraction =
            |i: usize| bytes.get(i) == Some(&b'.') && bytes.get(i + 1).is_some_and(u8::is_ascii_digit);
        let alone = !before.is_some_and(|byte| joined(byte) || byte == b'.')
            && !bytes.get(at).is_some_and(|byte| joined(*byte))
            && !fraction(at);
        let value = text[start..at].replace(',', "").parse().unwrap_or(u64::MAX);
        if alone && value <= LARGEST {
            found.push((start, at, value));
        }
    }
    let end_before = |i: usize| i.checked_sub(1).map_or(0, |previous| found[previous].1);
    let number = |(i, &(start, end, value)): (usize, &(usize, usize, u64))| Number {
        value,
        before: &text[end_before(i)..start],
        behind: &text[end..],
    };
    found.iter().enumerate().map(number).collect()
}

fn digits(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_that_stand_alone_count() {
        let values = |text| numbers(text).iter().map(|n| n.value).collect::<Vec<_>>();
        assert_eq!(
            values("gpt-4-32k asked 1,234,567 of (200000), 1.5 times; id_77 9é 8192."),
            [1_234_567, 200_000, 8192]
        );
        assert_eq!(values("99999999999999999999999999 1,23 4"), [1, 23, 4]);
    }

    #[test]
    fn the_limit_stands_behind_its_word() {
        assert_eq!(limit("max size: 8000 tokens"), Some(8000));
        assert_eq!(limit("you requested 8000 tokens"), None);
        assert_eq!(limit("a limit of 7"), None);
    }
}
