use std::collections::BTreeMap;
use std::time::Duration;

use http::uri::{Authority, Scheme, Uri};
use serde::{Deserialize, Serialize};

/// Where requests go and how long they may take: the `[upstream]` table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The API's base URL, such as `https://openrouter.ai/api/v1`. An origin alone keeps the client's path; a base
    /// path takes the place of the client's leading `/v1`.
    pub url: Option<String>,
    /// Longest wait for a connection, TLS included, in milliseconds.
    pub connect_timeout_ms: u64,
    /// Longest wait for the answer's head once the request is on its way, in milliseconds. While a client still
    /// uploads, the wait starts anew with every piece.
    pub first_byte_timeout_ms: u64,
    /// Longest silence while an answer streams, in milliseconds.
    pub idle_timeout_ms: u64,
    /// Further upstreams, reached as `/NAME/...`: the `[upstreams.NAME]` tables.
    #[serde(skip)]
    pub named: BTreeMap<String, NamedUpstream>,
}

/// One further upstream: an `[upstreams.NAME]` table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NamedUpstream {
    /// Its base URL, by the rules of `[upstream] url`.
    pub url: String,
}

/// A setting that cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SettingsError {
    /// Neither a default nor a named upstream.
    #[error("`upstream.url` is not set: name the API's base URL, such as \"https://openrouter.ai/api/v1\"")]
    NoUpstream,
    /// A URL that cannot be used.
    #[error("`{key}`: {problem}")]
    Url {
        /// The key as written in the configuration.
        key: String,
        /// What is wrong with its value.
        problem: UrlError,
    },
    /// A name that cannot stand in a path.
    #[error(
        "`upstreams.{name}`: the name must consist of letters, digits, `-`, `_` and `.`, and must not be `v1`, \
         because it is the first part of the paths that reach it"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// A time limit of 0.
    #[error("`{key}` must be larger than 0")]
    Zero {
        /// The key as written in the configuration.
        key: &'static str,
    },
}

/// What is wrong with an upstream's URL.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum UrlError {
    /// Empty, or with characters that no URL has.
    #[error("\"{0}\" is no URL; expected something like \"https://openrouter.ai/api/v1\"")]
    Unreadable(String),
    /// No `http://` or `https://` in front.
    #[error("\"{0}\" must begin with http:// or https://")]
    Scheme(String),
    /// User and password in it.
    #[error("the URL must not hold a user or password; clients send their own credentials")]
    Credentials,
    /// A query or a fragment.
    #[error("\"{0}\" must end with the path; the query comes from the client")]
    Query(String),
}

/// A base URL, taken apart.
#[derive(Debug, Clone)]
pub(super) struct BaseUrl {
    pub(super) scheme: Scheme,
    pub(super) authority: Authority,
    /// Without the slash at its end; empty for an origin alone.
    pub(super) path: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            url: None,
            connect_timeout_ms: 10_000,
            first_byte_timeout_ms: 600_000,
            idle_timeout_ms: 300_000,
            named: BTreeMap::new(),
        }
    }
}

impl Settings {
    /// Everything that is wrong with these settings; empty when they can be used.
    pub fn problems(&self) -> Vec<SettingsError> {
        let mut found = Vec::new();
        if self.url.is_none() && self.named.is_empty() {
            found.push(SettingsError::NoUpstream);
        }
        let named = self.named.iter().map(|(name, one)| (format!("upstreams.{name}.url"), &one.url));
        for (key, url) in self.url.iter().map(|url| ("upstream.url".to_owned(), url)).chain(named) {
            if let Err(problem) = BaseUrl::parse(url) {
                found.push(SettingsError::Url { key, problem });
            }
        }
        found.extend(
            self.named.keys().filter(|name| !is_name(name)).map(|n| SettingsError::Name { name: n.clone() }),
        );
        let limits = [
            ("upstream.connect_timeout_ms", self.connect_timeout_ms),
            ("upstream.first_byte_timeout_ms", self.first_byte_timeout_ms),
            ("upstream.idle_timeout_ms", self.idle_timeout_ms),
        ];
        found.extend(limits.iter().filter(|(_, ms)| *ms == 0).map(|(key, _)| SettingsError::Zero { key }));
        found
    }

    pub(super) fn connect_timeout(&self) -> Duration {
        Duration::from_millis(self.connect_timeout_ms)
    }

    pub(super) fn first_byte_timeout(&self) -> Duration {
        Duration::from_millis(self.first_byte_timeout_ms)
    }

    pub(super) fn idle_timeout(&self) -> Duration {
        Duration::from_millis(self.idle_timeout_ms)
    }
}

impl BaseUrl {
    pub(super) fn parse(text: &str) -> Result<Self, UrlError> {
        if !["http://", "https://"]
            .iter()
            .any(|scheme| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)))
        {
            return Err(if text.trim().is_empty() {
                UrlError::Unreadable(text.to_owned())
            } else {
                UrlError::Scheme(text.to_owned())
            });
        }
        if text.contains(['?', '#']) {
            return Err(UrlError::Query(text.to_owned()));
        }
        let parts = text.parse::<Uri>().map_err(|_| UrlError::Unreadable(text.to_owned()))?.into_parts();
        let (Some(scheme), Some(authority)) = (parts.scheme, parts.authority) else {
            return Err(UrlError::Unreadable(text.to_owned()));
        };
        if authority.as_str().contains('@') {
            return Err(UrlError::Credentials);
        }
        if authority.host().is_empty() {
            return Err(UrlError::Unreadable(text.to_owned()));
        }
        let path = parts.path_and_query.map(|p| p.path().trim_end_matches('/').to_owned());
        Ok(Self { scheme, authority, path: path.unwrap_or_default() })
    }
}

/// Whether a name can be the first part of a path without being taken for one of the API's own.
fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    !name.is_empty() && name.bytes().all(plain) && !matches!(name, "v1" | "." | "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems_of(url: &str) -> String {
        let settings = Settings { url: Some(url.to_owned()), ..Settings::default() };
        settings.problems().iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn each_mistake_in_a_url_is_named() {
        assert_eq!(problems_of("https://openrouter.ai/api/v1"), "");
        assert_eq!(problems_of("http://[::1]:8080"), "");
        assert_eq!(
            problems_of("localhost:8080"),
            "`upstream.url`: \"localhost:8080\" must begin with http:// or https://"
        );
        assert!(problems_of("").contains("is no URL"));
        assert!(problems_of("http://").contains("is no URL"));
        assert!(problems_of("https://a b/").contains("is no URL"));
        assert!(problems_of("https://user:secret@host/").contains("must not hold a user"));
        assert!(!problems_of("https://user:secret@host/").contains("secret"));
        assert!(problems_of("https://host/v1?key=1").contains("must end with the path"));
    }

    #[test]
    fn all_mistakes_are_reported_at_once() {
        let mut settings = Settings { idle_timeout_ms: 0, ..Settings::default() };
        assert_eq!(settings.problems().len(), 2);
        settings.named.insert("v1".to_owned(), NamedUpstream { url: "ftp://host".to_owned() });
        settings.named.insert("a/b".to_owned(), NamedUpstream { url: "http://host".to_owned() });
        let told: Vec<_> = settings.problems().iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 4, "{told:?}");
        assert!(told[0].starts_with("`upstreams.v1.url`"), "{told:?}");
    }
}
