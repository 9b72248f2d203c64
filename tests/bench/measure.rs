//! Figures of a run: percentiles, and what the system says that a process took.

use std::fs;
use std::time::Duration;

/// What one target took for a number of requests.
#[derive(Default)]
pub(crate) struct Taken {
    /// From the first byte sent to the last one received, one a request.
    pub(crate) latencies: Vec<Duration>,
    /// Time on a processor, of all threads of the target's proxy.
    pub(crate) cpu: Duration,
    /// How long the requests took together.
    pub(crate) wall: Duration,
}

impl Taken {
    /// Microseconds that a share of the requests stayed below.
    pub(crate) fn percentile_us(&self, share: f64) -> f64 {
        percentile(&self.latencies, share).as_secs_f64() * 1e6
    }

    /// Requests in a second.
    pub(crate) fn rate(&self) -> f64 {
        self.latencies.len() as f64 / self.wall.as_secs_f64()
    }

    /// Microseconds of processor time a request.
    pub(crate) fn cpu_us(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.latencies.len() as f64
    }
}

/// What a share of the values stays below.
pub(crate) fn percentile(values: &[Duration], share: f64) -> Duration {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let last = sorted.len().saturating_sub(1);
    sorted.get((last as f64 * share).round() as usize).copied().unwrap_or_default()
}

/// Time on a processor that a process has taken since its start, all threads together. Zero where the system does
/// not tell.
pub(crate) fn cpu(process: u32) -> Duration {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let on_cpu = threads.filter_map(|thread| {
        let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(on_cpu.sum())
}

/// Most memory that a process has held since its start, in MB. Zero where the system does not tell.
pub(crate) fn peak_mb(process: u32) -> f64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap_or_default() / 1024.0
}
