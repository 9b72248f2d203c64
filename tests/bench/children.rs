//! The processes around the client: the mock, the bare pass-through and the proxy, each measured by itself.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context as _, bail};

use crate::machine::{Job, on_core};
use crate::roles;

/// A mock, and the ways to it.
pub(crate) struct Targets {
    /// Straight to the mock, through the pass-through, through the proxy.
    pub(crate) all: [Target; 3],
    _mock: Process,
    _folder: tempfile::TempDir,
}

/// Where requests can be sent.
pub(crate) struct Target {
    /// Where it listens.
    pub(crate) address: SocketAddr,
    /// The proxy on the way, if there is one.
    pub(crate) proxy: Option<Process>,
}

/// A process that ends with its owner.
pub(crate) struct Process(Child);

impl Targets {
    /// Starts everything; `config` is the proxy's configuration without addresses.
    ///
    /// # Errors
    /// When a process does not start or does not say where it listens.
    pub(crate) fn start(config: &str) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let (mock, mock_at) = role(Job::Around, &[roles::MOCK])?;
        let upstream = format!("http://{mock_at}");
        let (bare, bare_at) = role(Job::Proxy, &[roles::PASS_THROUGH, &upstream])?;
        let (proxy, proxy_at) = secateur(folder.path(), config, &upstream)?;
        let target = |address, proxy| Target { address, proxy };
        let all = [target(mock_at, None), target(bare_at, Some(bare)), target(proxy_at, Some(proxy))];
        Ok(Self { all, _mock: mock, _folder: folder })
    }
}

impl Target {
    /// Time on a processor that the proxy has taken.
    pub(crate) fn cpu(&self) -> Duration {
        self.proxy.as_ref().map_or(Duration::ZERO, |process| crate::measure::cpu(process.0.id()))
    }

    /// Most memory that the proxy has held, in MB; `None` without one.
    pub(crate) fn peak_mb(&self) -> Option<f64> {
        self.proxy.as_ref().map(|process| crate::measure::peak_mb(process.0.id()))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Starts this program again in another role.
fn role(job: Job, arguments: &[&str]) -> anyhow::Result<(Process, SocketAddr)> {
    let program = std::env::current_exe()?;
    let mut command = bare_environment(on_core(job, program.to_str().context("an odd path")?));
    let mut child = Process(command.args(arguments).stdout(Stdio::piped()).spawn()?);
    let mut line = String::new();
    BufReader::new(child.0.stdout.take().context("no output")?).read_line(&mut line)?;
    let address = line.trim().parse().with_context(|| format!("{arguments:?} said {line:?}"))?;
    Ok((child, address))
}

/// Starts the proxy as users do, with its log at the default level in a file.
fn secateur(folder: &Path, config: &str, upstream: &str) -> anyhow::Result<(Process, SocketAddr)> {
    let (config_path, log) = (folder.join("secateur.toml"), folder.join("log"));
    let addresses = "listen = \"127.0.0.1:0\"\nadmin_listen = \"127.0.0.1:0\"\n";
    fs::write(&config_path, format!("{addresses}{config}"))?;
    let mut command = bare_environment(on_core(Job::Proxy, env!("CARGO_BIN_EXE_secateur")));
    command.arg("serve").arg("--config").arg(config_path).args(["--upstream", upstream]);
    let child = Process(command.stderr(File::create(&log)?).spawn()?);
    for _ in 0..1_000 {
        let said = fs::read_to_string(&log)?;
        if let Some(address) = said.lines().find_map(|line| line.split_once("serves at http://")) {
            return Ok((child, address.1.trim().parse()?));
        }
        sleep(Duration::from_millis(10));
    }
    bail!("the proxy did not start: {}", fs::read_to_string(&log)?)
}

/// No setting and no proxy of the surrounding shell reaches the measured programs.
fn bare_environment(mut command: Command) -> Command {
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin");
    command
}
