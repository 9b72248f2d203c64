use http::header::{
    CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, EXPECT, HOST, HeaderMap, HeaderName, HeaderValue,
    PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRANSFER_ENCODING, UPGRADE,
};

/// How the body of a request is sent on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AsSent {
    /// The client's own bytes, as they come in.
    Streamed,
    /// The client's own bytes, all of them read before: this many.
    Collected(usize),
    /// Other bytes, without content coding: this many.
    Edited(usize),
}

const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");
const PROXY_CONNECTION: HeaderName = HeaderName::from_static("proxy-connection");

/// Request headers of ours, which no upstream is told.
const OURS: &str = "x-secateur-";

/// The headers to send on: all of the client's in their order and number, without those that concern the client's
/// own connection, and with a true length. `Host` is not among them. With `upgrade`, the offer to change the
/// protocol goes on.
pub fn request_headers(client: &HeaderMap, body: AsSent, upgrade: bool) -> HeaderMap {
    let named = named_by_connection(client);
    let chunked = client.contains_key(TRANSFER_ENCODING);
    let mut sent = HeaderMap::with_capacity(client.len() + 2);
    for (name, value) in client {
        let length = *name == CONTENT_LENGTH && (body != AsSent::Streamed || chunked);
        let coding = *name == CONTENT_ENCODING && matches!(body, AsSent::Edited(_));
        let trailers = *name == TE && value.as_bytes().eq_ignore_ascii_case(b"trailers");
        let ends_here = (is_hop_by_hop(name, &named) && !trailers)
            || *name == HOST
            || *name == EXPECT
            || name.as_str().starts_with(OURS);
        if !length && !coding && !ends_here {
            sent.append(name.clone(), value.clone());
        }
    }
    match body {
        AsSent::Collected(length) | AsSent::Edited(length) => {
            sent.insert(CONTENT_LENGTH, HeaderValue::from(length));
        }
        AsSent::Streamed => {}
    }
    if upgrade {
        keep_offer(client, &mut sent);
    }
    sent
}

/// The headers of an answer to hand on: all of the upstream's in their order and number, without those that concern
/// its own connection. With `upgrade`, the agreement to change the protocol stays.
pub fn answer_headers(upstream: HeaderMap, upgrade: bool) -> HeaderMap {
    let named = named_by_connection(&upstream);
    let mut handed_on = HeaderMap::with_capacity(upstream.len() + 4);
    if upgrade {
        keep_offer(&upstream, &mut handed_on);
    }
    let mut current = None;
    for (name, value) in upstream {
        current = name.or(current);
        if let Some(name) = current.as_ref().filter(|name| !is_hop_by_hop(name, &named)) {
            handed_on.append(name.clone(), value);
        }
    }
    handed_on
}

fn keep_offer(from: &HeaderMap, to: &mut HeaderMap) {
    to.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    for value in from.get_all(UPGRADE) {
        to.append(UPGRADE, value.clone());
    }
}

fn is_hop_by_hop(name: &HeaderName, named: &[HeaderName]) -> bool {
    const FIXED: [HeaderName; 8] = [
        CONNECTION,
        KEEP_ALIVE,
        PROXY_CONNECTION,
        PROXY_AUTHENTICATE,
        PROXY_AUTHORIZATION,
        TE,
        TRANSFER_ENCODING,
        UPGRADE,
    ];
    FIXED.contains(name) || named.contains(name)
}

/// The headers that `Connection` names as its own.
fn named_by_connection(headers: &HeaderMap) -> Vec<HeaderName> {
    let values = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let tokens = values.flat_map(|value| value.split(',')).map(str::trim);
    tokens
        .filter(|token| !token.eq_ignore_ascii_case("keep-alive") && !token.eq_ignore_ascii_case("close"))
        .filter_map(|token| token.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(lines: &[(&str, &str)]) -> HeaderMap {
        lines
            .iter()
            .map(|(n, v)| (n.parse::<HeaderName>().unwrap(), v.parse::<HeaderValue>().unwrap()))
            .collect()
    }

    fn lines(headers: &HeaderMap) -> Vec<String> {
        headers.iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect()
    }

    fn appended(lines: &[(&str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn order_and_number_of_other_fields_stay() {
        let client = appended(&[
            ("host", "127.0.0.1:8790"),
            ("authorization", "Bearer k"),
            ("x-many", "1"),
            ("connection", "keep-alive, x-mine"),
            ("x-mine", "gone"),
            ("keep-alive", "timeout=5"),
            ("expect", "100-continue"),
            ("x-secateur-session", "gone"),
            ("accept-encoding", "gzip, br"),
            ("x-many", "2"),
            ("proxy-authorization", "gone"),
            ("te", "trailers"),
            ("x-session-id", "s1"),
        ]);
        let kept = [
            "authorization: Bearer k",
            "x-many: 1",
            "x-many: 2",
            "accept-encoding: gzip, br",
            "te: trailers",
            "x-session-id: s1",
        ];
        assert_eq!(lines(&request_headers(&client, AsSent::Streamed, false)), kept);
    }

    #[test]
    fn the_length_is_that_of_what_is_sent() {
        let length = |client: &[(&str, &str)], body| {
            let sent = request_headers(&map(client), body, false);
            sent.get(CONTENT_LENGTH).map(|value| value.to_str().unwrap().to_owned())
        };
        let plain = [("content-length", "10")];
        assert_eq!(length(&plain, AsSent::Streamed).as_deref(), Some("10"));
        assert_eq!(length(&plain, AsSent::Edited(7)).as_deref(), Some("7"));
        let chunked = [("transfer-encoding", "chunked"), ("content-length", "3")];
        assert_eq!(length(&chunked, AsSent::Streamed), None);
        assert_eq!(length(&chunked, AsSent::Collected(0)).as_deref(), Some("0"));
    }

    #[test]
    fn the_content_coding_goes_only_with_the_bytes_it_describes() {
        let client = map(&[("content-encoding", "gzip")]);
        assert!(request_headers(&client, AsSent::Collected(5), false).contains_key(CONTENT_ENCODING));
        assert!(!request_headers(&client, AsSent::Edited(5), false).contains_key(CONTENT_ENCODING));
    }

    #[test]
    fn an_offer_to_upgrade_goes_on_only_when_asked_for() {
        let client =
            map(&[("connection", "Upgrade"), ("upgrade", "websocket"), ("sec-websocket-version", "13")]);
        assert_eq!(lines(&request_headers(&client, AsSent::Streamed, false)), ["sec-websocket-version: 13"]);
        let sent = request_headers(&client, AsSent::Streamed, true);
        assert_eq!(sent.get(CONNECTION).unwrap(), "upgrade");
        assert_eq!(sent.get(UPGRADE).unwrap(), "websocket");
    }

    #[test]
    fn an_answer_loses_only_its_connection() {
        let upstream = appended(&[
            ("set-cookie", "a=1"),
            ("transfer-encoding", "chunked"),
            ("retry-after", "7"),
            ("connection", "close"),
            ("set-cookie", "b=2"),
            ("content-encoding", "gzip"),
        ]);
        let kept = ["set-cookie: a=1", "set-cookie: b=2", "retry-after: 7", "content-encoding: gzip"];
        assert_eq!(lines(&answer_headers(upstream, false)), kept);
    }
}
