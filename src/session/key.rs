use serde::{Deserialize, Serialize};

use crate::model::{Fingerprint, Transcript};

/// Which session a request belongs to. Never holds a credential: only its hash goes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SessionKey(Fingerprint);

/// What a key is derived from.
pub struct Hints<'a> {
    /// Looks a request header up by its lower-case name.
    pub header: &'a (dyn Fn(&str) -> Option<String> + Sync),
    /// The target: two upstreams never share a session.
    pub upstream: &'a str,
    /// The conversation.
    pub transcript: &'a Transcript,
}

/// Headers that credentials come in.
const CREDENTIALS: [&str; 5] = ["authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie"];
/// Headers that name a session, strongest first.
const SESSION_HEADERS: [&str; 6] = [
    "x-session-id",
    "x-claude-code-session-id",
    "session_id",
    "session-id",
    "x-session-affinity",
    "x-opencode-session",
];

impl SessionKey {
    /// The key, and the explicit id it was made from, if there was one. An id and a fingerprint of the opening
    /// never give the same key, and neither do two credentials or two upstreams.
    pub fn derive(hints: &Hints<'_>) -> (Self, Option<String>) {
        let header = |name: &&str| (hints.header)(name).filter(|value| !value.trim().is_empty());
        let credentials: Vec<String> =
            CREDENTIALS.iter().map(|name| header(name).unwrap_or_default()).collect();
        let mut owner: Vec<&[u8]> = credentials.iter().map(String::as_bytes).collect();
        owner.push(hints.upstream.as_bytes());
        let owner = Fingerprint::of(&owner);
        let explicit =
            SESSION_HEADERS.iter().find_map(header).or_else(|| hints.transcript.session_id.clone());
        let own = match &explicit {
            Some(id) => Fingerprint::of(&[b"explicit", id.as_bytes()]),
            None => Fingerprint::of(&[b"opening"]).then(opening(hints.transcript)),
        };
        (Self(owner.then(own)), explicit)
    }
}

/// What a conversation opens with; without any user text, its first item.
fn opening(transcript: &Transcript) -> Fingerprint {
    transcript.opening.or_else(|| transcript.items.first().map(|item| item.fingerprint)).unwrap_or_default()
}

impl std::fmt::Display for SessionKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::model::testing::Script;

    fn transcript(opening: &str, session_id: Option<&str>) -> Transcript {
        Script::default().of_session(session_id).user(opening).transcript()
    }

    fn key(headers: &[(&str, &str)], upstream: &str, transcript: &Transcript) -> SessionKey {
        let map: HashMap<_, _> = headers.iter().copied().collect();
        let header = |name: &str| map.get(name).map(|v| (*v).to_owned());
        SessionKey::derive(&Hints { header: &header, upstream, transcript }).0
    }

    #[test]
    fn an_id_and_an_opening_never_meet() {
        let opening = transcript("hello", None).opening.unwrap_or_default();
        let by_id = key(&[("x-session-id", &opening.to_string())], "u", &transcript("hello", None));
        assert_ne!(by_id, key(&[], "u", &transcript("hello", None)));
    }

    #[test]
    fn credentials_and_upstreams_part_sessions() {
        let t = transcript("hello", Some("s"));
        let one = key(&[("authorization", "Bearer a")], "u", &t);
        assert_eq!(one, key(&[("authorization", "Bearer a"), ("x-other", "1")], "u", &t));
        assert_ne!(one, key(&[("authorization", "Bearer b")], "u", &t));
        assert_ne!(one, key(&[("x-api-key", "Bearer a")], "u", &t));
        assert_ne!(one, key(&[("authorization", "Bearer a")], "v", &t));
    }

    #[test]
    fn the_strongest_hint_counts() {
        let t = transcript("hello", Some("body"));
        let by_header = key(&[("x-session-id", "h"), ("session-id", "other")], "u", &t);
        assert_eq!(by_header, key(&[("x-session-id", "h")], "u", &transcript("bye", None)));
        assert_eq!(key(&[("x-session-id", " ")], "u", &t), key(&[], "u", &transcript("bye", Some("body"))));
        assert_ne!(by_header, key(&[], "u", &t));
    }
}
