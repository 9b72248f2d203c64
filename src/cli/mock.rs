use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use tokio::net::TcpListener;
use tokio::{runtime, select};

use super::serve::{QUESTION, reachable};
use super::terminal::complain;
use crate::app::shutdown_signal;
use crate::mock::{self, MockOptions, Script};

/// How a shell asks.
const CURL: &str = "curl -s -H 'content-type: application/json'";
/// Requests for the mock upstream, as a shell takes them.
const MESSAGES_QUESTION: &str =
    r#"'{"model":"mock","max_tokens":100,"messages":[{"role":"user","content":"Hello"}]}'"#;
const RESPONSES_QUESTION: &str = r#"'{"model":"mock","input":"Hello"}'"#;

/// What the mock upstream does.
#[derive(Debug, Args)]
pub(super) struct MockArgs {
    /// Where it is reached
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8799")]
    listen: SocketAddr,
    /// What to do with which request: one JSON object a line, such as {"request": 2, "status": 429}
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// Window of all models, in tokens; a larger request is an error, as it is with a provider
    #[arg(long, value_name = "TOKENS")]
    window: Option<u64>,
    /// Milliseconds between the chunks of a stream
    #[arg(long, value_name = "MS", default_value_t = 0)]
    chunk_delay: u64,
}

/// Serves a mock upstream until the process is told to end.
pub(super) fn run(args: &MockArgs) -> anyhow::Result<ExitCode> {
    let options = args.options()?;
    let runtime =
        runtime::Builder::new_multi_thread().enable_all().build().context("cannot start threads")?;
    let served = runtime.block_on(serve(args.listen, options));
    runtime.shutdown_background();
    served.map(|()| ExitCode::SUCCESS)
}

async fn serve(listen: SocketAddr, options: MockOptions) -> anyhow::Result<()> {
    let shutdown = shutdown_signal().context("cannot wait for signals")?;
    let listener = TcpListener::bind(listen)
        .await
        .with_context(|| format!("cannot listen on {listen}: choose another address with --listen"))?;
    let here = format!("http://{}", reachable(listener.local_addr()?));
    complain(format_args!(
        "secateur mock serves chat completions, messages and responses at {here}/v1\n  try it:\n    \
         {CURL} {here}/v1/chat/completions -d {QUESTION}\n    \
         {CURL} {here}/v1/messages -H 'anthropic-version: 2023-06-01' -d {MESSAGES_QUESTION}\n    \
         {CURL} {here}/v1/responses -d {RESPONSES_QUESTION}\n  \
         put the proxy in front of it:\n    secateur serve --upstream {here}/v1"
    ));
    select! {
        served = mock::serve(listener, options) => served.context("serving broke off"),
        () = shutdown => Ok(()),
    }
}

impl MockArgs {
    fn options(&self) -> anyhow::Result<MockOptions> {
        let mut options = MockOptions { chunk_delay_ms: self.chunk_delay, ..MockOptions::default() };
        if let Some(script) = &self.script {
            options.script = read(script)?;
        }
        if let Some(window) = self.window {
            options.window = window;
            options.models.values_mut().for_each(|of_model| *of_model = window);
        }
        Ok(options)
    }
}

fn read(script: &Path) -> anyhow::Result<Script> {
    let text = std::fs::read_to_string(script)
        .with_context(|| format!("cannot read the script {}", script.display()))?;
    Script::parse(&text).with_context(|| format!("the script {} cannot be used", script.display()))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn args() -> MockArgs {
        MockArgs { listen: ([127, 0, 0, 1], 0).into(), script: None, window: None, chunk_delay: 0 }
    }

    #[test]
    fn a_window_is_that_of_all_models() {
        let options = MockArgs { window: Some(9000), ..args() }.options().unwrap();
        assert_eq!((options.window_of("mock-large"), options.window_of("any")), (9000, 9000));
    }

    #[test]
    fn a_script_that_cannot_be_used_is_named_with_the_place() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"{\"request\": 1, \"text\": \"a\"}\n{\"reqest\": 2}\n").unwrap();
        let error = MockArgs { script: Some(file.path().to_owned()), ..args() }.options().err().unwrap();
        let text = format!("{error:#}");
        assert!(text.contains("line 2") && text.contains("`request`"), "{text}");
    }
}
