//! What the bench in a pod and whoever started the pod agree on beside task and report: the line that tells the conductor's port, names of
//! environment variables, exit codes and the termination message. Pure.

use serde::{Deserialize, Serialize};

/// Kubernetes' UID of the pod (downward API, `metadata.uid`). A second pod with the same client index and another UID is refused.
pub const POD_UID_ENV: &str = "POD_UID";
/// Address at which other pods reach this one (downward API, `status.podIP`). Only the conductor's own client needs it.
pub const POD_IP_ENV: &str = "POD_IP";
/// What Multus attached the pod to (downward API, its annotation): set where the CephCluster's network is Multus'. Peers then reach this
/// pod at its address there.
pub const NETWORK_STATUS_ENV: &str = "NETWORK_STATUS";
/// Where the termination message goes instead of `/dev/termination-log`.
pub const TERMINATION_FILE_ENV: &str = "TERMINATION_LOG";

/// The bench did not come to its end.
pub const EXIT_FAILED: u8 = 1;
/// The bench was stopped by SIGTERM or SIGINT: 128 + 15.
pub const EXIT_STOPPED: u8 = 143;
/// How long after a stop the bench goes on cleaning up, at most. A pod's grace period must be longer.
pub const CLEANUP_GRACE_SECONDS: u64 = 20;

const FIRST_LINE: &str = "cephbench conductor listening on port ";

/// The conductor's first line on standard output.
pub fn first_line(port: u16) -> String {
    format!("{FIRST_LINE}{port}")
}

/// The port that a conductor's log tells, once it does. Lines of others before it (a library's warning) do not matter; a line that is
/// still being written does not count.
pub fn conductor_port(log: &str) -> Option<u16> {
    log.split_inclusive('\n').find_map(|line| {
        let digits = line.strip_prefix(FIRST_LINE)?.strip_suffix('\n')?;
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        digits.parse::<u16>().ok().filter(|port| *port > 0)
    })
}

/// The termination message of a bench container, as JSON. Small: Kubernetes keeps 4096 bytes.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Termination {
    pub outcome: AgentOutcome,
    /// Why it failed. At most 2,000 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// sha256 of the packed report, in hexadecimal: the same as in the report log's header. Only the conductor has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum AgentOutcome {
    Complete,
    Failed,
}

impl Termination {
    const MAX_CAUSE: usize = 2000;

    pub fn new(cause: Option<String>, digest: Option<String>) -> Self {
        let outcome = if cause.is_some() { AgentOutcome::Failed } else { AgentOutcome::Complete };
        Termination { outcome, cause: cause.map(shortened), digest }
    }

    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("strings and an enum are always JSON")
    }
}

fn shortened(mut text: String) -> String {
    if text.len() > Termination::MAX_CAUSE {
        let mut end = Termination::MAX_CAUSE - '…'.len_utf8();
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_read_back_whatever_stands_around_it() {
        let line = first_line(43211);
        assert_eq!(line, "cephbench conductor listening on port 43211");
        assert_eq!(conductor_port(&format!("warning: old kernel\n{line}\nnext\n")), Some(43211));
    }

    #[test]
    fn a_line_that_is_not_whole_or_not_a_port_tells_nothing() {
        for log in ["", "cephbench conductor listening on port 432", "cephbench conductor listening on port \n"] {
            assert_eq!(conductor_port(log), None, "{log:?}");
        }
        for port in ["0", "65536", "+80", "80 "] {
            assert_eq!(conductor_port(&format!("{FIRST_LINE}{port}\n")), None, "{port:?}");
        }
    }

    #[test]
    fn a_long_cause_is_shortened_on_a_character() {
        let message = Termination::new(Some("é".repeat(3000)), None);
        let cause = message.cause.as_deref().expect("a cause was given");
        assert!(cause.len() <= Termination::MAX_CAUSE && cause.ends_with("é…"));
        assert_eq!(message.outcome, AgentOutcome::Failed);
        assert!(message.to_json().len() < 4096);
    }
}
