use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand};

use super::demo::DemoArgs;
use super::mock::MockArgs;
use crate::config::{Flag, Sources};

/// A proxy in front of LLM APIs that prunes old tool output, so that an agent never meets a full context window.
#[derive(Debug, Parser)]
#[command(name = "secateur", version, args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Without one: serve.
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    #[command(flatten)]
    pub(super) settings: Settings,
}

const EXAMPLES: &str = "\
Examples:
  secateur serve --upstream https://openrouter.ai/api/v1
  secateur serve --config secateur.toml
  secateur check --config secateur.toml

Every setting can also be given as an environment variable: SECATEUR_UPSTREAM_URL, SECATEUR_PRUNING_THRESHOLD, ...
config/default.toml describes them all.";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Serve until told to end (also without a command)
    Serve(Settings),
    /// Check the configuration, and print what is in force and where each value comes from
    Check(Settings),
    /// Ask a running proxy whether it is ready
    Health(Health),
    /// Serve a mock upstream, to try the proxy and agents with
    Mock(MockArgs),
    /// Play a long conversation through the proxy and a mock upstream, and show what pruning does
    Demo(DemoArgs),
}

/// Where the configuration comes from, and what overrides it.
#[derive(Debug, Default, Args)]
pub(super) struct Settings {
    /// The configuration: TOML, or the ancestor plugin's JSON
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Where requests go: the API's base URL, or `mock`
    #[arg(long, value_name = "URL")]
    upstream: Option<String>,
    /// Where agents connect
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<String>,
    /// Where health, metrics and sessions are served
    #[arg(long, value_name = "HOST:PORT")]
    admin_listen: Option<String>,
    /// What to do with requests
    #[arg(long, value_name = "MODE", value_parser = PossibleValuesParser::new(["prune", "observe", "off"]))]
    mode: Option<String>,
    /// The least important level of the log that is shown: off, error, warn, info, debug, trace
    #[arg(long, value_name = "LEVEL")]
    log_level: Option<String>,
}

/// Which proxy is asked.
#[derive(Debug, Args)]
pub(super) struct Health {
    /// The configuration of the proxy that is asked
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Its `admin_listen`, when the configuration does not tell
    #[arg(long, value_name = "HOST:PORT", alias = "url")]
    admin: Option<String>,
}

impl Settings {
    /// The sources of the configuration, this process's environment among them.
    pub(super) fn sources(self) -> Sources {
        let flags = [
            ("--upstream", "upstream.url", self.upstream),
            ("--listen", "listen", self.listen),
            ("--admin-listen", "admin_listen", self.admin_listen),
            ("--mode", "mode", self.mode),
            ("--log-level", "log.level", self.log_level),
        ];
        let given = |(name, key, value): (_, _, Option<String>)| Some(Flag { name, key, value: value? });
        Sources::of_process(self.config, flags.into_iter().filter_map(given).collect())
    }
}

impl Health {
    /// The sources of the configuration, this process's environment among them.
    pub(super) fn sources(&self) -> Sources {
        let admin = self.admin.as_deref().map(|url| url.trim_start_matches("http://").trim_end_matches('/'));
        let flag = admin.map(|value| Flag { name: "--admin", key: "admin_listen", value: value.to_owned() });
        Sources::of_process(self.config.clone(), flag.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        Arguments::command().debug_assert();
    }
}
