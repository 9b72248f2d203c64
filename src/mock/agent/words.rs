use super::random::{HEX, Random};

const NOUNS: &[&str] = &[
    "account",
    "address",
    "anchor",
    "archive",
    "balance",
    "basket",
    "batch",
    "bucket",
    "budget",
    "cabin",
    "carrier",
    "catalog",
    "channel",
    "charter",
    "checkpoint",
    "cluster",
    "column",
    "contract",
    "courier",
    "cursor",
    "customer",
    "depot",
    "discount",
    "dispatch",
    "document",
    "endpoint",
    "envelope",
    "event",
    "export",
    "fence",
    "filter",
    "folder",
    "forecast",
    "freight",
    "gateway",
    "harvest",
    "header",
    "index",
    "ingest",
    "inventory",
    "invoice",
    "journal",
    "label",
    "ledger",
    "lease",
    "limit",
    "listing",
    "locker",
    "manifest",
    "margin",
    "marker",
    "member",
    "meter",
    "migration",
    "monitor",
    "offer",
    "orchard",
    "order",
    "origin",
    "packet",
    "palette",
    "parcel",
    "partner",
    "payload",
    "payment",
    "permit",
    "pipeline",
    "policy",
    "pouch",
    "profile",
    "quota",
    "receipt",
    "record",
    "refund",
    "region",
    "registry",
    "relay",
    "replica",
    "report",
    "reserve",
    "rollup",
    "route",
    "sample",
    "schedule",
    "schema",
    "segment",
    "sensor",
    "session",
    "shard",
    "shelf",
    "shipment",
    "signal",
    "snapshot",
    "source",
    "stock",
    "stream",
    "tariff",
    "tenant",
    "thread",
    "ticket",
    "token",
    "trace",
    "vendor",
    "voucher",
    "warehouse",
    "window",
    "worker",
];

const VERBS: &[&str] = &[
    "accept", "adjust", "allocate", "apply", "assign", "attach", "balance", "build", "cancel", "check",
    "claim", "close", "collect", "commit", "compare", "convert", "create", "defer", "delete", "derive",
    "drain", "emit", "expand", "fetch", "filter", "find", "flush", "fold", "group", "handle", "hold",
    "import", "join", "load", "lock", "map", "mark", "merge", "move", "notify", "open", "pack", "parse",
    "plan", "probe", "publish", "read", "rebuild", "record", "reduce", "refresh", "reject", "release",
    "render", "replay", "resolve", "retry", "route", "scan", "seal", "send", "sort", "split", "store",
    "track", "trim", "update", "validate", "verify", "weigh", "write",
];

const ADJECTIVES: &[&str] = &[
    "active", "annual", "blank", "broken", "central", "clean", "closed", "cold", "common", "daily", "deep",
    "direct", "double", "early", "empty", "exact", "final", "first", "fixed", "foreign", "frozen", "hidden",
    "idle", "inner", "large", "late", "lazy", "legacy", "local", "missing", "narrow", "nested", "next",
    "old", "open", "outer", "pending", "plain", "prior", "public", "raw", "remote", "shared", "short",
    "signed", "single", "slow", "sparse", "stale", "strict", "total", "upper", "urgent", "valid", "vacant",
    "warm", "weekly", "whole", "wide",
];

const PHRASES: &[&str] = &[
    "the {n} has no {a} {n}",
    "{v} the {n} before the {n} is closed",
    "every {a} {n} keeps its own {n}",
    "a {n} may {v} more than one {n}",
    "no {n} is left to {v}",
    "the {a} {n} does not match the {n}",
    "{v} and {v} the {n} in one step",
    "a {n} older than {d} days counts as {a}",
    "only the {a} {n} can {v} it",
    "the {n} comes from another {n}",
];

/// A noun.
pub(super) fn noun(random: &mut Random) -> &'static str {
    random.pick(NOUNS)
}

