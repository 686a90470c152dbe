//! The objects that Rook makes for a CephCluster, as plain functions over plain data. No clock, no client.
//!
//! What the captured Deployments left out (commands, volumes, security contexts, environment from other objects) is
//! the stand-in's own; everything else is compared with them.

pub mod config;
pub mod mgr;
pub mod mon;
pub mod osd;

use serde_json::{Map, Value, json};

/// The version of Rook whose objects were captured.
const ROOK_VERSION: &str = "v1.20.0-dev";

/// Where an OSD, a manager or a monitor finds its own keyring.
const KEYRING: &str = "/etc/ceph/keyring-store/keyring";

/// What every object of a cluster needs to know about it.
#[derive(Debug, Clone)]
pub struct Identity {
    pub name: String,
    pub namespace: String,
    pub uid: String,
    pub fsid: String,
    pub image: String,
    /// As Rook writes it: `18.2.7-0`.
    pub ceph_version: String,
    /// Where daemons keep state on their node.
    pub data_dir: String,
    /// `spec.resources`: per daemon type, what its container asks for.
    pub resources: Value,
}

impl Identity {
    fn owner(&self) -> Value {
        json!([{
            "apiVersion": "ceph.rook.io/v1",
            "blockOwnerDeletion": true,
            "controller": true,
            "kind": "CephCluster",
            "name": self.name,
            "uid": self.uid,
        }])
    }

    /// Metadata of an object that carries no labels.
    fn plain_metadata(&self, name: &str) -> Value {
        json!({"name": name, "namespace": self.namespace, "ownerReferences": self.owner()})
    }

    /// The labels that Rook puts on the pods of every daemon, without those of one type.
    fn daemon_labels(&self, daemon: &str, id: &str) -> Map<String, Value> {
        labels([
            ("app", format!("rook-ceph-{daemon}")),
            ("app.kubernetes.io/component", "cephclusters.ceph.rook.io".into()),
            ("app.kubernetes.io/created-by", "rook-ceph-operator".into()),
            ("app.kubernetes.io/instance", id.into()),
            ("app.kubernetes.io/managed-by", "rook-ceph-operator".into()),
            ("app.kubernetes.io/name", format!("ceph-{daemon}")),
            ("app.kubernetes.io/part-of", self.name.clone()),
            ("ceph_daemon_id", id.into()),
            ("ceph_daemon_type", daemon.into()),
            ("rook.io/operator-namespace", self.namespace.clone()),
            ("rook_cluster", self.namespace.clone()),
        ])
    }

    /// A Deployment of one pod around `pod`, labelled as Rook labels Deployment and pod.
    fn deployment(&self, name: &str, pod_labels: &Map<String, Value>, selector: &[&str], pod: Value) -> Value {
        let mut own_labels = pod_labels.clone();
        own_labels.insert("ceph-version".into(), json!(self.ceph_version));
        own_labels.insert("rook-version".into(), json!(ROOK_VERSION));
        let selected: Map<String, Value> = pod_labels
            .iter()
            .filter(|(key, _)| selector.contains(&key.as_str()))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        let mut metadata = self.plain_metadata(name);
        metadata["labels"] = own_labels.into();
        json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": metadata,
            "spec": {
                "replicas": 1,
                // Two of the same daemon on one store would corrupt it.
                "strategy": {"type": "Recreate"},
                "selector": {"matchLabels": selected},
                "template": {"metadata": {"labels": pod_labels}, "spec": pod},
            },
        })
    }

    fn container(&self, daemon: &str, command: Vec<String>, own_env: Vec<Value>, mounts: &[(&str, &str)]) -> Value {
        // Kubernetes expands `$(NAME)` only from variables that stand earlier, and a name may stand only once.
        let mut env = daemon_env();
        env.retain(|variable| own_env.iter().all(|own| own["name"] != variable["name"]));
        env.extend(own_env);
        let mounts: Vec<Value> = mounts.iter().map(|(name, path)| json!({"name": name, "mountPath": path})).collect();
        let mut container = json!({
            "name": daemon,
            "image": self.image,
            "command": command,
            "env": env,
            "volumeMounts": mounts,
        });
        if let Some(resources) = self.resources.get(daemon) {
            container["resources"] = resources.clone();
        }
        container
    }

    fn image_env(&self) -> [Value; 2] {
        [env("CONTAINER_IMAGE", &self.image), env("CEPH_USE_RANDOM_NONCE", "true")]
    }

    /// The command line of a daemon in the foreground. Debian builds Ceph without tcmalloc, whose part of keeping the
    /// memory small the number of arenas has to play.
    fn daemon_command(&self, daemon: &str, id: &str, more: &[String]) -> Vec<String> {
        let mut command: Vec<String> = [
            "env",
            "MALLOC_ARENA_MAX=2",
            &format!("ceph-{daemon}"),
            "--foreground",
            &format!("--id={id}"),
            &format!("--fsid={}", self.fsid),
            "--default-log-to-file=false",
            "--default-log-to-stderr=true",
            "--default-mon-cluster-log-to-file=false",
        ]
        .map(str::to_owned)
        .into();
        command.extend_from_slice(more);
        command
    }
}

/// What a daemon learns from other objects and from its pod.
fn daemon_env() -> Vec<Value> {
    let config = |name: &str, key: &str| json!({"name": name, "valueFrom": {"secretKeyRef": {"name": "rook-ceph-config", "key": key}}});
    let field = |name: &str, path: &str| json!({"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}});
    vec![
        config("ROOK_CEPH_MON_HOST", "mon_host"),
        config("ROOK_CEPH_MON_INITIAL_MEMBERS", "mon_initial_members"),
        field("POD_NAME", "metadata.name"),
        field("POD_NAMESPACE", "metadata.namespace"),
        field("ROOK_POD_IP", "status.podIP"),
        // Ceph reports these two as a daemon's host and container.
        field("NODE_NAME", "spec.nodeName"),
    ]
}

fn env(name: &str, value: &str) -> Value {
    json!({"name": name, "value": value})
}

fn labels<const N: usize>(pairs: [(&str, String); N]) -> Map<String, Value> {
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value.into())).collect()
}

fn config_volume() -> Value {
    json!({
        "name": "rook-config-override",
        "configMap": {"name": "rook-config-override", "items": [{"key": "config", "path": "ceph.conf"}]},
    })
}

fn secret_volume(volume: &str, secret: &str) -> Value {
    json!({"name": volume, "secret": {"secretName": secret}})
}
