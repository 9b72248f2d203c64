//! Made-up texts of several kinds, the same in every run.

use std::fmt::Write as _;

/// A stream of numbers that look random.
pub(crate) struct Random(u64);

const NOUNS: [&str; 32] = [
    "order", "invoice", "session", "buffer", "cursor", "header", "request", "answer", "window", "token",
    "prefix", "ledger", "anchor", "budget", "stage", "worker", "queue", "socket", "router", "policy",
    "bucket", "record", "schema", "parser", "signal", "metric", "report", "target", "client", "branch",
    "commit", "module",
];
const VERBS: [&str; 16] = [
    "read", "write", "find", "merge", "split", "load", "store", "parse", "render", "count", "check", "send",
    "collect", "resolve", "measure", "update",
];
const CHINESE: [&str; 24] = [
    "配置", "文件", "读取", "服务", "启动", "错误", "没有", "发现", "测试", "通过", "数据", "请求", "回答",
    "模型", "已经", "修改", "用户", "需要", "检查", "结果", "代码", "运行", "之后", "系统",
];
const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

impl Random {
    /// The stream of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % limit
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// Source text, about as long as asked for.
pub(crate) fn code(bytes: usize, random: &mut Random) -> String {
    grown(bytes, |text| {
        let (verb, noun, other) = (random.pick(&VERBS), random.pick(&NOUNS), random.pick(&NOUNS));
        let number = random.below(9_000);
        match random.below(6) {
            0 => writeln!(text, "\npub fn {verb}_{noun}(&self, {other}: &str) -> Result<u32, Error> {{"),
            1 => writeln!(text, "    let {noun} = self.{other}.{verb}(\"{noun}-{number}\")?;"),
            2 => writeln!(
                text,
                "    if {noun}.len() > {number} && !{other}.is_empty() {{\n        return {noun};\n    }}"
            ),
            3 => writeln!(
                text,
                "    // The {other} is needed to {verb} the {noun} again, so that it stays the same."
            ),
            4 => writeln!(text, "        Some({noun}) => {noun}.{verb}(|{other}| {other} + {number}),"),
            _ => writeln!(text, "    self.{noun}s.push({noun}.clone());\n}}"),
        }
    })
}

/// Records in JSON, a line each.
pub(crate) fn json(bytes: usize, random: &mut Random) -> String {
    grown(bytes, |text| {
        let (noun, other) = (random.pick(&NOUNS), random.pick(&NOUNS));
        let (id, cents, day) = (random.below(900_000), random.below(100_000), random.below(28) + 1);
        writeln!(
            text,
            "{{\"id\":{id},\"name\":\"{noun}-{other}\",\"total\":{cents}.{:02},\"created_at\":\"2025-03-{day:02}T08:{:02}:11Z\",\"tags\":[\"{other}\",\"{noun}\"],\"active\":{}}},",
            cents % 100,
            id % 60,
            id % 3 == 0
        )
    })
}

/// Lines of a log.
pub(crate) fn log(bytes: usize, random: &mut Random) -> String {
    grown(bytes, |text| {
        let (noun, verb, other) = (random.pick(&NOUNS), random.pick(&VERBS), random.pick(&NOUNS));
        let number = random.below(1_000_000);
        writeln!(
            text,
            "2025-03-07T08:{:02}:{:02}.{:03}Z INFO {noun}::{other}: cannot {verb} the {other} req={number:06x} took={}ms",
            number % 60,
            number / 60 % 60,
            number % 1_000,
            number % 977
        )
    })
}

/// Chinese sentences.
pub(crate) fn chinese(bytes: usize, random: &mut Random) -> String {
    grown(bytes, |text| {
        for _ in 0..4 + random.below(8) {
            text.push_str(random.pick(&CHINESE));
        }
        text.write_str(random.pick(&["，", "。", "。\n"]))
    })
}

/// Base64 without a line break.
pub(crate) fn base64(bytes: usize, random: &mut Random) -> String {
    (0..bytes).map(|_| char::from(random.pick(BASE64))).collect()
}

/// A tool's output: one of several kinds.
pub(crate) fn output(bytes: usize, random: &mut Random) -> String {
    match random.below(4) {
        0 => json(bytes, random),
        1 => log(bytes, random),
        _ => code(bytes, random),
    }
}

fn grown(bytes: usize, mut add: impl FnMut(&mut String) -> std::fmt::Result) -> String {
    let mut text = String::with_capacity(bytes + 200);
    while text.len() < bytes && add(&mut text).is_ok() {}
    text.truncate(text.floor_char_boundary(bytes));
    text
}
