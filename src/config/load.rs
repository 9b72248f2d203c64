use std::path::{Path, PathBuf};
use std::sync::Arc;

use toml::{Table, Value};

use super::entry::{Origins, Said, put};
use super::{
    Config, ConfigError, Place, Problem, Source, ancestor, document, effective, environment, validate,
};

/// Where a configuration is read from, besides the defaults. Each overrides the one before.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// A file; without one, the file that `SECATEUR_CONFIG` names.
    pub file: Option<PathBuf>,
    /// Environment variables; those without our prefix are left out.
    pub variables: Vec<(String, String)>,
    /// What the command line says.
    pub flags: Vec<Flag>,
}

/// A setting given on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flag {
    /// As the user writes it: `--listen`.
    pub name: &'static str,
    /// The key that it sets: `upstream.url`.
    pub key: &'static str,
    /// Its value.
    pub value: String,
}

/// A configuration that can be used.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The configuration.
    pub config: Config,
    /// What the user should know about it.
    pub warnings: Vec<Problem>,
    /// Where each value that is not a default comes from.
    origins: Origins,
}

impl Sources {
    /// The environment of this process, with a file and flags.
    pub fn of_process(file: Option<PathBuf>, flags: Vec<Flag>) -> Self {
        Self { file, variables: environment::of_process(), flags }
    }

    fn file(&self) -> Option<PathBuf> {
        let named = || {
            let (_, path) = self.variables.iter().find(|(name, _)| name == environment::FILE)?;
            (!path.is_empty()).then(|| PathBuf::from(path))
        };
        self.file.clone().or_else(named)
    }
}

impl Loaded {
    /// The whole configuration as TOML, secrets hidden; a comment says where a value comes from.
    pub fn to_toml(&self) -> String {
        effective::write(&self.config, &self.origins)
    }

    /// Checks what only serving needs.
    ///
    /// # Errors
    /// When there is nowhere to send requests to.
    pub fn ready_to_serve(&self) -> Result<(), ConfigError> {
        if self.config.upstream.url.is_some() || !self.config.upstreams.is_empty() {
            return Ok(());
        }
        let missing = Problem::new(Place::Default, "`upstream.url` is not set: where should requests go?")
            .note("for example: secateur serve --upstream https://openrouter.ai/api/v1")
            .note("or SECATEUR_UPSTREAM_URL, or in the file: [upstream] url = \"...\"");
        Err(ConfigError::new(vec![missing]))
    }
}

/// Reads a configuration: defaults, then the file, then the environment, then the command line.
///
/// # Errors
/// Everything that is wrong with it, at once.
pub fn load(sources: &Sources) -> Result<Loaded, ConfigError> {
    let said = [
        sources.file().map(|path| read_file(&path)).unwrap_or_default(),
        environment::read(&sources.variables),
        environment::flags(&sources.flags),
    ];
    let mut table = Table::new();
    let mut origins = Origins::new();
    let mut problems = Vec::new();
    let mut warnings = Vec::new();
    let mut wrong = Vec::new();
    for said in said {
        for entry in said.entries {
            put(&mut table, &entry.path, entry.value);
            origins.insert(entry.path, entry.place);
        }
        problems.extend(said.problems);
        warnings.extend(said.warnings);
        wrong.extend(said.wrong);
    }
    let mut config: Config = match Value::Table(table).try_into() {
        Ok(config) => config,
        Err(error) => {
            problems.push(Problem::new(Place::Default, error.message()));
            return Err(ConfigError::new(problems));
        }
    };
    // An empty variable is a usual way of not setting it.
    config.upstream.url = config.upstream.url.filter(|url| !url.is_empty());
    let checked = validate::check(&config, &origins, &wrong);
    problems.extend(checked.problems);
    warnings.extend(checked.warnings);
    if problems.is_empty() {
        Ok(Loaded { config, warnings, origins })
    } else {
        Err(ConfigError::new(problems))
    }
}

fn read_file(path: &Path) -> Said {
    let name = path.display().to_string();
    let text = std::fs::read(path)
        .map_err(|error| error.to_string())
        .and_then(|bytes| String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned()));
    match text {
        Ok(text) => {
            let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
            let source = Arc::new(Source { name, text });
            if ancestor::is_json(&source.text) { ancestor::read(&source) } else { document::read(&source) }
        }
        Err(error) => {
            let problem =
                Problem::new(Place::Named(name), format!("cannot read the configuration file: {error}"));
            Said { problems: vec![problem], ..Said::default() }
        }
    }
}
