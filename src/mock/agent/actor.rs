use serde_json::{Value, json};

use super::memory::Memory;
use super::output::{self, Kind, Mention, Output};
use super::project::Project;
use super::random::Random;
use super::sizes;
use super::words::noun;
use super::{data, logs, prose};

/// Share of calls that name something that stands in an earlier output and was never named before.
const RECALLS: f64 = 0.2;
/// Share of calls that read again what was read.
const REPEATS: f64 = 0.03;

/// One call and what came of it.
#[derive(Debug)]
pub(super) struct Action {
    pub(super) tool: &'static str,
    pub(super) arguments: Value,
    pub(super) output: Output,
    pub(super) failed: bool,
}

/// Who calls the tools: what it works on, and what it knows of it.
#[derive(Debug)]
pub(super) struct Actor {
    pub(super) random: Random,
    pub(super) project: Project,
    /// Size of the conversation so far, in tokens, estimated.
    pub(super) now: f64,
    memory: Memory,
    /// Files it has named, the latest last.
    known: Vec<usize>,
    reads: Vec<(usize, usize, usize)>,
}

#[derive(Debug, Clone, Copy)]
enum Act {
    Edit,
    Write,
    Plan,
    Quiet,
    Fail,
    Search,
    List,
    Read,
    Tests,
    Commits,
    Rows,
    Build,
    Page,
    Hits,
    Chinese,
    Logs,
    Blob,
}

/// What is done for outputs of up to so many tokens, by weight.
const CHOICES: &[(f64, &[(u32, Act)])] = &[
    (12.0, &[(50, Act::Edit), (22, Act::Write), (10, Act::Plan), (18, Act::Quiet)]),
    (60.0, &[(20, Act::Fail), (35, Act::Edit), (30, Act::Search), (5, Act::Quiet), (10, Act::Tests)]),
    (
        400.0,
        &[
            (22, Act::Search),
            (10, Act::List),
            (25, Act::Read),
            (12, Act::Tests),
            (8, Act::Commits),
            (6, Act::Rows),
            (6, Act::Hits),
            (4, Act::Chinese),
            (7, Act::Edit),
        ],
    ),
    (
        2500.0,
        &[
            (36, Act::Read),
            (14, Act::Search),
            (14, Act::Tests),
            (12, Act::Rows),
            (7, Act::Build),
            (7, Act::Page),
            (4, Act::Logs),
            (4, Act::Chinese),
            (2, Act::Blob),
        ],
    ),
    (
        f64::INFINITY,
        &[
            (30, Act::Read),
            (18, Act::Tests),
            (18, Act::Rows),
            (10, Act::Build),
            (12, Act::Page),
            (8, Act::Logs),
            (3, Act::Chinese),
            (1, Act::Blob),
        ],
    ),
];

