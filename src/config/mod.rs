//! What the user set. Owns: gathering every room's `Settings` into [`Config`], reading it from defaults, file,
//! environment and flags, the rules that span rooms, and the texts that name a mistake with its place and remedy.
//! Does not own: what a setting does; that is the room's whose `Settings` it is in.
//!
//! Every source becomes a list of entries (path, value, place): the walk over a file checks names and types and goes
//! on after a mistake, so that all are reported at once; later entries replace earlier ones; the rest is `serde`.

mod address;
mod ancestor;
mod document;
mod effective;
mod entry;
mod environment;
mod error;
mod load;
mod models;
mod policy;
mod redact;
mod shape;
mod validate;
mod walk;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};

use serde::{Deserialize, Serialize};

pub use error::{ConfigError, Place, Problem, Source};
pub use load::{Flag, Loaded, Sources, load};
pub use models::Models;
pub use redact::redact;
pub use validate::MOCK;

use crate::{pipeline, prune, server, session, telemetry, upstream};

/// Everything that can be set, by the names in the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Where agents connect.
    #[serde(deserialize_with = "address::read")]
    pub listen: SocketAddr,
    /// Where health, metrics and sessions are served.
    #[serde(deserialize_with = "address::read")]
    pub admin_listen: SocketAddr,
    /// Reserved for where state will be kept; today everything is in memory.
    pub state_dir: String,
    /// What to do with requests.
    pub mode: pipeline::Mode,
    /// Show what each prune changed, with previews of message text.
    pub debug_pruning_io: bool,
    /// Show what the summary model was asked and answered.
    pub debug_summary_io: bool,
    /// A file for what the debug options show; empty means the log.
    pub debug_log_file: String,
    /// Longest preview, in characters.
    pub debug_preview_chars: usize,
    /// The HTTP door.
    pub server: server::Settings,
    /// Where requests go.
    pub upstream: upstream::Settings,
    /// Further upstreams, reached as `/NAME/v1/...`.
    pub upstreams: BTreeMap<String, upstream::NamedUpstream>,
    /// What to prune, when and how far.
    pub pruning: prune::Settings,
    /// How much is remembered, and for how long.
    pub sessions: session::Settings,
    /// What differs for some models.
    pub models: Models,
    /// What is logged, and how.
    pub log: telemetry::LogSettings,
}

impl Default for Config {
    fn default() -> Self {
        let debug = pipeline::DebugSettings::default();
        Self {
            listen: (Ipv4Addr::LOCALHOST, 8790).into(),
            admin_listen: (Ipv4Addr::LOCALHOST, 8791).into(),
            state_dir: String::new(),
            mode: pipeline::Mode::default(),
            debug_pruning_io: debug.debug_pruning_io,
            debug_summary_io: debug.debug_summary_io,
            debug_log_file: debug.debug_log_file,
            debug_preview_chars: debug.debug_preview_chars,
            server: server::Settings::default(),
            upstream: upstream::Settings::default(),
            upstreams: BTreeMap::new(),
            pruning: prune::Settings::default(),
            sessions: session::Settings::default(),
            models: Models::default(),
            log: telemetry::LogSettings::default(),
        }
    }
}

impl Config {
    /// How clients are served: `[server]` with the two addresses.
    pub fn server(&self) -> server::Settings {
        let (listen, admin_listen) = (self.listen, self.admin_listen);
        server::Settings { listen, admin_listen, ..self.server.clone() }
    }

    /// Where requests go: `[upstream]` with the named ones.
    pub fn upstreams(&self) -> upstream::Settings {
        upstream::Settings { named: self.upstreams.clone(), ..self.upstream.clone() }
    }

    /// What the pipeline is told: the default policy, and one for each pattern of `[models]`.
    pub fn pipeline(&self) -> pipeline::Settings {
        pipeline::Settings {
            mode: self.mode,
            default: prune::ModelPolicy { pruning: self.pruning.clone(), context_window: None },
            models: self.models.policies(&self.pruning),
            debug: pipeline::DebugSettings {
                debug_pruning_io: self.debug_pruning_io,
                debug_summary_io: self.debug_summary_io,
                debug_log_file: self.debug_log_file.clone(),
                debug_preview_chars: self.debug_preview_chars,
            },
        }
    }
}
