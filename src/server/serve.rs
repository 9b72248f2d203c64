use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use http::Request;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

use super::{Door, Settings, admin_router, proxy_router};

/// Why serving cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// An address cannot be listened on.
    #[error("cannot listen on {address} (`{key}`)")]
    Bind {
        /// The key as written in the configuration.
        key: &'static str,
        /// The address asked for.
        address: SocketAddr,
        /// What the system says.
        #[source]
        source: io::Error,
    },
}

/// Both listeners, open: clients can connect already, and are answered once serving begins.
#[derive(Debug)]
pub struct Bound {
    /// Where clients connect.
    pub listen: SocketAddr,
    /// Where health, metrics and sessions are shown.
    pub admin: SocketAddr,
    listener: TcpListener,
    admin_listener: TcpListener,
}

/// One listener at work.
struct Gate {
    listener: TcpListener,
    router: Router,
    /// Accept no more; connections end with the exchange they are at.
    closing: CancellationToken,
    /// End all connections where they are.
    ending: CancellationToken,
    connections: TaskTracker,
}

/// How long to wait when the system has no more file handles.
const BREATH: Duration = Duration::from_millis(100);

/// How long idle connections may take to notice that the program ends.
const LAST_WORDS: Duration = Duration::from_millis(500);

impl Bound {
    /// Opens both listeners. Port 0 takes any free port.
    ///
    /// # Errors
    /// When an address is taken, or not one of this machine's.
    pub async fn open(settings: &Settings) -> Result<Self, ServeError> {
        let (listen, listener) = open("listen", settings.listen).await?;
        let (admin, admin_listener) = open("admin_listen", settings.admin_listen).await?;
        Ok(Self { listen, admin, listener, admin_listener })
    }

    /// Serves until `shutdown` comes, then lets the answers under way end within the grace period, cuts off what is
    /// left, and waits for the work behind them.
    pub async fn serve(self, door: Arc<Door>, shutdown: impl Future<Output = ()>) {
        let grace = door.settings.grace();
        let (closing, ending) = (door.closing.clone(), CancellationToken::new());
        let connections = TaskTracker::new();
        let gate = Gate {
            listener: self.listener,
            router: proxy_router(Arc::clone(&door)),
            closing: closing.clone(),
            ending: ending.clone(),
            connections: connections.clone(),
        };
        let admin = Gate {
            listener: self.admin_listener,
            router: admin_router(Arc::clone(&door)),
            closing: ending.clone(),
            ending: ending.clone(),
            connections: TaskTracker::new(),
        };
        let gates = [tokio::spawn(gate.run()), tokio::spawn(admin.run())];
        shutdown.await;
        closing.cancel();
        connections.close();
        door.tasks.close();
        let under_way = async {
            connections.wait().await;
            door.tasks.wait().await;
        };
        if timeout(grace, under_way).await.is_err() {
            tracing::warn!(open = connections.len(), "answers were cut off at the end of the grace period");
        }
        ending.cancel();
        // What was cut off still tells its usage.
        let last = async {
            connections.wait().await;
            door.tasks.wait().await;
            for gate in gates {
                drop(gate.await);
            }
        };
        if timeout(LAST_WORDS, last).await.is_err() {
            tracing::debug!("some work was left undone");
        }
    }
}

impl Gate {
    async fn run(self) {
        let service = TowerToHyperService::new(
            self.router.clone().map_request(|request: Request<Incoming>| request.map(Body::new)),
        );
        let mut http = Builder::new(TokioExecutor::new());
        // The answer's own date goes on, or none.
        http.http1().auto_date_header(false);
        http.http2().auto_date_header(false);
        while let Some(stream) = self.accept().await {
            let connection =
                http.serve_connection_with_upgrades(TokioIo::new(stream), service.clone()).into_owned();
            let (closing, ending) = (self.closing.clone(), self.ending.clone());
            self.connections.spawn(async move {
                let mut connection = std::pin::pin!(connection);
                let served = tokio::select! {
                    served = connection.as_mut() => served,
                    () = ending.cancelled() => return,
                    () = closing.cancelled() => {
                        connection.as_mut().graceful_shutdown();
                        tokio::select! {
                            served = connection => served,
                            () = ending.cancelled() => return,
                        }
                    }
                };
                if let Err(error) = served {
                    tracing::debug!(error, "a client's connection broke off");
                }
            });
        }
    }

    /// The next connection; `None` when no more are accepted.
    async fn accept(&self) -> Option<TcpStream> {
        loop {
            let accepted = tokio::select! {
                biased;
                () = self.closing.cancelled() => return None,
                accepted = self.listener.accept() => accepted,
            };
            match accepted.and_then(|(stream, _)| stream.set_nodelay(true).map(|()| stream)) {
                Ok(stream) => return Some(stream),
                Err(error) if is_the_clients(&error) => {}
                Err(error) => {
                    tracing::error!(%error, "cannot accept connections");
                    sleep(BREATH).await;
                }
            }
        }
    }
}

async fn open(key: &'static str, address: SocketAddr) -> Result<(SocketAddr, TcpListener), ServeError> {
    let bind = async {
        let listener = TcpListener::bind(address).await?;
        Ok((listener.local_addr()?, listener))
    };
    bind.await.map_err(|source| ServeError::Bind { key, address, source })
}

/// Whether only this one connection failed, before it was accepted.
fn is_the_clients(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, InvalidInput, NotConnected};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset | InvalidInput | NotConnected
    )
}

/// Comes when the process is told to end, by SIGTERM or by an interrupt from the keyboard.
///
/// # Errors
/// When the system refuses to say.
pub fn shutdown_signal() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    #[cfg(unix)]
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    Ok(async move {
        #[cfg(unix)]
        tokio::select! {
            _ = terminate.recv() => {}
            _ = tokio::signal::ctrl_c() => {}
        }
        #[cfg(not(unix))]
        drop(tokio::signal::ctrl_c().await);
        tracing::info!("shutting down: no new connections, answers under way may end");
    })
}
