use std::net::{Ipv4Addr, SocketAddr};

use serde::{Deserialize, Deserializer, de::Error as _};

use super::Config;
use super::validate::{Finding, Rules};

/// Reads an address that is listened on. The error is what is wrong and, in a second line, the remedy.
pub(super) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SocketAddr, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse(&text)
        .map_err(|remedy| D::Error::custom(format!("is not an IP address and a port: {text:?}\n{remedy}")))
}

/// The rules about the addresses that are listened on.
pub(super) fn check(config: &Config, rules: &mut Rules<'_>) {
    if collide(config.listen, config.admin_listen) {
        rules.problem(Finding {
            keys: vec![vec!["listen".to_owned()], vec!["admin_listen".to_owned()]],
            what: format!(
                "`listen` ({}) and `admin_listen` ({}) collide",
                config.listen, config.admin_listen
            ),
            remedy: "give them different ports".to_owned(),
        });
    }
}

/// An address, or how to write it.
fn parse(text: &str) -> Result<SocketAddr, String> {
    const EXAMPLE: &str = "for example 127.0.0.1:8790, or 0.0.0.0:8790 to be reached from other machines";
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    if let Some(port) = text.strip_prefix("localhost:").and_then(|port| port.parse().ok()) {
        return Ok((Ipv4Addr::LOCALHOST, port).into());
    }
    Err(match text.rsplit_once(':') {
        Some(("", port)) => format!("the IP address is missing: write 127.0.0.1:{port} or 0.0.0.0:{port}"),
        _ if text.contains("://") => format!("leave the scheme out; {EXAMPLE}"),
        Some((_, port)) if port.parse::<u16>().is_err() => {
            format!("a port is a number from 0 to 65535; {EXAMPLE}")
        }
        Some((host, _)) if host.contains(':') => {
            "an IPv6 address is written in brackets: [::1]:8790".to_owned()
        }
        _ => EXAMPLE.to_owned(),
    })
}

fn collide(one: SocketAddr, other: SocketAddr) -> bool {
    let any = one.ip().is_unspecified() || other.ip().is_unspecified();
    one.port() != 0 && one.port() == other.port() && (any || one.ip() == other.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_with_ports_are_read() {
        for text in ["127.0.0.1:0", "0.0.0.0:8790", "[::1]:80", "localhost:8790"] {
            assert!(parse(text).is_ok(), "{text}");
        }
        for (text, remedy) in [
            ("", "for example"),
            (":8790", "0.0.0.0:8790"),
            ("8790", "for example"),
            ("127.0.0.1", "for example"),
            ("::1:80", "[::1]"),
            ("http://127.0.0.1:80", "scheme"),
            ("127.0.0.1:70000", "65535"),
            ("proxy.internal:80", "for example"),
        ] {
            assert!(parse(text).is_err_and(|told| told.contains(remedy)), "{text}");
        }
    }

    #[test]
    fn one_port_on_all_interfaces_collides_with_itself() {
        let collide = |one: &str, other: &str| collide(one.parse().unwrap(), other.parse().unwrap());
        assert!(collide("0.0.0.0:80", "127.0.0.1:80"));
        assert!(collide("127.0.0.1:80", "127.0.0.1:80"));
        assert!(!collide("127.0.0.1:0", "127.0.0.1:0"));
        assert!(!collide("127.0.0.1:80", "127.0.0.1:81"));
        assert!(!collide("127.0.0.1:80", "127.0.0.2:80"));
    }
}
