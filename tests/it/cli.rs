//! The command line: what is printed where, and exit codes.

use std::net::TcpListener;
use std::process::Output;

use crate::support::{Served, secateur};

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

#[test]
#[cfg(unix)]
fn serve_tells_where_it_is_answers_health_and_ends_with_0() {
    for start in
        [&["serve", "--upstream", "https://host.example/v1"][..], &["--upstream", "https://host.example/v1"]]
    {
        let served = Served::start(start);
        assert!(served.told.contains("requests go to      https://host.example/v1\n"), "{}", served.told);
        let base = served.address_behind("OPENAI_BASE_URL=");
        assert_eq!(base.trim_end_matches(')'), format!("{}/v1", served.address_behind("serves at ")));
        let admin = served.address_behind("sessions at ");
        assert_eq!(run(&["health", "--admin", &admin]), (0, "ready\n".to_owned(), String::new()));
        served.signal("-TERM");
        assert_eq!(served.end().0, Some(0));
    }
}

#[test]
fn serve_without_an_upstream_is_a_wrong_configuration() {
    for arguments in [&["serve"][..], &[]] {
        let (code, _, said) = run(arguments);
        assert_eq!(code, 78);
        assert!(said.contains("`upstream.url` is not set") && said.contains("--upstream"), "{said}");
    }
}

#[test]
fn serve_names_the_address_that_is_taken() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let (code, _, said) = run(&["serve", "--upstream", "http://host.example", "--listen", &address]);
    assert_eq!(code, 1);
    assert!(said.starts_with(&format!("secateur: cannot listen on {address} (`listen`): ")), "{said}");
}

#[test]
#[cfg(unix)]
fn warnings_are_told_once_at_the_start() {
    let mut command =
        secateur(&["serve", "--upstream", "http://host.example", "--admin-listen", "127.0.0.1:0"]);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    command.arg("--listen").arg(taken.local_addr().unwrap().to_string());
    let output = command.env("SECATEUR_DETAIL_PRUNING_MODE", "model_summary").output().unwrap();
    let (_, _, said) = outcome(&output);
    assert_eq!(said.matches("summaries by a model do not exist yet").count(), 1, "{said}");
    assert!(said.contains("SECATEUR_DETAIL_PRUNING_MODE"), "{said}");
}
