use std::net::SocketAddr;

use super::Config;
use super::validate::{Finding, Rules, finding};

/// The rules about the addresses that are listened on.
pub(super) fn check(config: &Config, rules: &mut Rules<'_>) {
    let both = [("listen", &config.listen), ("admin_listen", &config.admin_listen)];
    let mut fine = true;
    for (key, text) in both {
        if let Err(remedy) = parts(text) {
            fine = false;
            rules.problem(finding(key, format!("`{key}` is not a host and a port: {text:?}"), remedy));
        }
    }
    if fine && collide(&config.listen, &config.admin_listen) {
        rules.problem(Finding {
            keys: vec![vec!["listen".to_owned()], vec!["admin_listen".to_owned()]],
            what: format!(
                "`listen` and `admin_listen` are the same address: {:?} and {:?}",
                config.listen, config.admin_listen
            ),
            remedy: "give them different ports".to_owned(),
        });
    }
}

/// The port of an address.
pub(super) fn port(text: &str) -> Option<u16> {
    parts(text).ok().map(|(_, port)| port)
}

/// Host and port, or how to write it.
fn parts(text: &str) -> Result<(&str, u16), String> {
    let example = "for example 127.0.0.1:8790, or 0.0.0.0:8790 to be reached from other machines";
    if let Some(rest) = text.strip_prefix(':') {
        return Err(format!(
            "the host is missing: write 127.0.0.1:{rest}, or 0.0.0.0:{rest} for all interfaces"
        ));
    }
    if text.contains("://") {
        return Err(format!("leave the scheme out; {example}"));
    }
    let (host, port) = text.rsplit_once(':').ok_or(example)?;
    let port = port.parse().map_err(|_| format!("a port is a number from 0 to 65535; {example}"))?;
    let name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    if text.parse::<SocketAddr>().is_err() && !host.chars().all(name) {
        return Err(format!("{example}; an IPv6 host is written in brackets: [::1]:8790"));
    }
    Ok((host, port))
}

fn collide(one: &str, other: &str) -> bool {
    let (Ok((host, port)), Ok((other_host, other_port))) = (parts(one), parts(other)) else { return false };
    let any = |host: &str| host == "0.0.0.0" || host == "[::]";
    port != 0 && port == other_port && (host == other_host || any(host) || any(other_host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_with_ports_are_addresses() {
        for text in ["127.0.0.1:0", "0.0.0.0:8790", "[::1]:80", "localhost:8790", "proxy.internal:1"] {
            assert!(parts(text).is_ok(), "{text}");
        }
        for text in ["", ":8790", "8790", "127.0.0.1", "::1:80", "http://127.0.0.1:80", "host:70000", "a b:1"]
        {
            assert!(parts(text).is_err(), "{text}");
        }
    }

    #[test]
    fn one_port_on_all_interfaces_collides_with_itself() {
        assert!(collide("0.0.0.0:80", "127.0.0.1:80"));
        assert!(collide("127.0.0.1:80", "127.0.0.1:80"));
        assert!(!collide("127.0.0.1:0", "127.0.0.1:0"));
        assert!(!collide("127.0.0.1:80", "127.0.0.1:81"));
        assert!(!collide("127.0.0.1:80", "127.0.0.2:80"));
    }
}
