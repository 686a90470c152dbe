//! What the kubelet asks: alive, and ready. An operator that waits for its turn to lead is ready: it would take over.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;
use tokio::net::TcpListener;

/// Whether the API server has answered.
pub type Ready = Arc<AtomicBool>;

pub async fn serve(address: SocketAddr, ready: Ready) -> std::io::Result<()> {
    let listener = match TcpListener::bind(address).await {
        // A machine without IPv6.
        Err(_) if address.ip() == IpAddr::V6(Ipv6Addr::UNSPECIFIED) => {
            TcpListener::bind((Ipv4Addr::UNSPECIFIED, address.port())).await?
        }
        bound => bound?,
    };
    let readyz = move || {
        let ready = ready.load(Ordering::Relaxed);
        async move { if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE } }
    };
    let router = Router::new().route("/healthz", get(|| async { StatusCode::OK })).route("/readyz", get(readyz));
    axum::serve(listener, router).await
}
