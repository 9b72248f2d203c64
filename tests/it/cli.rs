//! The command line: what is printed where, and exit codes.

use std::net::TcpListener;
use std::process::{Command, Output, Stdio};

/// The command with nothing of this environment's own settings.
fn secateur(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_secateur"));
    command.args(arguments).env_clear().stdin(Stdio::null());
    command
}

fn run(arguments: &[&str]) -> (i32, String, String) {
    outcome(&secateur(arguments).output().expect("the command was built"))
}

fn outcome(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().expect("it was not killed"), text(&output.stdout), text(&output.stderr))
}

#[test]
fn check_prints_a_configuration_that_can_be_read_again() {
    let (code, printed, said) = run(&["check", "--upstream", "https://host.example/v1", "--mode", "observe"]);
    assert_eq!((code, said.as_str()), (0, ""));
    let config: secateur::config::Config = toml::from_str(&printed).unwrap();
    assert_eq!(config.upstream.url.as_deref(), Some("https://host.example/v1"));
    assert!(printed.contains("mode = \"observe\"  # --mode\n"), "{printed}");
}

#[test]
fn check_notes_what_serving_needs() {
    let (code, _, said) = run(&["check"]);
    assert_eq!(code, 0);
    assert!(said.starts_with("note: `upstream.url` is not set"), "{said}");
}

#[test]
fn a_wrong_configuration_ends_with_78() {
    let output = secateur(&["check", "--listen", ":1"]).env("SECATEUR_PRUNE_TO", "2").output().unwrap();
    let (code, printed, said) = outcome(&output);
    assert_eq!((code, printed.as_str()), (78, ""));
    assert!(said.contains("the configuration has 2 problems"), "{said}");
    assert!(said.contains("--> SECATEUR_PRUNE_TO") && said.contains("--> --listen"), "{said}");
}

#[test]
fn wrong_usage_ends_with_64_and_help_with_0() {
    for wrong in [&["--lisen", "x"][..], &["sevre"], &["check", "--mode", "prunes"]] {
        let (code, printed, said) = run(wrong);
        assert_eq!((code, printed.as_str()), (64, ""), "{wrong:?}: {said}");
        assert!(said.starts_with("error: "), "{said}");
    }
    for right in ["--help", "--version"] {
        let (code, printed, said) = run(&[right]);
        assert_eq!((code, said.as_str()), (0, ""));
        assert!(printed.contains("secateur"), "{printed}");
    }
}

#[test]
fn health_is_1_when_nobody_listens() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    for address in [free.clone(), format!("http://{free}/")] {
        let (code, printed, said) = run(&["health", "--admin", &address]);
        assert_eq!((code, printed.as_str()), (1, ""));
        assert!(said.starts_with("not ready: cannot connect to 127.0.0.1:"), "{said}");
    }
}
