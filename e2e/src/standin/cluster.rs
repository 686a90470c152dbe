//! Brings up the Ceph of one CephCluster, step by step, each step safe to do again. Not a repair: a daemon whose
//! Deployment is there is left as it is.

use std::fs;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Node, Secret, Service};
use k8s_openapi::jiff::Timestamp;
use kube::api::{Api, ApiResource, DynamicObject};
use kube::{Client, ResourceExt};
use serde_json::{Value, json};

use super::build::osd::{Osd, osd_uuid};
use super::build::{Identity, config, mgr, mon, osd};
use super::condition::Dependents;
use super::{Error, apply, ceph, status};

const FINALIZER: &str = "cephcluster.ceph.rook.io";

/// Where Ceph's programs look by themselves.
const CEPH_CONF: &str = "/etc/ceph/ceph.conf";
const ADMIN_KEYRING: &str = "/etc/ceph/ceph.client.admin.keyring";

/// Keys and id of the cluster, made once and kept in Secret `rook-ceph-mon`.
struct Keys {
    fsid: String,
    admin: String,
    mon: String,
}

/// A device of `spec.storage.nodes`.
struct Place {
    node: String,
    device: String,
}

/// Everything that stands between a CephCluster and a Ceph that answers. Returns the version, as Rook writes it.
pub async fn bring_up(client: &Client, cluster: &DynamicObject) -> Result<String, Error> {
    let cluster = &apply::take_over(client, &super::rook_kind("CephCluster"), cluster, FINALIZER, json!({})).await?;
    let places = storage_places(cluster)?;
    let keys = read_or_make_keys(client, cluster).await?;
    let identity = identity(cluster, &keys.fsid, &ceph_version().await?)?;
    create::<Secret>(client, &config::build_mon_secret(&identity, &keys.admin, &keys.mon)).await?;

    let address = create_mon_service(client, &identity).await?;
    let mon_node = &places[places.len() / 2].node;
    let node_address = node_address(client, mon_node).await?;
    for secret in [
        config::build_config_secret(&identity, &address),
        config::build_keyring_secret(
            &identity,
            "rook-ceph-mons-keyring",
            &config::keyring(&keys.admin, Some(&keys.mon)),
        ),
        config::build_keyring_secret(&identity, "rook-ceph-admin-keyring", &config::keyring(&keys.admin, None)),
    ] {
        create::<Secret>(client, &secret).await?;
    }
    create::<ConfigMap>(client, &config::build_mon_endpoints(&identity, &address, mon_node, &node_address)).await?;
    create::<ConfigMap>(client, &config::build_config_override(&identity)).await?;
    create::<Deployment>(client, &mon::build_mon_deployment(&identity, mon_node, &address)).await?;

    write_file(CEPH_CONF, &format!("[global]\nmon host = {}\n", config::mon_host(&address)))?;
    write_file(ADMIN_KEYRING, &config::keyring(&keys.admin, None))?;
    tracing::info!(monitor = address, "waiting for the monitor");
    ceph::ceph(&["mon", "stat"]).await?;

    create_manager(client, &identity).await?;
    for place in places {
        create_osd(client, &identity, place).await?;
    }
    Ok(identity.ceph_version)
}

/// Lets a CephCluster that is being deleted go once nothing needs it; its daemons follow it, as they belong to it.
pub async fn let_go(client: &Client, cluster: &DynamicObject, now: Timestamp) -> Result<(), Error> {
    let namespace = cluster.namespace().unwrap_or_default();
    let mut dependents = Vec::new();
    for kind in ["CephBlockPool", "CephClient", "CephFilesystem"] {
        let found = apply::list(client, &super::rook_kind(kind), &namespace).await?;
        let names = found.iter().map(ResourceExt::name_any).collect();
        dependents.push(Dependents { kinds: format!("{kind}s"), names });
    }
    if dependents.iter().any(|dependents| !dependents.names.is_empty()) {
        let previous = cluster.data.get("status").cloned().unwrap_or_default();
        let object = format!("CephCluster \"{namespace}/{}\"", cluster.name_any());
        let status = status::build_deleting_status(&previous, &object, &dependents, now);
        return apply::replace_status(client, &super::rook_kind("CephCluster"), cluster, status).await;
    }
    for (kind, name) in [
        (ApiResource::erase::<Secret>(&()), "rook-ceph-mon"),
        (ApiResource::erase::<ConfigMap>(&()), "rook-ceph-mon-endpoints"),
    ] {
        let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), &namespace, &kind);
        let found = api
            .get_opt(name)
            .await
            .map_err(|source| Error::Kubernetes { act: format!("read {namespace}/{name}"), source })?;
        if let Some(found) = found {
            apply::let_go(client, &kind, &found, "ceph.rook.io/disaster-protection").await?;
        }
    }
    apply::let_go(client, &super::rook_kind("CephCluster"), cluster, FINALIZER).await
}

fn identity(cluster: &DynamicObject, fsid: &str, ceph_version: &str) -> Result<Identity, Error> {
    Ok(Identity {
        name: cluster.name_any(),
        namespace: cluster.namespace().unwrap_or_default(),
        uid: cluster.uid().unwrap_or_default(),
        fsid: fsid.to_owned(),
        image: text_field(cluster, "/spec/cephVersion/image", "spec.cephVersion.image")?,
        ceph_version: ceph_version.to_owned(),
        data_dir: text_field(cluster, "/spec/dataDirHostPath", "spec.dataDirHostPath")?,
        resources: cluster.data.pointer("/spec/resources").cloned().unwrap_or(Value::Null),
    })
}

