use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail};

use super::arguments::Health;
use super::serve::reachable;
use super::terminal::{complain, say};
use crate::config::load;

/// Longest wait for each step of the question.
const PATIENCE: Duration = Duration::from_secs(2);

/// Asks a proxy's admin address whether it is ready: exit code 0, else 1.
pub(super) fn run(health: &Health) -> ExitCode {
    let loaded = load(&health.sources());
    let answer = loaded.map_err(anyhow::Error::from).and_then(|loaded| ask(loaded.config.admin_listen));
    match answer {
        Ok(()) => {
            say("ready");
            ExitCode::SUCCESS
        }
        Err(error) => {
            complain(format_args!("not ready: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn ask(address: SocketAddr) -> anyhow::Result<()> {
    if address.port() == 0 {
        bail!("`admin_listen` has port 0, so only the proxy's log tells its real port: give it with --admin");
    }
    let target = reachable(address);
    let mut stream = TcpStream::connect_timeout(&target, PATIENCE)
        .with_context(|| format!("cannot connect to {target} (`admin_listen`)"))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    // In one piece: what is written in several can be answered, and refused, in the middle.
    let request = format!("GET /readyz HTTP/1.1\r\nhost: {target}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut head = Vec::new();
    let status = loop {
        let mut piece = [0; 512];
        let n = stream.read(&mut piece).with_context(|| format!("{target} does not answer"))?;
        head.extend_from_slice(&piece[..n]);
        if let Some(end) = head.iter().position(|byte| *byte == b'\n') {
            break String::from_utf8_lossy(&head[..end]).trim().to_owned();
        }
        if n == 0 || head.len() > 4_096 {
            bail!("{target} does not answer in HTTP");
        }
    };
    match status.split(' ').nth(1) {
        Some("200") => Ok(()),
        _ => bail!("{target} answers {status:?}"),
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn asked(answer: &'static str) -> anyhow::Result<()> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 1_024];
            let n = stream.read(&mut request).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
            String::from_utf8_lossy(&request[..n]).into_owned()
        });
        let outcome = ask(address);
        assert!(server.join().unwrap().starts_with("GET /readyz HTTP/1.1\r\n"));
        outcome
    }

    #[test]
    fn only_a_200_means_ready() {
        assert!(asked("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").is_ok());
        let error = asked("HTTP/1.1 503 Service Unavailable\r\n\r\n").unwrap_err();
        assert!(error.to_string().ends_with("answers \"HTTP/1.1 503 Service Unavailable\""), "{error}");
        assert!(asked("").unwrap_err().to_string().contains("does not answer in HTTP"));
    }

    #[test]
    fn all_interfaces_are_asked_at_the_loopback() {
        let reachable = |address: &str| reachable(address.parse().unwrap()).to_string();
        assert_eq!(reachable("0.0.0.0:8791"), "127.0.0.1:8791");
        assert_eq!(reachable("[::]:8791"), "[::1]:8791");
        assert_eq!(reachable("192.0.2.1:8791"), "192.0.2.1:8791");
        assert!(ask("127.0.0.1:0".parse().unwrap()).unwrap_err().to_string().contains("--admin"));
    }
}
