use serde_json::json;

use super::actor::{Action, Actor};
use super::output::{self, Kind, Output};
use super::sizes;
use super::words::noun;

/// Bytes of a numbered line of code, for a guess of how many fit.
const LINE: usize = 38;

/// What an agent does with files.
impl Actor {
    pub(super) fn read(&mut self, file: usize, line: Option<usize>, tokens: f64) -> Action {
        self.learn(file);
        let wanted = Output::new(tokens, output::CODE).left() / LINE + 1;
        let whole = line.is_none() && self.random.chance(0.4);
        let length = self.project.files[file].lines(wanted + 20).len();
        let middle = line.unwrap_or_else(|| self.random.between(1, length));
        let offset = if whole { 1 } else { middle.saturating_sub(wanted / 2).clamp(1, length) };
        self.remember_read(file, offset, wanted);
        self.read_again(file, offset, wanted)
    }

    pub(super) fn read_again(&mut self, file: usize, offset: usize, limit: usize) -> Action {
        let source = &mut self.project.files[file];
        let arguments = json!({"path": source.path, "offset": offset, "limit": limit});
        let mut out = Output::new(f64::from(u32::MAX), output::CODE);
        for (index, line) in source.lines(0).iter().enumerate().skip(offset - 1).take(limit) {
            out.line(&format!("{:>5}\t{line}", index + 1));
        }
        if out.text.is_empty() {
            out.line("(no lines in this range)");
        }
        Action { tool: "read_file", arguments, output: out, failed: false }
    }

    /// Searches the folder of a known file, or one file.
    pub(super) fn search(&mut self, tokens: f64, only: Option<usize>) -> Action {
        let mut out = Output::new(tokens, output::PATHS);
        let files = if let Some(file) = only {
            self.learn(file);
            vec![file]
        } else {
            let near = self.some_known();
            self.project.beside(near)
        };
        let words: Vec<_> =
            (0..(tokens as usize / 300).clamp(1, 6)).map(|_| noun(&mut self.random)).collect();
        for file in &files {
            let source = &mut self.project.files[*file];
            let path = source.path.clone();
            for (index, line) in source.lines(0).iter().enumerate() {
                if !out.is_full() && words.iter().any(|word| line.contains(word)) {
                    out.line(&format!("{path}:{}:{}", index + 1, line.trim_start()));
                    out.mention(Kind::Path, &path, index + 1);
                }
            }
        }
        if out.text.is_empty() {
            out.line("no matches");
        }
        let first = &self.project.files[files[0]];
        let path = if only.is_some() { first.path.as_str() } else { first.folder() };
        let arguments = json!({"pattern": words.join("|"), "path": path, "max_results": 200});
        Action { tool: "search", arguments, output: out, failed: false }
    }

    pub(super) fn list(&mut self, tokens: f64) -> Action {
        let mut out = Output::new(tokens, output::PATHS);
        while !out.is_full() {
            for file in self.project.neighbours(8, &mut self.random) {
                if !out.is_full() {
                    out.line(&format!("{:>7}  {}", file.path.len() * 173 % 29_000, file.path));
                    out.mention(Kind::Path, &file.path, 0);
                }
            }
        }
        let path = self.random.pick(&[".", "services", "packages", "crates", "apps"]);
        Action { tool: "list_dir", arguments: json!({"path": path, "depth": 4}), output: out, failed: false }
    }

    pub(super) fn edit(&mut self, tokens: f64) -> Action {
        let file = self.some_known();
        self.learn(file);
        let (new, old) = self.edit_lengths();
        let source = &mut self.project.files[file];
        let length = source.lines(old).len();
        let start = self.random.below(length.saturating_sub(old) + 1);
        let with = source.language.statements(new, &mut self.random);
        let new_string = with.join("\n");
        let count = with.len();
        let old_string = source.replace(start, old, with).join("\n");
        let arguments = json!({"path": source.path, "old_string": old_string, "new_string": new_string});
        let mut out = Output::new(tokens, output::CODE);
        if tokens < 12.0 {
            out.line("ok");
        } else {
            out.line(&format!("Replaced {old} lines by {count} in {} at line {}.", source.path, start + 1));
            let around = source.lines(0).iter().enumerate().skip(start.saturating_sub(3));
            for (index, line) in around.take_while(|_| tokens >= 60.0) {
                if out.is_full() {
                    break;
                }
                out.line(&format!("{:>5}\t{line}", index + 1));
            }
        }
        self.remember_read(file, start.saturating_sub(10).max(1), count + 40);
        Action { tool: "edit_file", arguments, output: out, failed: false }
    }

    pub(super) fn write(&mut self) -> Action {
        let length = sizes::draw(sizes::WRITE_LINES, &mut self.random) as usize;
        let near = self.some_known();
        let file = self.project.create(near, length, &mut self.random);
        self.learn(file);
        let source = &mut self.project.files[file];
        let content = source.lines(0).join("\n") + "\n";
        let arguments = json!({"path": source.path, "content": content});
        Action { tool: "write_file", arguments, output: Output::plain("ok"), failed: false }
    }

    pub(super) fn plan(&mut self) -> Action {
        let (vocabulary, random) = (&self.project.vocabulary, &mut self.random);
        let steps: Vec<_> = (1..random.between(3, 8))
            .map(|n| vocabulary.fill(&format!("{n}. {{v}} {{s}}"), random))
            .collect();
        let arguments = json!({"plan": steps.join("\n")});
        Action { tool: "update_plan", arguments, output: Output::plain("plan updated"), failed: false }
    }

    /// A command that has nothing to say; some are scripts.
    pub(super) fn quiet(&mut self) -> Action {
        let folder = self.project.files[self.focus()].folder().to_owned();
        let (vocabulary, random) = (&self.project.vocabulary, &mut self.random);
        let command = match random.below(4) {
            0 => format!("mkdir -p {folder}/fixtures"),
            1 => vocabulary.fill("git add -A && git commit -qm '{v} {s}'", random),
            2 => format!("cd {folder} && rm -f *.tmp"),
            _ => {
                let script = vocabulary
                    .fill("{F}({V}, {d})\n{V} = {F}(\"{s}\")\nfor {n} in {V}:\n    {F}({n})\n", random);
                format!("cd {folder} && python3 - <<'EOF'\n{}EOF", script.repeat(random.between(1, 6)))
            }
        };
        let text = if random.chance(0.5) { "" } else { "ok" };
        let arguments = json!({"command": command});
        Action { tool: "run_command", arguments, output: Output::plain(text), failed: false }
    }

    /// A call that goes wrong.
    pub(super) fn fail(&mut self) -> Action {
        let folder = self.project.files[self.focus()].folder().to_owned();
        let (vocabulary, random) = (&self.project.vocabulary, &mut self.random);
        let (tool, arguments, text) = if random.chance(0.5) {
            let path = format!("{folder}/{}", vocabulary.fill("{n}_{n}.txt", random));
            (
                "read_file",
                json!({"path": path}),
                format!("error: {path} does not exist; list_dir shows what does"),
            )
        } else {
            let command = vocabulary.fill("make {v}-{n}", random);
            let text = format!(
                "{}\nexit status {}",
                vocabulary.fill("make: *** no rule for this target: {s}", random),
                random.between(1, 127)
            );
            ("run_command", json!({"command": command}), text)
        };
        Action { tool, arguments, output: Output::plain(text), failed: true }
    }
}