fn text_field(cluster: &DynamicObject, pointer: &str, field: &'static str) -> Result<String, Error> {
    let found = cluster.data.pointer(pointer).unwrap_or(&Value::Null);
    found.as_str().map(str::to_owned).ok_or_else(|| Error::Field {
        object: cluster.name_any(),
        field,
        found: found.to_string(),
        expected: "a text",
    })
}

fn storage_places(cluster: &DynamicObject) -> Result<Vec<Place>, Error> {
    let nodes = cluster.data.pointer("/spec/storage/nodes").and_then(Value::as_array);
    let mut places = Vec::new();
    for node in nodes.into_iter().flatten() {
        for device in node["devices"].as_array().into_iter().flatten() {
            if let (Some(node), Some(device)) = (node["name"].as_str(), device["name"].as_str()) {
                places.push(Place { node: node.to_owned(), device: device.to_owned() });
            }
        }
    }
    if places.is_empty() {
        return Err(Error::Field {
            object: cluster.name_any(),
            field: "spec.storage.nodes",
            found: cluster.data["spec"]["storage"].to_string(),
            expected: "nodes with names and devices",
        });
    }
    Ok(places)
}

async fn read_or_make_keys(client: &Client, cluster: &DynamicObject) -> Result<Keys, Error> {
    let namespace = cluster.namespace().unwrap_or_default();
    let api: Api<Secret> = Api::namespaced(client.clone(), &namespace);
    let kept = api
        .get_opt("rook-ceph-mon")
        .await
        .map_err(|source| Error::Kubernetes { act: format!("read Secret {namespace}/rook-ceph-mon"), source })?;
    if let Some(data) = kept.and_then(|secret| secret.data) {
        let text = |key: &str| data.get(key).map(|bytes| String::from_utf8_lossy(&bytes.0).into_owned());
        if let (Some(fsid), Some(admin), Some(mon)) = (text("fsid"), text("ceph-secret"), text("mon-secret")) {
            return Ok(Keys { fsid, admin, mon });
        }
    }
    let random = "/proc/sys/kernel/random/uuid";
    let fsid = fs::read_to_string(random).map_err(|source| Error::File { path: random.to_owned(), source })?;
    Ok(Keys { fsid: fsid.trim().to_owned(), admin: ceph::generate_key().await?, mon: ceph::generate_key().await? })
}

/// `ceph version 18.2.7 (…)` → `18.2.7-0`. The stand-in runs in the CephCluster's own image.
async fn ceph_version() -> Result<String, Error> {
    let text = ceph::run("ceph", &["--version"]).await?;
    let number = text.split_whitespace().nth(2).unwrap_or_default();
    Ok(format!("{number}-0"))
}

async fn create_mon_service(client: &Client, identity: &Identity) -> Result<String, Error> {
    let service = create::<Service>(client, &mon::build_mon_service(identity)).await?;
    let address = service.data.pointer("/spec/clusterIP").and_then(Value::as_str);
    address.map(str::to_owned).ok_or_else(|| Error::Field {
        object: service.name_any(),
        field: "spec.clusterIP",
        found: "nothing".to_owned(),
        expected: "an address",
    })
}

async fn node_address(client: &Client, name: &str) -> Result<String, Error> {
    let node = Api::<Node>::all(client.clone())
        .get(name)
        .await
        .map_err(|source| Error::Kubernetes { act: format!("read Node {name}"), source })?;
    let addresses = node.status.and_then(|status| status.addresses).unwrap_or_default();
    let internal = addresses.into_iter().find(|address| address.type_ == "InternalIP");
    Ok(internal.map(|address| address.address).unwrap_or_default())
}

async fn create_manager(client: &Client, identity: &Identity) -> Result<(), Error> {
    let keyring =
        ceph::ceph(&["auth", "get-or-create", "mgr.a", "mon", "allow profile mgr", "osd", "allow *", "mds", "allow *"])
            .await?;
    let keyring = format!("{keyring}\n");
    create::<Secret>(client, &config::build_keyring_secret(identity, "rook-ceph-mgr-a-keyring", &keyring)).await?;
    create::<Service>(client, &mgr::build_mgr_service(identity)).await?;
    create::<Deployment>(client, &mgr::build_mgr_deployment(identity)).await?;
    Ok(())
}

async fn create_osd(client: &Client, identity: &Identity, place: Place) -> Result<(), Error> {
    let uuid = osd_uuid(&identity.fsid, &place.node, &place.device);
    let answer = ceph::ceph(&["osd", "create", &uuid]).await?;
    let id = answer.parse().map_err(|_| Error::Field {
        object: format!("OSD on {}:{}", place.node, place.device),
        field: "id",
        found: answer.clone(),
        expected: "a number",
    })?;
    let osd = Osd { id, uuid, node: place.node, device: place.device };
    create::<Deployment>(client, &osd::build_osd_deployment(identity, &osd)).await?;
    Ok(())
}

async fn create<K>(client: &Client, object: &Value) -> Result<DynamicObject, Error>
where
    K: kube::Resource<DynamicType = ()>,
{
    let namespace = object.pointer("/metadata/namespace").and_then(Value::as_str).unwrap_or_default();
    apply::create_if_missing(client, &ApiResource::erase::<K>(&()), namespace, object).await
}

fn write_file(path: &str, text: &str) -> Result<(), Error> {
    fs::write(path, text).map_err(|source| Error::File { path: path.to_owned(), source })
}
