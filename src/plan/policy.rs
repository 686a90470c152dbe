//! What a benchmark may ask for. Whoever may create a benchmark acts through the operator, so the operator's owner sets the limits: in the
//! chart's values, which become the operator's policy file.

use serde::{Deserialize, Serialize};

use super::PlannedKind;

/// What the operator's owner decides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperatorConfig {
    /// Image that holds the bench. Its entrypoint is `cephbench`.
    pub bench_image: String,
    /// Always, IfNotPresent or Never; for the bench's image only. Absent: as Kubernetes decides by the tag.
    pub bench_image_pull_policy: Option<String>,
    pub policy: Policy,
}

/// The policy file. What is not named is not allowed.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Policy {
    /// Directories on nodes that disk files may be made in, each with all below it.
    #[serde(default)]
    pub host_paths: Vec<String>,
    #[serde(default)]
    pub devices: Devices,
    /// Client images beside the CephCluster's own; `*` stands for any text.
    #[serde(default)]
    pub client_images: Vec<String>,
    /// Whether clients may use the node's network where the CephCluster itself does not.
    #[serde(default)]
    pub host_network: bool,
}

/// Block devices of nodes.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub enum Devices {
    None,
    /// Reading only, in a privileged pod.
    #[default]
    Read,
}

/// Something that the policy does not allow: the value of the chart that would, and what is allowed now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied(pub String);

impl Policy {
    /// Whether a test's target is allowed, and what of the node is mounted for it.
    pub fn target(&self, kind: &PlannedKind) -> Result<Option<String>, Denied> {
        match kind {
            PlannedKind::File { directory, size: _ } => self.host_path(directory).map(Some),
            PlannedKind::Device { path: _ } => self.device().map(|()| Some("/dev".into())),
            PlannedKind::Network | PlannedKind::Rados(_) => Ok(None),
        }
    }

    /// The allowed directory that holds this one: the one to mount, so that links below it can't lead out of it.
    pub fn host_path(&self, directory: &str) -> Result<String, Denied> {
        let normal = normal_path(directory)
            .ok_or_else(|| Denied("must be an absolute path without '.', '..' or empty parts".into()))?;
        let holds = |allowed: &&String| {
            normal_path(allowed).is_some_and(|allowed| {
                allowed == "/"
                    || normal == allowed
                    || normal.strip_prefix(&allowed).is_some_and(|rest| rest.starts_with('/'))
            })
        };
        let longest = self.host_paths.iter().filter(holds).max_by_key(|allowed| allowed.len());
        longest.and_then(|allowed| normal_path(allowed)).ok_or_else(|| {
            let allowed = listed(&self.host_paths);
            Denied(format!(
                "not an allowed directory (allowed: {allowed}): the chart's value policy.hostPaths allows more"
            ))
        })
    }

    pub fn device(&self) -> Result<(), Denied> {
        match self.devices {
            Devices::Read => Ok(()),
            Devices::None => Err(Denied(
                "block devices are not allowed: the chart's value policy.devices: Read allows reading them".into(),
            )),
        }
    }

    /// `own`: the CephCluster's image.
    pub fn image(&self, image: &str, own: Option<&str>) -> Result<(), Denied> {
        if own == Some(image) || self.client_images.iter().any(|pattern| matches_pattern(pattern, image)) {
            return Ok(());
        }
        let allowed = listed(&self.client_images);
        Err(Denied(format!(
            "not an allowed image (allowed: the CephCluster's own, {allowed}): the chart's value policy.clientImages allows more"
        )))
    }

    pub fn host_network(&self) -> Result<(), Denied> {
        if self.host_network {
            return Ok(());
        }
        Err(Denied(
            "the node's network is not allowed where the CephCluster does not use it: the chart's value \
             policy.hostNetwork: true allows it"
                .into(),
        ))
    }
}

fn listed(values: &[String]) -> String {
    if values.is_empty() { "none".into() } else { values.join(", ") }
}

/// Without a slash at the end; nothing where the path is not absolute or has parts that change their meaning with what is mounted.
fn normal_path(path: &str) -> Option<String> {
    let rest = path.strip_prefix('/')?;
    if rest.is_empty() {
        return Some("/".into());
    }
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    let plain = rest.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
    plain.then(|| format!("/{rest}"))
}

fn matches_pattern(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy() -> Policy {
        Policy {
            host_paths: vec!["/var/tmp".into(), "/mnt/bench/".into(), "/mnt/bench/fast".into()],
            devices: Devices::Read,
            client_images: vec!["registry.example/ceph/*:v20*".into(), "one:1".into()],
            host_network: false,
        }
    }

    #[test]
    fn a_directory_is_allowed_with_all_below_it_and_nothing_beside_it() {
        let policy = policy();
        for (directory, mounted) in [
            ("/var/tmp", "/var/tmp"),
            ("/var/tmp/", "/var/tmp"),
            ("/var/tmp/a/b", "/var/tmp"),
            ("/mnt/bench/x", "/mnt/bench"),
            ("/mnt/bench/fast/x", "/mnt/bench/fast"),
        ] {
            assert_eq!(policy.host_path(directory), Ok(mounted.into()), "{directory}");
        }
        for directory in
            ["/var/tmpx", "/var", "/", "/etc", "/var/tmp/../../etc", "/var/tmp/./a", "/var//tmp", "var/tmp", ""]
        {
            assert!(policy.host_path(directory).is_err(), "{directory}");
        }
        let Denied(message) = policy.host_path("/etc").expect_err("not allowed");
        assert!(message.contains("policy.hostPaths") && message.contains("/var/tmp"), "{message}");
    }

    #[test]
    fn images_match_patterns_and_the_clusters_own_is_always_allowed() {
        let policy = policy();
        for image in ["registry.example/ceph/ceph:v20.2.4", "one:1"] {
            assert_eq!(policy.image(image, None), Ok(()), "{image}");
        }
        for image in ["registry.example/ceph/ceph:v19.2", "one:12", "registry.example.evil/ceph/x:v20", ""] {
            assert!(policy.image(image, Some("own:1")).is_err(), "{image}");
        }
        assert_eq!(policy.image("own:1", Some("own:1")), Ok(()));
    }

    #[test]
    fn patterns_need_their_parts_in_order_and_without_overlap() {
        for (pattern, text, fits) in [
            ("a*b*c", "a-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("ab*ba", "aba", false),
            ("*", "", true),
            ("a", "a", true),
            ("a", "ab", false),
            ("a*", "ab", true),
        ] {
            assert_eq!(matches_pattern(pattern, text), fits, "{pattern} {text}");
        }
    }

    #[test]
    fn the_defaults_allow_reading_devices_and_nothing_else() {
        let policy: Policy = serde_json::from_str("{}").expect("all has defaults");
        assert!(policy.device().is_ok());
        assert!(
            policy.host_path("/var/tmp").is_err() && policy.host_network().is_err() && policy.image("x", None).is_err()
        );
    }

    #[test]
    fn an_unknown_field_of_the_policy_is_an_error() {
        assert!(serde_json::from_str::<Policy>(r#"{"hostPath": ["/"]}"#).is_err());
    }
}
