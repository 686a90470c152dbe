//! The address of a pod on a network that Multus attached it to, from the status that Multus writes beside the pod. Pure.

use std::net::IpAddr;

use serde::Deserialize;

#[derive(Deserialize)]
struct Attachment {
    #[serde(default)]
    name: String,
    #[serde(default)]
    ips: Vec<IpAddr>,
    /// The cluster's own network, which every pod is on.
    #[serde(default)]
    default: bool,
}

/// The first address on a network other than the cluster's own.
pub fn attached_address(status: &str) -> Result<IpAddr, String> {
    let attachments: Vec<Attachment> =
        serde_json::from_str(status).map_err(|error| format!("{status:?} is no network status of Multus: {error}"))?;
    let others = attachments.iter().filter(|attachment| !attachment.default);
    let address = others.clone().find_map(|attachment| attachment.ips.first().copied());
    address.ok_or_else(|| {
        let names: Vec<&str> = others.map(|attachment| attachment.name.as_str()).collect();
        format!("no address on a network that Multus attached (attached: [{}])", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_attached_network_counts_and_not_the_cluster_s_own() {
        let status = r#"[
            {"name": "cbr0", "interface": "eth0", "ips": ["10.244.1.7"], "default": true, "dns": {}},
            {"name": "rook-ceph/public", "interface": "net1", "ips": ["192.168.20.22", "fd00::22"], "mac": "02:00:00:00:00:01"}]"#;
        assert_eq!(attached_address(status), Ok("192.168.20.22".parse().expect("an address")));
    }

    #[test]
    fn without_one_there_is_nothing_to_measure() {
        let error = attached_address(
            r#"[{"name": "cbr0", "ips": ["10.244.1.7"], "default": true}, {"name": "rook-ceph/public"}]"#,
        );
        assert_eq!(error, Err("no address on a network that Multus attached (attached: [rook-ceph/public])".into()));
        assert!(attached_address("").is_err());
    }
}
