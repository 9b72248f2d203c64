use std::ops::Range;

use tiktoken_rs::CoreBPE;

use super::TokenCounter;

/// The `o200k_base` encoding. Models of other vendors count somewhat differently; the ratio learnt from their real
/// counts makes up for it.
#[derive(Clone, Copy)]
pub struct Tiktoken(&'static CoreBPE);

/// Longest run of one character class, in bytes, that is given to the tokeniser in one piece. It merges a piece in
/// time that grows with the square of its length, and its regular expressions backtrack over white space until
/// the stack ends; words, indents and rulers of ordinary text are shorter than this.
const LONGEST_RUN: usize = 96;

impl Tiktoken {
    /// The encoding of current OpenAI models. The first call reads the table, which takes some 100 ms.
    pub fn o200k() -> Self {
        Self(tiktoken_rs::o200k_base_singleton())
    }
}

/// From this length on, in bytes, an unbroken run of letters, digits and the signs of base64 is no text but encoded
/// data: the same all the way, so that a part of it tells the rest.
const BLOB: usize = 2_048;
/// That part, in bytes. Such data is the slowest of all to tokenise.
const SAMPLE: usize = 1_024;

impl TokenCounter for Tiktoken {
    fn count(&self, text: &str) -> u32 {
        let mut tokens = 0;
        let mut at = 0;
        for blob in blobs(text) {
            let sample = self.count_pieces(&text[blob.start..blob.start + SAMPLE]);
            tokens += self.count_pieces(&text[at..blob.start]) + sample * blob.len() / SAMPLE;
            at = blob.end;
        }
        tokens += self.count_pieces(&text[at..]);
        u32::try_from(tokens).unwrap_or(u32::MAX)
    }
}

impl Tiktoken {
    fn count_pieces(self, text: &str) -> usize {
        Pieces { text, start: 0 }.map(|range| self.0.count_ordinary(&text[range])).sum()
    }
}

/// The runs of encoded data in a text.
fn blobs(text: &str) -> impl Iterator<Item = Range<usize>> {
    let is_data =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_');
    let mut at = 0;
    text.as_bytes().split(move |byte| !is_data(byte)).filter_map(move |run| {
        let start = at;
        at += run.len() + 1;
        (run.len() >= BLOB).then_some(start..start + run.len())
    })
}

/// Cuts a text inside overlong runs, and nowhere else.
struct Pieces<'a> {
    text: &'a str,
    start: usize,
}

#[derive(PartialEq, Clone, Copy)]
enum Class {
    Letter,
    Digit,
    Space,
    Other,
}

impl Iterator for Pieces<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let rest = &self.text[self.start..];
        if rest.is_empty() {
            return None;
        }
        let (mut run_start, mut run_class) = (0, None);
        for (at, c) in rest.char_indices() {
            let class = Class::of(c);
            if run_class != Some(class) {
                (run_start, run_class) = (at, Some(class));
            } else if at - run_start >= LONGEST_RUN && class != Class::Digit {
                let piece = self.start..self.start + at;
                self.start = piece.end;
                return Some(piece);
            }
        }
        let piece = self.start..self.text.len();
        self.start = piece.end;
        Some(piece)
    }
}

impl Class {
    fn of(c: char) -> Self {
        match c {
            'a'..='z' | 'A'..='Z' => Self::Letter,
            '0'..='9' => Self::Digit,
            ' ' | '\t' | '\n' | '\r' => Self::Space,
            _ if c.is_ascii() => Self::Other,
            _ if c.is_whitespace() => Self::Space,
            _ if c.is_alphabetic() => Self::Letter,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(text: &str) -> usize {
        tiktoken_rs::o200k_base_singleton().count_ordinary(text)
    }

    #[test]
    fn ordinary_text_is_counted_exactly() {
        let code =
            "fn main() {\n        let total: u64 = items.iter().map(|i| i.len()).sum();\n    }\n".repeat(40);
        let table =
            "| name | 12345678901234567890 | ------------------------------------------ |\n".repeat(10);
        let chinese = "他读取了配置文件,然后重新启动服务。没有发现错误。\n".repeat(20);
        for text in ["", "a", &code, &table, &chinese] {
            assert_eq!(Tiktoken::o200k().count(text) as usize, exact(text), "{text:.40}");
        }
    }

    #[test]
    fn a_megabyte_without_a_break_is_counted_and_stays_below_its_bytes() {
        for unit in [" ", "a", "\n", "=", "é", "目"] {
            let text = unit.repeat(1_000_000 / unit.len());
            let tokens = Tiktoken::o200k().count(&text) as usize;
            assert!(tokens > 1_000 && tokens <= text.len(), "{unit:?}: {tokens}");
        }
    }

    #[test]
    fn encoded_data_is_told_from_a_part_of_it() {
        let mut seed = 7_u64;
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[(seed >> 58) as usize] as char
        };
        let data: String = (0..40_000).map(|_| next()).collect();
        let text = format!("the image: {data} and some words behind it");
        let (ours, exact) = (f64::from(Tiktoken::o200k().count(&text)), exact(&text) as f64);
        assert!((ours / exact - 1.0).abs() < 0.05, "{ours} {exact}");
    }

    #[test]
    fn a_long_run_costs_little_accuracy() {
        let text = "目录".repeat(2_000);
        let (ours, exact) = (f64::from(Tiktoken::o200k().count(&text)), exact(&text) as f64);
        assert!((ours / exact - 1.0).abs() < 0.05, "{ours} {exact}");
    }
}
