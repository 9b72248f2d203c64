use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::uri::{PathAndQuery, Scheme, Uri};
use reqwest::Url;

use super::settings::{BaseUrl, Settings, SettingsError};

/// Where one request goes.
#[derive(Debug, Clone)]
pub struct Target {
    /// The upstream's identity, name and base URL: sessions of two upstreams are never the same.
    pub upstream: Arc<str>,
    pub(super) url: Url,
}

/// Why a request has no target.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum TargetError {
    /// No named upstream fits and there is no default one.
    #[error("no upstream for this path; paths here begin with one of: {names}")]
    NoUpstream {
        /// The configured names, as they begin paths.
        names: String,
    },
    /// Not a path: `*`, or a bare host as CONNECT sends it.
    #[error("the request target is not a path")]
    NotAPath,
}

/// All upstreams, by path.
#[derive(Debug, Clone)]
pub struct Targets {
    default: Option<Base>,
    named: Vec<(String, Base)>,
}

#[derive(Debug, Clone)]
struct Base {
    url: BaseUrl,
    identity: Arc<str>,
}

impl Targets {
    /// The upstreams of these settings.
    ///
    /// # Errors
    /// Everything that is wrong with the settings.
    pub fn new(settings: &Settings) -> Result<Self, Vec<SettingsError>> {
        let problems = settings.problems();
        if !problems.is_empty() {
            return Err(problems);
        }
        let base = |name: &str, key: &str, url: &str| {
            Base::new(name, url).map_err(|problem| vec![SettingsError::Url { key: key.to_owned(), problem }])
        };
        let default = settings.url.as_deref().map(|url| base("", "upstream.url", url)).transpose()?;
        let mut named = Vec::with_capacity(settings.named.len());
        for (name, one) in &settings.named {
            named.push((name.clone(), base(name, &format!("upstreams.{name}.url"), &one.url)?));
        }
        Ok(Self { default, named })
    }

    /// Whether any upstream is reached over TLS.
    pub(super) fn any_is_tls(&self) -> bool {
        self.bases().any(|base| base.url.scheme == Scheme::HTTPS)
    }

    /// Whether all upstreams are on this machine.
    pub(super) fn all_are_local(&self) -> bool {
        self.bases().all(|base| is_this_machine(base.url.authority.host()))
    }

    fn bases(&self) -> impl Iterator<Item = &Base> {
        self.default.iter().chain(self.named.iter().map(|(_, base)| base))
    }

    /// Where a request for `uri` goes. Path and query are taken over; only what the URL standard calls the same is
    /// written its way (`/../` is resolved, a quote in the query becomes `%27`).
    ///
    /// # Errors
    /// When the request has no path, or no upstream fits it.
    pub fn resolve(&self, uri: &Uri) -> Result<Target, TargetError> {
        let asked = uri.path_and_query().ok_or(TargetError::NotAPath)?;
        if !asked.as_str().starts_with('/') {
            return Err(TargetError::NotAPath);
        }
        let found = self.named.iter().find_map(|(name, base)| {
            let rest = after_segment(asked.as_str(), &["/", name])?;
            Some((base, Some(rest)))
        });
        match (found, &self.default) {
            (Some((base, rest)), _) => base.target(asked, rest),
            (None, Some(base)) => base.target(asked, None),
            (None, None) => {
                let names: Vec<_> = self.named.iter().map(|(name, _)| format!("/{name}/")).collect();
                Err(TargetError::NoUpstream { names: names.join(", ") })
            }
        }
    }
}

impl Base {
    fn new(name: &str, url: &str) -> Result<Self, super::UrlError> {
        let url = BaseUrl::parse(url)?;
        let identity = format!("{name} {}://{}{}", url.scheme, url.authority, url.path);
        Ok(Self { url, identity: identity.into() })
    }

    /// `rest` is what is left of `asked` behind an upstream's name.
    fn target(&self, asked: &PathAndQuery, rest: Option<&str>) -> Result<Target, TargetError> {
        let path = if self.url.path.is_empty() && rest.is_none() {
            asked.clone()
        } else {
            let joined = join(&self.url.path, rest.unwrap_or(asked.as_str()));
            PathAndQuery::from_maybe_shared(Bytes::from(joined)).map_err(|_| TargetError::NotAPath)?
        };
        let whole = format!("{}://{}{path}", self.url.scheme, self.url.authority);
        let url = Url::parse(&whole).map_err(|_| TargetError::NotAPath)?;
        Ok(Target { upstream: Arc::clone(&self.identity), url })
    }
}

/// The path to ask for: the base path in front of what the client asked, in place of the client's leading `/v1`
/// or of the same base path.
fn join(base: &str, asked: &str) -> String {
    let asked = if asked.starts_with('/') { asked.to_owned() } else { format!("/{asked}") };
    if base.is_empty() {
        return asked;
    }
    let rest = after_segment(&asked, &[base]).or_else(|| after_segment(&asked, &["/v1"])).unwrap_or(&asked);
    format!("{base}{rest}")
}

