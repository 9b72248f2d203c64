use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::Settings;
use crate::pipeline::Pipeline;
use crate::telemetry::Metrics;
use crate::upstream::{Targets, Upstream};

/// What all requests share.
pub struct Door {
    pub(super) pipeline: Arc<Pipeline>,
    pub(super) upstream: Upstream,
    pub(super) targets: Targets,
    pub(super) metrics: Arc<Metrics>,
    pub(super) settings: Settings,
    /// Work that outlives its request: absorbing usage, tunnels. The end of the program waits for it.
    pub(super) tasks: TaskTracker,
    /// Cancelled when the program is told to end.
    pub(super) closing: CancellationToken,
}

/// One request under way, as long as it is held.
pub(super) struct InFlight(Arc<Metrics>);

impl Door {
    /// A door to this pipeline and these upstreams.
    pub fn new(
        pipeline: Arc<Pipeline>,
        upstream: Upstream,
        targets: Targets,
        metrics: Arc<Metrics>,
        settings: Settings,
    ) -> Self {
        Self {
            pipeline,
            upstream,
            targets,
            metrics,
            settings,
            tasks: TaskTracker::new(),
            closing: CancellationToken::new(),
        }
    }

    pub(super) fn enter(&self) -> InFlight {
        self.metrics.arrived();
        InFlight(Arc::clone(&self.metrics))
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.left();
    }
}
