use std::path::PathBuf;

use secateur::mock::agent::{self, Agent, AgentOptions};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// Requests that are made of one conversation at most, unless `SECATEUR_EVERY_TURN` is set.
const REQUESTS: usize = 30;

/// What a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Chat,
    Messages,
    Responses,
}

/// A conversation: the entries of its list, and what its requests are.
pub(crate) struct Story {
    pub(crate) name: String,
    pub(crate) format: Format,
    /// What stands in a body in front of the list.
    around: String,
    /// JSON texts.
    pub(crate) entries: Vec<String>,
    /// How many entries each request has.
    pub(crate) turns: Vec<usize>,
}

impl Format {
    pub(crate) const ALL: [Self; 3] = [Self::Chat, Self::Messages, Self::Responses];

    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Chat => "/v1/chat/completions",
            Self::Messages => "/v1/messages",
            Self::Responses => "/v1/responses",
        }
    }

    /// Where transcripts in it are.
    fn folder(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Messages => "anthropic",
            Self::Responses => "responses",
        }
    }

    fn list(self) -> &'static str {
        if self == Self::Responses { "input" } else { "messages" }
    }

    /// The size of a request, as an answer tells it.
    pub(crate) fn input_tokens(self, answer: &Value) -> u64 {
        let figure = |name: &str| answer["usage"][name].as_u64().expect("an answer tells its usage");
        match self {
            Self::Chat => figure("prompt_tokens"),
            Self::Messages => ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"]
                .map(figure)
                .iter()
                .sum(),
            Self::Responses => figure("input_tokens"),
        }
    }

    /// The entries of the list in a body, as they are spelt.
    pub(crate) fn entries(self, body: &[u8]) -> Vec<String> {
        let members = super::Members::of(body);
        let list = members.get(self.list()).expect("a body has a list");
        let list: Vec<&RawValue> = serde_json::from_str(list).expect("a list");
        list.into_iter().map(|entry| entry.get().to_owned()).collect()
    }

    /// Whether the model says or does it.
    fn is_reply(self, entry: &Value) -> bool {
        let kind = entry["type"].as_str().unwrap_or_default();
        entry["role"] == "assistant"
            || self == Self::Responses && (kind == "reasoning" || kind.ends_with("_call"))
    }

    /// The tool outputs in an entry.
    pub(crate) fn outputs(self, entry: &mut Value) -> Vec<&mut Value> {
        match self {
            Self::Chat if entry["role"] == "tool" => vec![&mut entry["content"]],
            Self::Responses if entry.get("output").is_some() => vec![&mut entry["output"]],
            Self::Messages => {
                let blocks = entry["content"].as_array_mut().into_iter().flatten();
                let results = blocks.filter(|block| block["type"] == "tool_result");
                results.filter_map(|block| block.get_mut("content")).collect()
            }
            Self::Chat | Self::Responses => Vec::new(),
        }
    }
}

impl Story {
    /// A request is made wherever the model speaks next, and at the end.
    fn new(format: Format, name: String, around: &Value, entries: &[Value]) -> Self {
        let speaks = |at: usize| format.is_reply(&entries[at]);
        let mut turns: Vec<usize> = (1..entries.len()).filter(|at| speaks(*at) && !speaks(at - 1)).collect();
        if entries.last().is_some_and(|last| !format.is_reply(last)) {
            turns.push(entries.len());
        }
        if std::env::var_os("SECATEUR_EVERY_TURN").is_none() {
            let step = turns.len().div_ceil(REQUESTS);
            let last = turns.len() - 1;
            turns = turns
                .into_iter()
                .enumerate()
                .filter(|(at, _)| (last - at) % step == 0)
                .map(|(_, n)| n)
                .collect();
        }
        let around = around.to_string();
        let around = around[..around.len() - 1].to_owned();
        let entries = entries.iter().map(Value::to_string).collect();
        Self { name, format, around, entries, turns }
    }

    /// A made-up one. In the formats that have it, with thinking.
    pub(crate) fn generated(format: Format, seed: u64, options: &AgentOptions) -> Self {
        let conversation = Agent::new(seed).conversation(options);
        let (around, list) = match format {
            Format::Chat => (json!({}), agent::chat::messages(&conversation, usize::MAX)),
            Format::Messages => {
                let writer = agent::messages::Messages { thinking: true };
                let list = agent::History::written_by(writer, &conversation).at(usize::MAX);
                (json!({"max_tokens": 64, "system": conversation.system}), list)
            }
            Format::Responses => {
                let writer = agent::responses::Responses { reasoning: true };
                let list = agent::History::written_by(writer, &conversation).at(usize::MAX);
                (json!({"store": false, "instructions": conversation.system}), list)
            }
        };
        let entries: Vec<Value> = serde_json::from_str(&list).expect("a list");
        Self::new(format, format!("generated {format:?} {seed}"), &with_model(around), &entries)
    }

    /// All that are there in this format: in the folder that `SECATEUR_TRANSCRIPTS` names, or beside the project.
    pub(crate) fn recorded(format: Format) -> impl Iterator<Item = Self> {
        let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/transcripts");
        let folder = std::env::var_os("SECATEUR_TRANSCRIPTS").map_or(beside, PathBuf::from);
        let entries = std::fs::read_dir(folder.join(format.folder())).into_iter().flatten();
        let mut paths: Vec<_> = entries.map(|entry| entry.expect("it can be read").path()).collect();
        paths.sort();
        paths.into_iter().map(move |path| {
            let file = std::fs::read(&path).expect("it can be read");
            let file: Value = serde_json::from_slice(&file).expect("a transcript is JSON");
            let mut around = match format {
                Format::Chat | Format::Responses => json!({}),
                Format::Messages => json!({"max_tokens": 64}),
            };
            for name in ["system", "instructions"] {
                if let Some(text) = file.get(name) {
                    around[name] = text.clone();
                }
            }
            let entries = file[format.list()].as_array().expect("a transcript has a list");
            let name = format!("{format:?} {}", path.file_stem().expect("a name").to_string_lossy());
            Self::new(format, name, &with_model(around), entries)
        })
    }

    /// The body of the request with so many entries.
    pub(crate) fn body(&self, entries: usize) -> String {
        let list = self.entries[..entries].join(",");
        format!("{},\"{}\":[{list}]}}", self.around, self.format.list())
    }
}

fn with_model(mut around: Value) -> Value {
    around["model"] = "m".into();
    around
}
