use super::cut;
use crate::model::Strength;
use crate::prune::{Draft, Proposal, SoftTrim, Stage};

/// Keeps the head and the tail of a long output, and between them the lines that later messages refer to.
pub struct Soft;

/// Between two kept parts of the middle.
const GAP: &str = "…";

impl Stage for Soft {
    fn name(&self) -> &'static str {
        "soft"
    }

    fn strength(&self) -> Strength {
        Strength::Soft
    }

    fn propose(&self, draft: &Draft<'_>, among: &[usize]) -> Vec<Proposal> {
        let limits = &draft.settings.soft_trim;
        let trimmed = |&index: &usize| {
            // Bytes as written are never fewer than characters: the cheap look comes first.
            if draft.items()[index].text_bytes() <= limits.max_chars {
                return None;
            }
            let text = trim(&draft.transcript.text(index), limits, |line| {
                draft.references().later(line, index).map(str::to_owned).collect()
            })?;
            Some(Proposal::Replace { index, text, strength: Strength::Soft })
        };
        among.iter().filter_map(trimmed).collect()
    }
}

/// The trimmed text, at most `max_chars` long; `None` when it is not longer than that. `referred` names the
/// references in a line that are made again later.
pub(super) fn trim(text: &str, limits: &SoftTrim, referred: impl Fn(&str) -> Vec<String>) -> Option<String> {
    let chars = cut::len(text);
    if chars <= limits.max_chars {
        return None;
    }
    let marker = |missing: usize| format!("\n[… {missing} characters cut …]\n");
    let marker_chars = cut::len(&marker(chars));
    let room = limits.max_chars.saturating_sub(marker_chars);
    let head_chars = limits.head_chars.min(room);
    let tail_chars = limits.tail_chars.min(room - head_chars);
    let (head, tail) = (cut::head(text, head_chars), cut::tail(text, tail_chars));
    let middle = &text[head.len()..text.len() - tail.len()];
    let evidence = evidence(middle, room - head_chars - tail_chars, referred);
    let missing = chars - head_chars - tail_chars - evidence.kept_chars;
    Some(format!("{head}{}{}{tail}", marker(missing), evidence.text))
}

#[derive(Default)]
struct Evidence {
    text: String,
    kept_chars: usize,
}

/// The lines of `middle` that hold later references, as far as `budget` characters go: rarest references first,
/// written in their order.
fn evidence(middle: &str, budget: usize, referred: impl Fn(&str) -> Vec<String>) -> Evidence {
    if budget < 40 {
        return Evidence::default();
    }
    let lines: Vec<&str> = middle.lines().collect();
    let mut spread = std::collections::HashMap::<String, usize>::new();
    let mut candidates = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let references = referred(line);
        for reference in &references {
            *spread.entry(reference.clone()).or_default() += 1;
        }
        if !references.is_empty() {
            candidates.push((number, references));
        }
    }
    let rarest = |references: &[String]| references.iter().map(|r| spread[r]).min().unwrap_or(usize::MAX);
    candidates.sort_by_key(|(number, references)| (rarest(references), *number));
    let mut left = budget;
    let mut kept = Vec::new();
    for (number, _) in candidates {
        let cost = cut::len(lines[number]) + 2 + cut::len(GAP);
        if cost <= left {
            left -= cost;
            kept.push(number);
        }
    }
    kept.sort_unstable();
    let mut found = Evidence::default();
    for (place, number) in kept.iter().enumerate() {
        let follows = place > 0 && kept[place - 1] + 1 == *number;
        if place > 0 && !follows {
            found.text.push_str(GAP);
            found.text.push('\n');
        }
        found.text.push_str(lines[*number]);
        found.text.push('\n');
        found.kept_chars += cut::len(lines[*number]);
    }
    if !found.text.is_empty() {
        found.text.push_str(GAP);
        found.text.push('\n');
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LIMITS: SoftTrim = SoftTrim { max_chars: 300, head_chars: 60, tail_chars: 60 };

    #[test]
    fn head_tail_and_referred_lines_stay() {
        let text: String = (0..100).map(|n| format!("row {n} of the table\n")).collect();
        let trimmed =
            trim(
                &text,
                &LIMITS,
                |line| {
                    if line.starts_with("row 57 ") { vec!["57".into()] } else { Vec::new() }
                },
            )
            .unwrap();
        assert!(trimmed.starts_with(cut::head(&text, 60)) && trimmed.ends_with(cut::tail(&text, 60)));
        assert!(trimmed.contains("row 57 of the table\n") && trimmed.contains("characters cut"));
    }

    #[test]
    fn short_text_is_left_alone() {
        assert_eq!(trim(&"x".repeat(300), &LIMITS, |_| Vec::new()), None);
    }

    proptest! {
        #[test]
        fn never_longer_than_allowed(text in "(\\PC{0,40}\n){0,40}", max in 0_usize..400, head in 0_usize..200, tail in 0_usize..200) {
            let limits = SoftTrim { max_chars: max, head_chars: head, tail_chars: tail };
            if let Some(trimmed) = trim(&text, &limits, |line| vec![line.to_owned()]) {
                let marker = cut::len("\n[… 00000 characters cut …]\n");
                prop_assert!(cut::len(&trimmed) <= max.max(marker));
            }
        }
    }
}
