use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use axum::serve::ListenerExt as _;
use tokio::net::TcpListener;

use super::{MockOptions, router};

/// Serves a mock upstream on a listener. Ends only with an error, or by being dropped.
///
/// # Errors
/// When the listener fails.
pub async fn serve(listener: TcpListener, options: MockOptions) -> io::Result<()> {
    let listener = listener.tap_io(|stream| {
        // Chunks of a stream are small and must not wait for each other. Where it cannot be set, they wait.
        stream.set_nodelay(true).ok();
    });
    axum::serve(listener, router(options)).await
}

/// Serves a mock upstream in the background, on a free port of this machine alone, and returns its address.
///
/// # Errors
/// When no port can be listened on.
pub async fn spawn(options: MockOptions) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    tokio::spawn(serve(listener, options));
    Ok(address)
}