/// `order_cursor` or `orderCursor`.
pub(super) fn name(parts: &[&str], camel: bool) -> String {
    if !camel {
        return parts.join("_");
    }
    parts
        .iter()
        .enumerate()
        .map(|(at, part)| if at == 0 { (*part).to_owned() } else { title(part) })
        .collect()
}

/// `Order`.
pub(super) fn title(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// The names that one file uses again and again.
#[derive(Debug, Clone)]
pub(super) struct Vocabulary {
    camel: bool,
    types: Vec<String>,
    functions: Vec<String>,
    variables: Vec<String>,
}

impl Vocabulary {
    pub(super) fn new(random: &mut Random, camel: bool) -> Self {
        let types = (0..5).map(|_| title(random.pick(ADJECTIVES)) + &title(random.pick(NOUNS)));
        let types = types.collect();
        let functions = (0..14).map(|_| function(random, camel)).collect();
        let variables = (0..12).map(|at| match at % 3 {
            0 => name(&[random.pick(ADJECTIVES), random.pick(NOUNS)], camel),
            1 => random.pick(NOUNS).to_owned(),
            _ => name(&[random.pick(NOUNS), random.pick(&["id", "count", "key", "list", "at"])], camel),
        });
        let variables = variables.collect();
        Self { camel, types, functions, variables }
    }

    /// Replaces each `{x}` of a template, `x` being one of: `n` noun, `v` verb, `a` adjective, `s` phrase, `T` type,
    /// `F` function used, `G` function new, `V` variable, `K` constant, `d` small number, `D` large number, `h` hash.
    pub(super) fn fill(&self, template: &str, random: &mut Random) -> String {
        let mut filled = String::with_capacity(template.len() * 2);
        let mut rest = template;
        while let Some(at) = rest.find('{') {
            filled.push_str(&rest[..at]);
            rest = &rest[at..];
            let hole = rest.get(1..3).filter(|hole| hole.ends_with('}')).map(|hole| &hole[..1]);
            if let Some(word) = hole.and_then(|hole| self.word(hole, random)) {
                filled.push_str(&word);
                rest = &rest[3..];
            } else {
                filled.push('{');
                rest = &rest[1..];
            }
        }
        filled + rest
    }

    fn word(&self, hole: &str, random: &mut Random) -> Option<String> {
        let of = |list: &[String], random: &mut Random| list[random.below(list.len())].clone();
        Some(match hole {
            "n" => random.pick(NOUNS).to_owned(),
            "v" => random.pick(VERBS).to_owned(),
            "a" => random.pick(ADJECTIVES).to_owned(),
            "s" => self.fill(random.pick(PHRASES), random),
            "T" => of(&self.types, random),
            "F" => of(&self.functions, random),
            "G" => function(random, self.camel),
            "V" => of(&self.variables, random),
            "K" => name(&[random.pick(ADJECTIVES), random.pick(NOUNS)], false).to_uppercase(),
            "d" => random.between(2, 90).to_string(),
            "D" => random.between(100, 90_000).to_string(),
            "h" => random.string(HEX, 8),
            _ => return None,
        })
    }
}

fn function(random: &mut Random, camel: bool) -> String {
    let (verb, noun) = (random.pick(VERBS), random.pick(NOUNS));
    match random.below(3) {
        0 => name(&[verb, noun], camel),
        1 => name(&[verb, random.pick(ADJECTIVES), noun], camel),
        _ => name(&[verb, noun, random.pick(NOUNS)], camel),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_filled_and_braces_stay() {
        let mut random = Random::new(5);
        let vocabulary = Vocabulary::new(&mut random, true);
        let filled = vocabulary.fill("if ({V} > {d}) { {F}({}); } {x} 中{n}文{", &mut random);
        assert!(
            filled.starts_with("if (") && filled.ends_with("文{") && filled.contains("({}); } {x} 中"),
            "{filled}"
        );
        assert!(!filled.contains("{V}") && !filled.contains("{n}"));
    }
}
