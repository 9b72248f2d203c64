//! Which core does what. A proxy that is measured has one to itself, apart from what else the machine does.

use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::thread::available_parallelism;

/// Who runs on a core.
#[derive(Clone, Copy)]
pub(crate) enum Job {
    /// The client that measures, and the mock.
    Around,
    /// The proxy that is measured.
    Proxy,
}

/// What this process was given when it started.
#[derive(Clone, Copy)]
struct Machine {
    cores: usize,
    can_pin: bool,
}

impl Machine {
    fn get() -> Self {
        static FOUND: OnceLock<Machine> = OnceLock::new();
        *FOUND.get_or_init(|| {
            let cores = available_parallelism().map_or(1, Into::into);
            let mut trial = Command::new("taskset");
            trial.args(["-c", &(cores - 1).to_string(), "true"]);
            trial.stdout(Stdio::null()).stderr(Stdio::null());
            Self { cores, can_pin: cores > 1 && trial.status().is_ok_and(|status| status.success()) }
        })
    }

    fn core(self, job: Job) -> String {
        match job {
            Job::Around => "0".to_owned(),
            Job::Proxy => (self.cores - 1).to_string(),
        }
    }
}

/// What the figures are measured on.
pub(crate) fn line() -> String {
    let Machine { cores, can_pin } = Machine::get();
    let placed = if can_pin { "one for the proxy, one for client and mock" } else { "shared by all" };
    format!("machine: {cores} cores, {placed}")
}

/// Puts this process, and the threads it will start, onto its core.
pub(crate) fn pin_myself() {
    let machine = Machine::get();
    if machine.can_pin {
        let mut pin = Command::new("taskset");
        pin.args(["-cp", &machine.core(Job::Around), &std::process::id().to_string()]);
        pin.stdout(Stdio::null()).status().ok();
    }
}

/// A command that will run on the core of its job.
pub(crate) fn on_core(job: Job, program: &str) -> Command {
    let machine = Machine::get();
    if !machine.can_pin {
        return Command::new(program);
    }
    let mut command = Command::new("taskset");
    command.args(["-c", &machine.core(job), program]);
    command
}
