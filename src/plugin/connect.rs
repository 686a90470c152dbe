//! The way to the API server, as kubectl finds it.

use std::path::PathBuf;

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

/// What kubectl's own flags say.
#[derive(Clone, Debug, Default)]
pub struct Connection {
    pub kubeconfig: Option<PathBuf>,
    pub context: Option<String>,
    pub namespace: Option<String>,
}

/// Why there is no way to the API server.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error("read the kubeconfig")]
    Kubeconfig(#[from] kube::config::KubeconfigError),
    #[error("find the cluster")]
    Infer(#[from] kube::config::InferConfigError),
    #[error("make a client")]
    Client(#[from] kube::Error),
}

/// A client, and the namespace of the context. Without flags: KUBECONFIG, then ~/.kube/config, then the service account of a pod.
pub async fn connect(connection: &Connection) -> Result<(Client, String), ConnectError> {
    let options = KubeConfigOptions { context: connection.context.clone(), ..KubeConfigOptions::default() };
    let config = match &connection.kubeconfig {
        Some(path) => Config::from_custom_kubeconfig(Kubeconfig::read_from(path)?, &options).await?,
        None if connection.context.is_some() => Config::from_kubeconfig(&options).await?,
        None => Config::infer().await?,
    };
    let namespace = config.default_namespace.clone();
    Ok((Client::try_from(config)?, namespace))
}
