//! What the kubelet asks the operator: is it alive, is it ready. Nothing else is served.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;
use tokio::net::TcpListener;

#[derive(Debug, thiserror::Error)]
pub enum HealthError {
    #[error("listen on {0}")]
    Listen(SocketAddr, #[source] std::io::Error),
    #[error("serve the probes")]
    Serve(#[source] std::io::Error),
}

/// Serves `/healthz`, and `/readyz`, which answers 503 until `ready` is set.
pub async fn serve(address: SocketAddr, ready: Arc<AtomicBool>) -> Result<(), HealthError> {
    let listener = TcpListener::bind(address).await.map_err(|error| HealthError::Listen(address, error))?;
    axum::serve(listener, router(ready)).await.map_err(HealthError::Serve)
}

fn router(ready: Arc<AtomicBool>) -> Router {
    Router::new().route("/healthz", get(async || "alive\n")).route(
        "/readyz",
        get(async move || {
            if ready.load(Ordering::Acquire) {
                (StatusCode::OK, "ready\n")
            } else {
                (StatusCode::SERVICE_UNAVAILABLE, "not yet connected to the API server\n")
            }
        }),
    )
}