/// What follows `start` in `path`, if `start` is there and ends where a segment ends.
fn after_segment<'a>(path: &'a str, start: &[&str]) -> Option<&'a str> {
    let rest = start.iter().try_fold(path, |rest, piece| rest.strip_prefix(piece))?;
    (rest.is_empty() || rest.starts_with(['/', '?'])).then_some(rest)
}

fn is_this_machine(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upstream::NamedUpstream;

    fn targets(url: Option<&str>, named: &[(&str, &str)]) -> Targets {
        let named =
            named.iter().map(|(name, url)| ((*name).to_owned(), NamedUpstream { url: (*url).to_owned() }));
        let settings =
            Settings { url: url.map(str::to_owned), named: named.collect(), ..Settings::default() };
        Targets::new(&settings).unwrap()
    }

    fn resolve(base: &str, asked: &str) -> String {
        targets(Some(base), &[]).resolve(&asked.parse().unwrap()).unwrap().url.to_string()
    }

    #[test]
    fn an_origin_alone_keeps_the_path_byte_for_byte() {
        for path in [
            "/v1/chat/completions",
            "/",
            "//double//slashes/",
            "/%2F/%zz/a%20b?%20{}|^`\\&&==",
            "/v1/models?",
            "/x?next=http://a/?b=c",
            "/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21",
        ] {
            let asked: Uri = path.parse().unwrap();
            let asked = asked.path_and_query().unwrap().as_str().to_owned();
            assert_eq!(resolve("http://host:9", path), format!("http://host:9{asked}"));
            assert_eq!(resolve("http://host:9/", path), format!("http://host:9{asked}"));
        }
    }

    #[test]
    fn a_base_path_takes_the_place_of_v1_or_of_itself() {
        let base = "https://openrouter.ai/api/v1";
        for (asked, sent) in [
            ("/v1/chat/completions", "/api/v1/chat/completions"),
            ("/api/v1/chat/completions", "/api/v1/chat/completions"),
            ("/chat/completions?a=/v1/", "/api/v1/chat/completions?a=/v1/"),
            ("/v1?x", "/api/v1?x"),
            ("/v1", "/api/v1"),
            ("/v1beta/models", "/api/v1/v1beta/models"),
            ("/v1/%2F//x?y=", "/api/v1/%2F//x?y="),
            ("/", "/api/v1/"),
        ] {
            assert_eq!(resolve(base, asked), format!("https://openrouter.ai{sent}"), "{asked}");
        }
        assert_eq!(resolve("http://host/v1/", "/v1/responses"), "http://host/v1/responses");
    }

    #[test]
    fn a_named_upstream_is_reached_by_its_name() {
        let all = targets(Some("http://main"), &[("local", "http://gpu:1"), ("or", "https://o.ai/api/v1")]);
        for (asked, sent) in [
            ("/local/v1/models", "http://gpu:1/v1/models"),
            ("/local", "http://gpu:1/"),
            ("/local?x=1", "http://gpu:1/?x=1"),
            ("/or/v1/chat/completions", "https://o.ai/api/v1/chat/completions"),
            ("/localhost/v1", "http://main/localhost/v1"),
            ("/v1/local/", "http://main/v1/local/"),
        ] {
            assert_eq!(all.resolve(&asked.parse().unwrap()).unwrap().url.to_string(), sent, "{asked}");
        }
        let of = |path: &str| all.resolve(&path.parse().unwrap()).unwrap().upstream;
        assert_eq!(&*of("/local/v1/models"), "local http://gpu:1");
        assert_ne!(of("/local/x"), of("/or/x"));
    }

    #[test]
    fn what_has_no_target_is_refused_with_the_names_that_would_fit() {
        let named_only = targets(None, &[("a", "http://a"), ("b", "http://b")]);
        let refusal = named_only.resolve(&"/v1/x".parse().unwrap()).unwrap_err().to_string();
        assert_eq!(refusal, "no upstream for this path; paths here begin with one of: /a/, /b/");
        let all = targets(Some("http://main"), &[]);
        assert_eq!(all.resolve(&"*".parse().unwrap()).unwrap_err(), TargetError::NotAPath);
        assert_eq!(all.resolve(&"host:443".parse().unwrap()).unwrap_err(), TargetError::NotAPath);
    }

    #[test]
    fn what_the_url_standard_calls_the_same_is_written_its_way() {
        assert_eq!(resolve("http://host", "/a/../b/./c?q='x'"), "http://host/b/c?q=%27x%27");
    }

    #[test]
    fn this_machine_is_told_from_others() {
        let local = |url: &str| targets(Some(url), &[]).all_are_local();
        assert!(local("http://localhost:1") && local("http://127.0.0.9") && local("http://[::1]:8"));
        assert!(!local("https://api.openai.com") && !local("http://10.0.0.1"));
    }
}
