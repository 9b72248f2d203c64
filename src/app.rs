//! The composition root: settings become one running proxy. `cli` calls it, and tests build the same.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::task::JoinHandle;

use crate::model::Clock;
use crate::pipeline::{self, Pipeline};
pub use crate::server::shutdown_signal;
use crate::server::{self, Bound, Door};
use crate::session::{self, MemoryStore};
use crate::telemetry::Metrics;
use crate::upstream::{self, Targets, Upstream};

/// What a proxy is made of: each room's settings.
#[derive(Debug, Clone, Default)]
pub struct Parts {
    /// What is done with requests.
    pub pipeline: pipeline::Settings,
    /// What is remembered.
    pub sessions: session::Settings,
    /// Where requests go.
    pub upstream: upstream::Settings,
    /// How clients are served.
    pub server: server::Settings,
}

/// Why a proxy cannot be built or started.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// Settings that cannot be used; all of them.
    #[error("{}", lines(.0))]
    Settings(Vec<String>),
    /// A pattern that does not compile.
    #[error(transparent)]
    Policy(#[from] pipeline::PolicyError),
    /// No HTTP client.
    #[error(transparent)]
    Client(#[from] upstream::UpstreamError),
    /// No listener.
    #[error(transparent)]
    Serve(#[from] server::ServeError),
}

/// A proxy, ready to serve.
pub struct App {
    door: Arc<Door>,
    server: server::Settings,
}

/// A proxy that serves.
pub struct Running {
    /// Where clients connect.
    pub listen: SocketAddr,
    /// Where health, metrics and sessions are shown.
    pub admin: SocketAddr,
    /// Ends when the proxy has ended.
    pub join: JoinHandle<()>,
}

impl App {
    /// Puts a proxy together. Nothing is opened yet.
    ///
    /// # Errors
    /// When settings cannot be used: names all of them.
    pub fn build(parts: Parts, clock: Arc<dyn Clock>) -> Result<Self, AppError> {
        let mut problems: Vec<_> = parts.server.problems().iter().map(ToString::to_string).collect();
        let targets = Targets::new(&parts.upstream).map_err(|found| {
            problems.extend(found.iter().map(ToString::to_string));
        });
        let (Ok(targets), true) = (targets, problems.is_empty()) else {
            return Err(AppError::Settings(problems));
        };
        let upstream = Upstream::new(&parts.upstream, &targets)?;
        let sessions = Arc::new(MemoryStore::new(&parts.sessions, Arc::clone(&clock)));
        let pipeline = Arc::new(Pipeline::new(&parts.pipeline, sessions, clock)?);
        let metrics = Arc::new(Metrics::new());
        let door = Door::new(pipeline, upstream, targets, metrics, parts.server.clone());
        Ok(Self { door: Arc::new(door), server: parts.server })
    }

    /// What clients reach, without a listener.
    pub fn router(&self) -> server::Router {
        server::proxy_router(Arc::clone(&self.door))
    }

    /// What the admin port shows, without a listener.
    pub fn admin_router(&self) -> server::Router {
        server::admin_router(Arc::clone(&self.door))
    }

    /// Opens both listeners and serves in the background until `shutdown` comes and the answers under way have
    /// ended.
    ///
    /// # Errors
    /// When an address cannot be listened on.
    pub async fn serve(
        self,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> Result<Running, AppError> {
        let bound = Bound::open(&self.server).await?;
        let (listen, admin) = (bound.listen, bound.admin);
        let join = tokio::spawn(bound.serve(self.door, shutdown));
        Ok(Running { listen, admin, join })
    }
}

fn lines(problems: &[String]) -> String {
    problems.join("\n")
}
