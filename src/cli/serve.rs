use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use tokio::runtime;

use super::arguments::Settings;
use super::terminal::complain;
use crate::app::{App, Parts, Running, shutdown_signal};
use crate::config::{Config, MOCK, Problem, load, redact};
use crate::mock::{self, MockOptions};
use crate::model::SystemClock;
use crate::pipeline::Mode;

use crate::telemetry;

/// A request for the mock upstream, as a shell takes it.
pub(super) const QUESTION: &str = r#"'{"model":"mock","messages":[{"role":"user","content":"Hello"}]}'"#;

/// Serves until the process is told to end.
pub(super) fn run(settings: Settings) -> anyhow::Result<ExitCode> {
    let loaded = load(&settings.sources())?;
    loaded.ready_to_serve()?;
    telemetry::init(&loaded.config.log)?;
    for warning in &loaded.warnings {
        log(warning);
    }
    let runtime =
        runtime::Builder::new_multi_thread().enable_all().build().context("cannot start threads")?;
    let served = runtime.block_on(serve(&loaded.config));
    // The grace period is over: work that still holds a thread is not waited for.
    runtime.shutdown_background();
    served.map(|()| ExitCode::SUCCESS)
}

async fn serve(config: &Config) -> anyhow::Result<()> {
    let shutdown = shutdown_signal().context("cannot wait for signals")?;
    let mut parts = Parts {
        pipeline: config.pipeline(),
        sessions: config.sessions.clone(),
        upstream: config.upstreams(),
        server: config.server(),
    };
    if config.upstream.url.as_deref() == Some(MOCK) {
        let mock = mock::spawn(MockOptions::default()).await.context("cannot start the mock upstream")?;
        parts.upstream.url = Some(format!("http://{mock}"));
    }
    let running = App::build(parts, Arc::new(SystemClock))?.serve(shutdown).await?;
    welcome(config, &running);
    running.join.await.context("serving broke off")
}

fn log(warning: &Problem) {
    let place = warning.place.brief();
    let note = (!warning.notes.is_empty()).then(|| warning.notes.join("; "));
    tracing::warn!(place, note, "{}", warning.what);
}

/// Says where to point an agent.
fn welcome(config: &Config, running: &Running) {
    let here = format!("http://{}", reachable(running.listen));
    let admin = format!("http://{}", reachable(running.admin));
    let upstream = config.upstream.url.as_deref().map(redact);
    let mode = match config.mode {
        Mode::Prune => "prune",
        Mode::Observe => "observe",
        Mode::Off => "off",
    };
    if config.log.format == telemetry::Format::Json {
        for (name, named) in &config.upstreams {
            tracing::info!(name, url = redact(&named.url), "named upstream");
        }
        tracing::info!(listen = here, admin, upstream, mode, "serving");
        return;
    }
    complain(format_args!("secateur {} serves at {here}", env!("CARGO_PKG_VERSION")));
    if let Some(upstream) = upstream {
        complain(format_args!("  point an agent at   {here}/v1  (for most: OPENAI_BASE_URL={here}/v1)"));
        complain(format_args!("  requests go to      {upstream}"));
    }
    for (name, named) in &config.upstreams {
        complain(format_args!("  {here}/{name}/v1  goes to  {}", redact(&named.url)));
    }
    if config.upstream.url.as_deref() == Some(MOCK) {
        complain(format_args!(
            "  try it:\n    curl -s {here}/v1/chat/completions -H 'content-type: application/json' -d {QUESTION}"
        ));
    }
    if config.mode != Mode::Prune {
        complain(format_args!("  mode is {mode}: every request is forwarded unchanged"));
    }
    complain(format_args!("  health, metrics, sessions at {admin}"));
}

/// An address that can be typed in on this machine: "all interfaces" cannot.
pub(super) fn reachable(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        let loopback =
            if address.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() };
        address.set_ip(loopback);
    }
    address
}
