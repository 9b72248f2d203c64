use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use http::uri::Scheme;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tower::Service;

use super::BoxError;

/// Opens connections: directly, or by way of the machine's HTTP proxy; TLS on top where the URL says so; all of it
/// within one time limit.
#[derive(Clone)]
pub(super) struct Connector {
    tls: HttpsConnector<Dial>,
    limit: Duration,
}

/// The machine's proxy settings (`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`), if they concern any upstream.
#[derive(Clone, Default)]
pub(super) struct Proxies(Option<Arc<Matcher>>);

#[derive(Clone)]
pub(super) struct Dial {
    tcp: HttpConnector,
    proxies: Proxies,
}

/// A connection, before TLS.
pub(super) struct Link {
    io: TokioIo<TcpStream>,
    /// To a proxy that wants to see whole URLs.
    is_proxied: bool,
}

type Pending<T> = Pin<Box<dyn Future<Output = Result<T, BoxError>> + Send>>;

impl Proxies {
    /// The proxies that the environment names for any of these upstreams.
    pub(super) fn from_env(upstreams: impl Iterator<Item = Uri>) -> Self {
        let all = Self(Some(Arc::new(Matcher::from_env())));
        if upstreams.into_iter().any(|uri| all.of(&uri).is_some()) { all } else { Self(None) }
    }

    /// The proxy on the way to `uri`. This machine itself is always reached directly.
    pub(super) fn of(&self, uri: &Uri) -> Option<hyper_util::client::proxy::matcher::Intercept> {
        let matcher = self.0.as_ref()?;
        if is_this_machine(uri.host()?) { None } else { matcher.intercept(uri) }
    }
}

impl Connector {
    pub(super) fn new(tls: ClientConfig, proxies: Proxies, limit: Duration) -> Self {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_keepalive(Some(Duration::from_mins(1)));
        // Shares the time among a host's addresses, so that one that is dead does not use up all of it.
        tcp.set_connect_timeout(Some(limit));
        let tls = HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_or_http()
            .enable_all_versions()
            .wrap_connector(Dial { tcp, proxies });
        Self { tls, limit }
    }
}

impl Service<Uri> for Connector {
    type Response = <HttpsConnector<Dial> as Service<Uri>>::Response;
    type Error = BoxError;
    type Future = Pending<Self::Response>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.tls.poll_ready(cx)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting = self.tls.call(uri);
        let limit = self.limit;
        Box::pin(async move {
            timeout(limit, connecting).await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
        })
    }
}

impl Service<Uri> for Dial {
    type Response = Link;
    type Error = BoxError;
    type Future = Pending<Link>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.tcp.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let Some(proxy) = self.proxies.of(&uri) else {
            let connecting = self.tcp.call(uri);
            return Box::pin(async move { Ok(Link { io: connecting.await?, is_proxied: false }) });
        };
        if proxy.uri().scheme() != Some(&Scheme::HTTP) {
            let error = "the proxy set in the environment must be an http:// URL";
            return Box::pin(async move { Err(error.into()) });
        }
        if uri.scheme() == Some(&Scheme::HTTPS) {
            let mut tunnel = Tunnel::new(proxy.uri().clone(), self.tcp.clone());
            if let Some(auth) = proxy.basic_auth() {
                tunnel = tunnel.with_auth(auth.clone());
            }
            let connecting = tunnel.call(uri);
            return Box::pin(async move { Ok(Link { io: connecting.await?, is_proxied: false }) });
        }
        let connecting = self.tcp.call(proxy.uri().clone());
        Box::pin(async move { Ok(Link { io: connecting.await?, is_proxied: true }) })
    }
}

impl Connection for Link {
    fn connected(&self) -> Connected {
        self.io.connected().proxy(self.is_proxied)
    }
}

impl Read for Link {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, buf)
    }
}

impl Write for Link {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(cx, bufs)
    }
}

fn is_this_machine(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_never_reached_by_a_proxy() {
        let all = Proxies(Some(Arc::new(Matcher::builder().all("http://proxy:3128").build())));
        for direct in ["http://localhost:1/", "http://127.0.0.9/", "http://[::1]:8/"] {
            assert!(all.of(&direct.parse().unwrap()).is_none(), "{direct}");
        }
        assert!(all.of(&"https://api.openai.com/".parse().unwrap()).is_some());
    }
}
