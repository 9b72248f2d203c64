use super::code::{LANGUAGES, Language};
use super::random::Random;
use super::words::{Vocabulary, name, noun};

/// The source tree that an agent works in. Files are written when they are first looked into.
#[derive(Debug)]
pub(super) struct Project {
    pub(super) files: Vec<SourceFile>,
    directories: usize,
    pub(super) vocabulary: Vocabulary,
}

/// One file.
#[derive(Debug)]
pub(super) struct SourceFile {
    pub(super) path: String,
    pub(super) directory: usize,
    pub(super) language: &'static Language,
    seed: u64,
    lines: Vec<String>,
}

impl Project {
    pub(super) fn new(random: &mut Random) -> Self {
        let mut project =
            Self { files: Vec::new(), directories: 60, vocabulary: Vocabulary::new(random, false) };
        for directory in 0..project.directories {
            let language = LANGUAGES[random.below(LANGUAGES.len())];
            let top = random.pick(&["services", "packages", "crates", "apps", "tools", "deploy"]);
            let path = format!(
                "{top}/{}-{}/{}",
                noun(random),
                noun(random),
                random.pick(&["src", "lib", "internal"])
            );
            for _ in 0..random.between(5, 12) {
                let stem = name(&[noun(random), noun(random)], language.camel);
                project.add(format!("{path}/{stem}.{}", language.extension), directory, language, random);
            }
        }
        project
    }

    fn add(
        &mut self,
        path: String,
        directory: usize,
        language: &'static Language,
        random: &mut Random,
    ) -> usize {
        if let Some(known) = self.find(&path) {
            return known;
        }
        self.files.push(SourceFile { path, directory, language, seed: random.bits(), lines: Vec::new() });
        self.files.len() - 1
    }

    /// The file at a path.
    pub(super) fn find(&self, path: &str) -> Option<usize> {
        self.files.iter().position(|file| file.path == path)
    }

    /// Some file.
    pub(super) fn any(&self, random: &mut Random) -> &SourceFile {
        &self.files[random.below(self.files.len())]
    }

    /// The files beside a file, itself included.
    pub(super) fn beside(&self, file: usize) -> Vec<usize> {
        let directory = self.files[file].directory;
        (0..self.files.len()).filter(|other| self.files[*other].directory == directory).collect()
    }

    /// Some files that stand together, about `count`.
    pub(super) fn neighbours(&self, count: usize, random: &mut Random) -> &[SourceFile] {
        let start = random.below(self.files.len());
        &self.files[start..(start + count).min(self.files.len())]
    }

    /// Adds a file of about `length` lines in the directory of another.
    pub(super) fn create(&mut self, beside: usize, length: usize, random: &mut Random) -> usize {
        let (directory, language) = (self.files[beside].directory, self.files[beside].language);
        let folder = self.files[beside].folder().to_owned();
        let stem = name(&[noun(random), noun(random), noun(random)], language.camel);
        let file = self.add(format!("{folder}/{stem}.{}", language.extension), directory, language, random);
        self.files[file].lines(length);
        file
    }
}

impl SourceFile {
    /// The folder it stands in.
    pub(super) fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// Its lines. One that nobody has looked into yet becomes at least `wanted` lines long.
    pub(super) fn lines(&mut self, wanted: usize) -> &[String] {
        if self.lines.is_empty() {
            let mut random = Random::new(self.seed);
            let length = random.between(60, 260).max(wanted);
            self.lines = self.language.file(length, &mut random);
        }
        &self.lines
    }

    /// Replaces lines from `start` on, and returns what stood there.
    pub(super) fn replace(&mut self, start: usize, count: usize, with: Vec<String>) -> Vec<String> {
        let end = (start + count).min(self.lines.len());
        self.lines.splice(start.min(end)..end, with).collect()
    }
}
