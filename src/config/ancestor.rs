//! The configuration of the ancestor plugin, taken as it is: its block alone, or within an `OpenClaw` configuration.

use std::ops::Range;
use std::sync::Arc;

use jsonc_parser::ast::{Object, ObjectProp, Value as Json};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use toml::Value;

use super::entry::{Entry, Said, dotted};
use super::shape::Shape;
use super::walk::{Content, Key, Node, walk};
use super::{Config, Place, Problem, Source};

/// Keys of the plugin that have no meaning here: how it batches calls of its summary model, and a hint for its host.
const WITHOUT_MEANING: [&str; 6] = [
    "detail_batch_enabled",
    "detail_batch_max_items",
    "detail_batch_flush_ms",
    "detail_batch_concurrency",
    "detail_max_model_items_per_prune",
    "compaction_threshold_hint",
];
/// A misspelt name that the plugin goes on accepting, and the right one.
const MISSPELT: (&str, &str) = ("keep_rencent_message", "keep_recent_messages");
/// Texts that the plugin takes as not given when they are empty.
const NOT_EMPTY: [&str; 2] = ["hard_clear_placeholder", "detail_placeholder"];

/// Whether a text is JSON rather than TOML: it begins with a brace or a JavaScript comment.
pub(super) fn is_json(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with('{') || text.starts_with("//") || text.starts_with("/*")
}

/// Reads a JSON file (comments, trailing commas, unquoted names and the like are fine).
pub(super) fn read(source: &Arc<Source>) -> Said {
    let mut said = Said::default();
    let place = |start, end| Place::Text { source: Arc::clone(source), span: start..end };
    let options = ParseOptions { allow_missing_commas: false, ..ParseOptions::default() };
    let tree = match parse_to_ast(&source.text, &CollectOptions::default(), &options) {
        Ok(tree) => tree,
        Err(error) => {
            let range = error.range();
            let what = format!("not JSON: {}", error.kind().to_string().to_lowercase());
            said.problems.push(Problem::new(place(range.start, range.end), what));
            return said;
        }
    };
    let found = match &tree.value {
        Some(Json::Object(root)) => block(root),
        _ => Err((0..0, "an object is expected")),
    };
    match found {
        Ok(found) => {
            let root = rearranged(source, &found, &mut said);
            walk(source, root, &mut said);
            measured_from_the_end(&mut said);
            as_the_plugin_would(&mut said);
        }
        Err((span, what)) => said.problems.push(Problem::new(place(span.start, span.end), what)),
    }
    said
}

/// The plugin's block, and whether the plugin is switched on.
struct Block<'a> {
    config: &'a Object<'a>,
    enabled: Option<&'a ObjectProp<'a>>,
}

fn block<'a>(root: &'a Object<'a>) -> Result<Block<'a>, (Range<usize>, &'static str)> {
    let entry = if let Some(plugins) = root.get("plugins") {
        let entries = plugins.value.as_object().and_then(|plugins| plugins.get_object("entries"));
        entries.and_then(|entries| entries.get_object("easy-pruning")).ok_or((
            span_of(&plugins.name),
            "this OpenClaw configuration has no object at plugins.entries[\"easy-pruning\"]",
        ))?
    } else {
        root
    };
    let enabled = entry.get("enabled");
    match entry.get("config") {
        Some(config) => {
            let config =
                config.value.as_object().ok_or((span_of(&config.value), "`config` must be an object"))?;
            Ok(Block { config, enabled: enabled.or_else(|| config.get("enabled")) })
        }
        None => Ok(Block { config: entry, enabled }),
    }
}

fn span_of(part: &impl Ranged) -> Range<usize> {
    part.start()..part.end()
}

/// The block in the form of our own file: most keys belong into `[pruning]`, some to the top.
fn rearranged(source: &Arc<Source>, block: &Block<'_>, said: &mut Said) -> Node {
    let place = |span| Place::Text { source: Arc::clone(source), span };
    let config = Shape::config();
    let mut top = Vec::new();
    let mut pruning = Vec::new();
    for property in &block.config.properties {
        let span = span_of(&property.name);
        let name = match property.name.as_str() {
            name if name == MISSPELT.0 => MISSPELT.1,
            name => name,
        };
        if WITHOUT_MEANING.contains(&name) {
            let note = "the rest of the block is used as it is";
            said.warnings.push(Problem::new(place(span), format!("`{name}` has no meaning here")).note(note));
            continue;
        }
        let is_top = name.starts_with("debug_") && config.get(name).is_some();
        let shape = if is_top { config.get(name) } else { config.at(&["pruning", name]) };
        let empty = matches!(&property.value, Json::StringLit(text) if text.value.is_empty());
        if name == "enabled"
            || matches!(property.value, Json::NullKeyword(_))
            || empty && NOT_EMPTY.contains(&name)
        {
            continue;
        }
        let member = (Key { name: name.to_owned(), span }, node(&property.value, shape));
        if is_top { top.push(member) } else { pruning.push(member) }
    }
    if let Some(enabled) = block.enabled {
        match &enabled.value {
            Json::BooleanLit(on) if on.value => {}
            Json::BooleanLit(_) => {
                let off = Node { span: span_of(&enabled.value), content: Content::Leaf(Value::from("off")) };
                top.push((Key { name: "mode".to_owned(), span: span_of(&enabled.name) }, off));
                said.warnings.push(
                    Problem::new(place(span_of(enabled)), "the plugin is switched off: nothing is pruned")
                        .note("this means mode = \"off\"; --mode prune overrides it"),
                );
            }
            other => {
                said.problems.push(Problem::new(place(span_of(other)), "`enabled` must be true or false"));
            }
        }
    }
    let span = span_of(block.config);
    if !pruning.is_empty() {
        let key = Key { name: "pruning".to_owned(), span: span.start..span.start + 1 };
        top.push((key, Node { span: span.clone(), content: Content::Table(pruning) }));
    }
    Node { span, content: Content::Table(top) }
}

