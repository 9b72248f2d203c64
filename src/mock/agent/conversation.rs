use super::actor::Actor;
use super::output::TEXT;
use super::random::LOWER;
use super::{Call, Conversation, Turn, prose, sizes, tools};

/// Makes conversations from a seed.
#[derive(Debug, Clone, Copy)]
pub struct Agent {
    seed: u64,
}

/// What kind of conversation is wanted.
#[derive(Debug, Clone)]
pub struct AgentOptions {
    /// Number of requests; at least 1.
    pub turns: usize,
    /// About how many tokens the last request and its outputs have; `None`: as the usual sizes make it, some 1,200 a
    /// request.
    pub target_tokens: Option<u64>,
    /// Share of the model's messages with more than one call.
    pub parallel: f64,
    /// Whether ids of calls come again in every message, as some clients have it.
    pub reused_ids: bool,
}

impl Default for AgentOptions {
    fn default() -> Self {
        Self { turns: 60, target_tokens: None, parallel: 0.15, reused_ids: false }
    }
}

/// Tokens of calls, their arguments and the words around them, for each token of output.
const AROUND: f64 = 1.38;
/// Tokens of the tool definitions.
const DEFINITIONS: f64 = 750.0;

const GUIDELINES: &[&str] = &[
    "Read a file before you change it, and read again what you need to be sure of.",
    "Make one change at a time and run the tests that cover it.",
    "Name files by their full path from the project's root.",
    "Keep answers short. Say what you did, what you found and what is left.",
    "When a command fails, look at its output before you try again.",
    "Do not change files outside the task, and leave the formatting of others alone.",
    "Ask only when the task can be read in two ways that lead to different work.",
];

impl Agent {
    /// The agent of a seed.
    pub fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// The conversation that these options describe. The same seed and options give the same conversation.
    pub fn conversation(&self, options: &AgentOptions) -> Conversation {
        let mut actor = Actor::new(self.seed);
        let counts = call_counts(&mut actor, options);
        let sizes = sizes::spread(sizes::OUTPUT, counts.iter().sum(), &mut actor.random);
        let mut planned: f64 = sizes.iter().sum();
        let mut sizes = sizes.into_iter();
        let system = system(&mut actor);
        actor.now = system.len() as f64 / TEXT + DEFINITIONS;
        let mut turns: Vec<Turn> = Vec::with_capacity(counts.len());
        for (index, count) in counts.into_iter().enumerate() {
            let asks = turns.last().is_none_or(|before| before.calls.is_empty());
            let user = asks.then(|| task(&mut actor));
            let mut turn = Turn { user, text: remark(&mut actor, count), calls: Vec::with_capacity(count) };
            for (at, size) in sizes.by_ref().take(count).enumerate() {
                let left = options.target_tokens.map(|target| target as f64 - actor.now);
                let factor = left.map_or(1.0, |left| (left / (planned * AROUND)).clamp(0.2, 5.0));
                planned -= size;
                let action = actor.act((size * factor).max(2.0));
                let id = if options.reused_ids { format!("call_{at}") } else { fresh_id(&mut actor, index) };
                turn.calls.push(Call {
                    id,
                    name: action.tool.to_owned(),
                    arguments: action.arguments.to_string(),
                    output: action.output.text,
                    failed: action.failed,
                });
            }
            turns.push(turn);
        }
        Conversation { system, tools: tools::all(), turns }
    }
}

/// How many calls each turn makes; 0 where the model is done with a task.
fn call_counts(actor: &mut Actor, options: &AgentOptions) -> Vec<usize> {
    let random = &mut actor.random;
    let mut left = random.between(12, 45);
    (0..options.turns.max(1))
        .map(|_| {
            if left == 0 {
                left = random.between(12, 45);
                return 0;
            }
            left -= 1;
            if random.chance(options.parallel) {
                random.weighted(&[(6, 2), (3, 3), (1, 4), (1, 5)])
            } else {
                1
            }
        })
        .collect()
}

fn fresh_id(actor: &mut Actor, turn: usize) -> String {
    format!("call_{}{turn}", actor.random.string(LOWER, 20))
}

fn system(actor: &mut Actor) -> String {
    let (project, random) = (&actor.project, &mut actor.random);
    let mut text =
        String::from("You are a coding agent. You work in a project's folder with the tools below.\n");
    for guideline in GUIDELINES {
        text.extend(["- ", guideline, "\n"]);
    }
    text + "\nAbout the project: " + &prose::paragraph(220, project, random)
}

fn task(actor: &mut Actor) -> String {
    let paths = [actor.told_of(), actor.told_of(), actor.told_of()];
    let (project, random) = (&actor.project, &mut actor.random);
    let text = format!(
        "{} It should go into {}; {} and {} use it. {}",
        project.vocabulary.fill("Please {v} the {a} {n} so that {s}.", random),
        paths[0],
        paths[1],
        paths[2],
        prose::paragraph(40, project, random),
    );
    actor.now += text.len() as f64 / TEXT;
    text
}

/// What the model says beside its calls; without calls, what it has done.
fn remark(actor: &mut Actor, calls: usize) -> Option<String> {
    if calls > 0 && !actor.random.chance(0.75) {
        return None;
    }
    let words = if calls > 0 { actor.random.between(20, 110) } else { actor.random.between(80, 260) };
    let path = actor.project.files[actor.focus()].path.clone();
    let (project, random) = (&actor.project, &mut actor.random);
    let start = if calls > 0 { "Next comes" } else { "Done with" };
    let text = format!("{start} {path}. {}", prose::paragraph(words, project, random));
    actor.now += text.len() as f64 / TEXT;
    Some(text)
}
