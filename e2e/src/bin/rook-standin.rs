//! The stand-in for Rook's operator as a program. What it does and does not do stands in `e2e::standin`.

use anyhow::Context;
use e2e::standin::serve;
use kube::Client;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt().with_ansi(false).init();
    let client = Client::try_default().await.context("no way to the API server")?;
    serve::serve_cluster(&client).await?;
    anyhow::bail!("the CephCluster is gone: Kubernetes starts the program again for the next one")
}