impl Actor {
    pub(super) fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let project = Project::new(&mut random);
        Self { random, project, now: 0.0, memory: Memory::default(), known: Vec::new(), reads: Vec::new() }
    }

    /// Some file of the project, from now on one that the agent knows.
    pub(super) fn told_of(&mut self) -> String {
        let file = self.random.below(self.project.files.len());
        self.learn(file);
        self.project.files[file].path.clone()
    }

    /// The file in work. One must have been told of.
    pub(super) fn focus(&self) -> usize {
        self.known[self.known.len() - 1]
    }

    /// Makes a call whose output has about `tokens`.
    pub(super) fn act(&mut self, tokens: f64) -> Action {
        let action = self.choose(tokens);
        self.now += action.output.tokens() + action.arguments.to_string().len() as f64 / output::CODE;
        let mentions = action.output.mentions.clone();
        self.memory.absorb(mentions, self.now, &mut self.random);
        action
    }

    fn choose(&mut self, tokens: f64) -> Action {
        if self.random.chance(RECALLS)
            && let Some(mention) = self.memory.recall(self.now, &mut self.random)
        {
            return self.follow(&mention, tokens);
        }
        if self.random.chance(REPEATS) && !self.reads.is_empty() {
            let latest = self.reads.len().saturating_sub(30);
            let (file, offset, limit) = self.reads[self.random.between(latest, self.reads.len() - 1)];
            return self.read_again(file, offset, limit);
        }
        let choices = CHOICES.iter().find(|(most, _)| tokens <= *most).map_or(CHOICES[0].1, |(_, acts)| acts);
        match self.random.weighted(choices) {
            Act::Edit => self.edit(tokens),
            Act::Write => self.write(),
            Act::Plan => self.plan(),
            Act::Quiet => self.quiet(),
            Act::Fail => self.fail(),
            Act::Search => self.search(tokens, None),
            Act::List => self.list(tokens),
            Act::Read => {
                let file = self.some_known();
                self.read(file, None, tokens)
            }
            Act::Tests => {
                let filter = noun(&mut self.random);
                self.tests(filter, tokens)
            }
            other => self.look_up(other, tokens),
        }
    }

    /// Uses what an earlier output told.
    fn follow(&mut self, mention: &Mention, tokens: f64) -> Action {
        let text = mention.text.as_str();
        let (project, random) = (&mut self.project, &mut self.random);
        let action = |tool, arguments, output| Action { tool, arguments, output, failed: false };
        match mention.kind {
            Kind::Path => match project.find(text) {
                Some(file) if tokens < 60.0 => self.search(tokens, Some(file)),
                Some(file) => self.read(file, (mention.line > 0).then_some(mention.line), tokens),
                None => self.fail(),
            },
            Kind::Commit => {
                let mut out = Output::new(tokens, output::CODE);
                data::diff(&mut out, text, project, random);
                action("run_command", json!({"command": format!("git show {text}")}), out)
            }
            Kind::Record => {
                let mut out = Output::new(tokens, output::JSON);
                data::details(&mut out, text, project, random);
                action("get_record", json!({"id": text}), out)
            }
            Kind::Url => {
                let mut out = Output::new(tokens, output::TEXT);
                prose::page(&mut out, project, random);
                action("fetch_url", json!({"url": text}), out)
            }
            Kind::Trace => {
                let mut out = Output::new(tokens, output::LOG);
                logs::service(&mut out, Some(text), project, random);
                action("search_logs", json!({"query": text, "max_lines": 500}), out)
            }
            Kind::Test => self.tests(text, tokens),
        }
    }

    /// Asks something for which nothing needs to be known.
    fn look_up(&mut self, act: Act, tokens: f64) -> Action {
        let (project, random) = (&self.project, &mut self.random);
        let vocabulary = &project.vocabulary;
        let (tool, arguments, density) = match act {
            Act::Commits => {
                ("run_command", json!({"command": "git log --format='%H %s' -n 30"}), output::HASHES)
            }
            Act::Rows => {
                let status = random.pick(&["open", "closed", "pending", "failed"]);
                (
                    "query_api",
                    json!({"resource": noun(random), "status": status, "page": random.between(1, 9)}),
                    output::JSON,
                )
            }
            Act::Build => ("run_command", json!({"command": "make build", "timeout_s": 600}), output::LOG),
            Act::Page => {
                ("fetch_url", json!({"url": prose::url(random), "max_tokens": 20_000}), output::TEXT)
            }
            Act::Hits => {
                ("web_search", json!({"query": vocabulary.fill("{a} {n} {v} {n}", random)}), output::TEXT)
            }
            Act::Logs => ("search_logs", json!({"query": noun(random), "max_lines": 500}), output::LOG),
            Act::Chinese => {
                let command = vocabulary.fill("cat notes/{n}-{d}.txt", random);
                ("run_command", json!({"command": command}), output::CHINESE)
            }
            _ => (
                "run_command",
                json!({"command": vocabulary.fill("base64 {n}-{d}.bin", random)}),
                output::BLOB,
            ),
        };
        let mut out = Output::new(tokens, density);
        match act {
            Act::Commits => data::commits(&mut out, project, random),
            Act::Rows => {
                data::rows(&mut out, arguments["resource"].as_str().unwrap_or_default(), project, random);
            }
            Act::Build => logs::build(&mut out, project, random),
            Act::Page => prose::page(&mut out, project, random),
            Act::Hits => prose::hits(&mut out, project, random),
            Act::Logs => logs::service(&mut out, None, project, random),
            Act::Chinese => prose::chinese(&mut out, project, random),
            _ => data::blob(&mut out, random),
        }
        Action { tool, arguments, output: out, failed: false }
    }

    fn tests(&mut self, filter: &str, tokens: f64) -> Action {
        let mut out = Output::new(tokens, output::TESTS);
        logs::tests(&mut out, &self.project, &mut self.random);
        Action { tool: "run_tests", arguments: json!({"filter": filter}), output: out, failed: false }
    }

    /// Mostly the file in work, or one of the last few.
    pub(super) fn some_known(&mut self) -> usize {
        if self.random.chance(0.6) {
            return self.focus();
        }
        let latest = self.known.len().saturating_sub(12);
        self.known[self.random.between(latest, self.known.len() - 1)]
    }

    pub(super) fn learn(&mut self, file: usize) {
        self.memory.name(&self.project.files[file].path);
        self.known.retain(|known| *known != file);
        self.known.push(file);
    }

    pub(super) fn remember_read(&mut self, file: usize, offset: usize, limit: usize) {
        self.reads.push((file, offset, limit));
    }

    /// Lines of an edit, new and old.
    pub(super) fn edit_lengths(&mut self) -> (usize, usize) {
        let new = sizes::draw(sizes::EDIT_LINES, &mut self.random) as usize;
        let old = (new as f64 * (0.3 + self.random.unit())) as usize;
        (new.max(1), old.clamp(1, 80))
    }
}
