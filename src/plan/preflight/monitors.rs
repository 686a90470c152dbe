//! Monitor addresses: from the form in which Rook keeps them to the one that reaches them by either protocol.

/// Why no monitor can be reached.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum MonitorsError {
    #[error("the ConfigMap rook-ceph-mon-endpoints names no monitor")]
    None,
    #[error("every monitor is out of quorum: {0}")]
    NoneInQuorum(String),
    #[error("the ConfigMap rook-ceph-mon-endpoints holds {0:?}, where NAME=ADDRESS:PORT is expected")]
    Malformed(String),
}

/// What librados takes as `mon_host`. To a client a bare address with port 6789 means protocol v1 only, so each monitor is written as Rook
/// itself does: `[v2:ADDRESS:3300,v1:ADDRESS:6789]`.
pub fn mon_host(data: &str, out_of_quorum: &str) -> Result<String, MonitorsError> {
    let entries: Vec<&str> = data.split(',').map(str::trim).filter(|entry| !entry.is_empty()).collect();
    if entries.is_empty() {
        return Err(MonitorsError::None);
    }
    let skipped: Vec<&str> = out_of_quorum.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    let mut hosts = Vec::new();
    for entry in entries {
        let malformed = || MonitorsError::Malformed(entry.into());
        let (name, endpoint) = entry.split_once('=').ok_or_else(malformed)?;
        let (address, port) = endpoint.rsplit_once(':').ok_or_else(malformed)?;
        let port: u16 = port.parse().map_err(|_| malformed())?;
        if address.is_empty() || address.starts_with('[') != address.ends_with(']') {
            return Err(malformed());
        }
        if skipped.contains(&name) {
            continue;
        }
        hosts.push(match port {
            3300 => format!("[v2:{address}:3300]"),
            port => format!("[v2:{address}:3300,v1:{address}:{port}]"),
        });
    }
    if hosts.is_empty() {
        return Err(MonitorsError::NoneInQuorum(skipped.join(", ")));
    }
    Ok(hosts.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_monitor_is_reached_by_both_protocols() {
        let cases = [
            ("a=[fd00:10::a]:6789,b=[fd00:10::b]:6789", "b", "[v2:[fd00:10::a]:3300,v1:[fd00:10::a]:6789]"),
            (
                "node-4b-1=10.1.0.7:6789,c=10.1.0.9:6790",
                "",
                "[v2:10.1.0.7:3300,v1:10.1.0.7:6789],[v2:10.1.0.9:3300,v1:10.1.0.9:6790]",
            ),
            ("a=10.96.140.210:3300", "", "[v2:10.96.140.210:3300]"),
            (" a=10.0.0.1:6789 , b=10.0.0.2:6789", "c, a", "[v2:10.0.0.2:3300,v1:10.0.0.2:6789]"),
        ];
        for (data, out, wanted) in cases {
            assert_eq!(mon_host(data, out).as_deref(), Ok(wanted), "{data}");
        }
    }

    #[test]
    fn without_a_monitor_it_is_said_at_once() {
        assert_eq!(mon_host("", ""), Err(MonitorsError::None));
        assert_eq!(mon_host(" , ", ""), Err(MonitorsError::None));
        let all = mon_host("a=10.0.0.1:6789,b=10.0.0.2:6789", "a,b").expect_err("none is left");
        assert!(all.to_string().contains("out of quorum: a, b"), "{all}");
        for data in ["10.0.0.1:6789", "a=10.0.0.1", "a=:6789", "a=[fd00::1:6789", "a=10.0.0.1:port"] {
            assert!(matches!(mon_host(data, ""), Err(MonitorsError::Malformed(_))), "{data}");
        }
    }
}