fn node(json: &Json<'_>, shape: Option<&Shape>) -> Node {
    let content = match json {
        Json::Object(object) => Content::Table(
            object
                .properties
                .iter()
                .map(|property| {
                    let name = property.name.as_str();
                    let below = shape.and_then(|shape| shape.get(name));
                    let key = Key { name: name.to_owned(), span: span_of(&property.name) };
                    (key, node(&property.value, below))
                })
                .collect(),
        ),
        other => Content::Leaf(leaf(other, shape)),
    };
    Node { span: span_of(json), content }
}

fn leaf(json: &Json<'_>, shape: Option<&Shape>) -> Value {
    match json {
        Json::StringLit(text) => Value::String(text.value.to_string()),
        Json::BooleanLit(flag) => Value::Boolean(flag.value),
        Json::NumberLit(number) => number_of(number.value, matches!(shape, Some(Shape::Whole))),
        Json::Array(array) => Value::Array(array.elements.iter().map(|one| leaf(one, None)).collect()),
        Json::Object(_) => Value::Table(toml::Table::new()),
        Json::NullKeyword(_) => Value::String("null".to_owned()),
    }
}

/// A number as it is written; the plugin rounds counts down.
fn number_of(written: &str, whole: bool) -> Value {
    let plain = written.trim_start_matches('+');
    let hexadecimal = plain.strip_prefix("0x").or_else(|| plain.strip_prefix("0X"));
    if let Some(n) = hexadecimal.and_then(|digits| i64::from_str_radix(digits, 16).ok()) {
        return Value::Integer(n);
    }
    if let Ok(n) = plain.parse::<i64>() {
        return Value::Integer(n);
    }
    let number: f64 = plain.replace("Infinity", "inf").parse().unwrap_or(f64::NAN);
    if whole && number.is_finite() { Value::Integer(number.floor() as i64) } else { Value::Float(number) }
}

/// Says where ages are measured from, as the plugin does otherwise.
fn measured_from_the_end(said: &mut Said) {
    let given = |names: &[&str]| said.entries.iter().find(|entry| entry.path == path_of(names));
    let threshold =
        ["soft_threshold", "hard_threshold", "detail_threshold"].iter().find_map(|name| given(&[name]));
    if let (Some(threshold), None) = (threshold, given(&["zone_origin"])) {
        let what = "ages are measured from the newest message: older is pruned harder";
        let note = r#"the plugin measures from the start; "zone_origin": "oldest" in the block keeps that"#;
        said.warnings.push(Problem::new(threshold.place.clone(), what).note(note));
    }
}

/// Values that contradict each other: the plugin puts them right by itself, so the same is done here, and said.
fn as_the_plugin_would(said: &mut Said) {
    let defaults = Config::default().pruning;
    let mut notes = Vec::new();
    let mut last = ("soft_threshold", number(said, &["soft_threshold"], defaults.soft_threshold));
    for (name, default) in
        [("hard_threshold", defaults.hard_threshold), ("detail_threshold", defaults.detail_threshold)]
    {
        let own = number(said, &[name], default);
        let same_axis = (own < 1.0) == (last.1 < 1.0);
        if same_axis && own < last.1 {
            let raised = Value::Float(last.1);
            notes.push(set(said, &[name], raised, &format!("`{name}` is below `{}`", last.0)));
            last = (name, last.1);
        } else {
            last = (name, own);
        }
    }
    let trim = &defaults.soft_trim;
    let part = |said: &Said, name, default: usize| number(said, &["soft_trim", name], default as f64);
    let (most, head, tail) = (
        part(said, "max_chars", trim.max_chars),
        part(said, "head_chars", trim.head_chars),
        part(said, "tail_chars", trim.tail_chars),
    );
    if head + tail > most && most >= 0.0 {
        for (name, chars) in [("head_chars", head), ("tail_chars", tail)] {
            let share = Value::Integer((chars * most / (head + tail)).floor() as i64);
            let why = "`head_chars` and `tail_chars` together exceed `max_chars`";
            notes.push(set(said, &["soft_trim", name], share, why));
        }
    }
    said.warnings.extend(notes.into_iter().flatten());
}

fn path_of(names: &[&str]) -> Vec<String> {
    std::iter::once("pruning").chain(names.iter().copied()).map(str::to_owned).collect()
}

fn number(said: &Said, names: &[&str], default: f64) -> f64 {
    let path = path_of(names);
    let value = said.entries.iter().find(|entry| entry.path == path).map(|entry| &entry.value);
    match value {
        Some(Value::Integer(n)) => *n as f64,
        Some(Value::Float(n)) => *n,
        _ => default,
    }
}

/// Sets a value in the place of the plugin's user, unless what was given is wrong anyway.
fn set(said: &mut Said, names: &[&str], value: Value, why: &str) -> Option<Problem> {
    let path = path_of(names);
    if said.wrong.iter().any(|wrong| wrong.starts_with(&path_of(&names[..names.len() - 1]))) {
        return None;
    }
    let what = format!("{why}: `{}` is taken as {value}", dotted(&path));
    let old = said.entries.iter_mut().find(|entry| entry.path == path);
    let place = if let Some(old) = old {
        old.value = value;
        old.place.clone()
    } else {
        let near = said.entries.iter().rfind(|entry| entry.path.starts_with(&path[..path.len() - 1]));
        let place = near.map_or(Place::Default, |entry| entry.place.clone());
        said.entries.push(Entry { path, value, place: place.clone() });
        place
    };
    Some(Problem::new(place, what))
}
