//! A proxy on free ports, and both of its neighbours as bare connections: a test sees and says every byte itself,
//! and waits for events, never for time to pass.
//!
//! [`Scene`] is the whole play in one: a [`Provider`] that answers by itself and remembers what it was sent, the proxy,
//! and [`Agent`]s that send [`Conversation`]s. [`Upstream`] and [`Wire`] are the bare connections beneath, for tests in
//! which every byte and its moment count.

mod agent;
mod compare;
mod conversation;
mod process;
mod property;
mod provider;
mod scene;
mod story;
mod wire;

use std::net::SocketAddr;
use std::sync::Arc;

use secateur::app::{App, Parts};
use secateur::model::SystemClock;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub(crate) use agent::{Agent, Turn};
pub(crate) use compare::{Members, assert_chain_holds, changed_contents};
pub(crate) use conversation::{Conversation, lines};
pub(crate) use process::{Served, secateur};
pub(crate) use property::check_cases;
pub(crate) use provider::{Provider, Reply};
pub(crate) use scene::{GONE, Scene, clear_all_old};
pub(crate) use story::{Format, Story};
pub(crate) use wire::{Message, Wire, eventually, within};

/// A running proxy.
pub(crate) struct Sidecar {
    /// Where clients connect.
    pub(crate) listen: SocketAddr,
    /// Its admin port.
    pub(crate) admin: SocketAddr,
    shutdown: oneshot::Sender<()>,
    join: JoinHandle<()>,
}

/// An upstream that is played by the test.
pub(crate) struct Upstream {
    listener: TcpListener,
    /// Its base URL.
    pub(crate) url: String,
}

impl Upstream {
    /// Opens a port for it.
    pub(crate) async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        Self { listener, url }
    }

    /// Whether a connection was opened that nobody accepted yet. Connections are accepted in the order in which
    /// they were opened, so if there is none, one opened now comes first.
    pub(crate) async fn has_visitor(&self) -> bool {
        let address = self.listener.local_addr().expect("it is bound");
        let own = within(TcpStream::connect(address)).await.expect("it listens");
        let (_, first) = within(self.listener.accept()).await.expect("a connection");
        first != own.local_addr().expect("it is connected")
    }

    /// The next connection that the proxy opens.
    pub(crate) async fn accept(&self) -> Wire {
        Wire::new(within(self.listener.accept()).await.expect("a connection").0)
    }
}

impl Sidecar {
    /// A proxy in front of the upstream at `url`, with default settings.
    pub(crate) async fn in_front_of(url: &str) -> Self {
        Self::with(url, |_| {}).await
    }

    /// A proxy in front of the upstream at `url`, with settings changed by `change`.
    pub(crate) async fn with(url: &str, change: impl FnOnce(&mut Parts)) -> Self {
        let mut parts = Parts::default();
        parts.upstream.url = Some(url.to_owned());
        parts.server.listen.set_port(0);
        parts.server.admin_listen.set_port(0);
        change(&mut parts);
        let (shutdown, told) = oneshot::channel();
        let app = App::build(parts, Arc::new(SystemClock)).expect("good settings");
        let running = app.serve(async { drop(told.await) }).await.expect("free ports");
        Self { listen: running.listen, admin: running.admin, shutdown, join: running.join }
    }

    /// A new connection of a client.
    pub(crate) async fn client(&self) -> Wire {
        Wire::connect(self.listen).await
    }

    /// What the admin port answers to a GET.
    pub(crate) async fn ask_admin(&self, path: &str) -> Message {
        let mut wire = Wire::connect(self.admin).await;
        wire.send(&format!("GET {path} HTTP/1.1\r\nHost: admin\r\n\r\n")).await;
        wire.message().await
    }

    /// Tells it to end; what is returned comes when it has ended.
    pub(crate) fn end(self) -> JoinHandle<()> {
        self.shutdown.send(()).expect("it still runs");
        self.join
    }
}
