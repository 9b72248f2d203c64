use super::cut;

/// Words that announce a result, in lower case. In English and Chinese, as agents' tools write.
const MARKERS: [&str; 22] = [
    "error",
    "failed",
    "failure",
    "fatal",
    "exception",
    "panicked",
    "traceback",
    "passed",
    "succeeded",
    "success",
    "summary",
    "result:",
    "total",
    "conclusion",
    "final answer",
    "warning",
    "exit code",
    "错误",
    "失败",
    "成功",
    "总结",
    "结论",
];
/// Longest conclusion, in characters.
const LONGEST: usize = 300;
/// Longest line of one, in characters.
const LONGEST_LINE: usize = 160;

/// What an output comes to: its last lines that announce a result, else its last paragraph. Empty for empty text.
pub(super) fn of(text: &str) -> String {
    let announces = |line: &&str| {
        let low = line.to_lowercase();
        MARKERS.iter().any(|marker| low.contains(marker))
    };
    let mut kept: Vec<String> = Vec::new();
    let mut left = LONGEST;
    let marked = text.lines().rev().map(str::trim).filter(|l| !l.is_empty()).filter(announces);
    for line in marked.map(|line| cut::brief(line, LONGEST_LINE)) {
        let cost = cut::len(&line) + 1;
        if cost > left {
            break;
        }
        left -= cost;
        if !kept.contains(&line) {
            kept.push(line);
        }
    }
    if kept.is_empty() {
        let paragraph = text.trim_end().rsplit("\n\n").next().unwrap_or_default();
        return cut::tail(paragraph.trim(), LONGEST).trim_start().to_owned();
    }
    kept.reverse();
    kept.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_announce_a_result_come_first() {
        assert_eq!(
            of("compiling\nerror[E0308]: mismatched types\nnote: x\n\n3 passed, 1 failed\nbye"),
            "error[E0308]: mismatched types\n3 passed, 1 failed"
        );
        assert_eq!(of("first\n\nlast words\nof it\n"), "last words\nof it");
        assert_eq!(of("测试失败: 3"), "测试失败: 3");
        assert_eq!(of(""), "");
    }
}
