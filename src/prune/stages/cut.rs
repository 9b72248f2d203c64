//! Cutting text by characters (Unicode scalar values), never inside one.

/// The first `chars` characters of `text`.
pub(super) fn head(text: &str, chars: usize) -> &str {
    text.char_indices().nth(chars).map_or(text, |(at, _)| &text[..at])
}

/// The last `chars` characters of `text`.
pub(super) fn tail(text: &str, chars: usize) -> &str {
    match chars.checked_sub(1) {
        None => "",
        Some(back) => text.char_indices().rev().nth(back).map_or(text, |(at, _)| &text[at..]),
    }
}

/// How many characters `text` has.
pub(super) fn len(text: &str) -> usize {
    text.chars().count()
}

/// One line of at most `chars` characters; an ellipsis says that there was more.
pub(super) fn brief(text: &str, chars: usize) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    if line.len() == text.trim().len() && len(line) <= chars {
        return line.to_owned();
    }
    format!("{}…", head(line, chars.saturating_sub(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_fall_between_characters() {
        assert_eq!((head("aжz", 2), tail("aжz", 2)), ("aж", "жz"));
        assert_eq!((head("🌿", 5), tail("🌿", 5), tail("🌿", 0)), ("🌿", "🌿", ""));
    }

    #[test]
    fn a_brief_line_says_that_there_was_more() {
        assert_eq!(brief("one\ntwo", 10), "one…");
        assert_eq!(brief("abcdef", 4), "abc…");
        assert_eq!(brief(" abc ", 4), "abc");
    }
}
