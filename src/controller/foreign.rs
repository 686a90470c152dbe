//! Containers that somebody else put into our pods: webhooks of agents and meshes do so, and pod security or a quota then refuses the
//! pod. Whoever reads the message must not look for the container in cephbench.

use crate::resources::OURS;

/// The message, with a word on containers in it that are not ours.
pub fn with_foreign_containers(message: &str) -> String {
    let foreign: Vec<String> = named_containers(message)
        .into_iter()
        .filter(|name| !OURS.contains(&name.as_str()))
        .map(|name| format!("{name:?}"))
        .collect();
    match foreign.as_slice() {
        [] => message.to_owned(),
        [one] => format!("{message} (container {one} is not cephbench's: something in the cluster adds it to pods)"),
        many => format!(
            "{message} (containers {} are not cephbench's: something in the cluster adds them to pods)",
            many.join(", ")
        ),
    }
}

/// Names in quotes after the word container or containers, each once.
fn named_containers(message: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, word) in message.match_indices("container") {
        let mut rest = &message[at + word.len()..];
        rest = rest.strip_prefix('s').unwrap_or(rest);
        let mut separator = " ";
        while let Some((name, after)) = rest.strip_prefix(separator).and_then(quoted) {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
            rest = after;
            separator = ", ";
        }
    }
    names
}

fn quoted(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix('"')?.split_once('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_that_is_not_ours_is_called_so() {
        let refused = "pods \"x-abcde\" is forbidden: violates PodSecurity \"restricted:latest\": seccompProfile (pod or container \
                       \"install-oneagent\" must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\")";
        let told = with_foreign_containers(refused);
        assert!(told.starts_with(refused));
        assert!(told.ends_with(
            "(container \"install-oneagent\" is not cephbench's: something in the cluster adds it to pods)"
        ));
    }

    #[test]
    fn ours_and_messages_without_containers_stay_as_they_are() {
        for message in [
            "exceeded quota: q, requested: pods=1",
            "failed quota: q: must specify limits.memory for: report",
            "unrestricted capabilities (containers \"bench\", \"report\" must set securityContext.capabilities.drop)",
        ] {
            assert_eq!(with_foreign_containers(message), message);
        }
    }

    #[test]
    fn several_are_named_once() {
        let told =
            with_foreign_containers("(containers \"a\", \"bench\", \"b\" must set x), container \"a\" must set y");
        assert!(
            told.ends_with("(containers \"a\", \"b\" are not cephbench's: something in the cluster adds them to pods)"),
            "{told}"
        );
    }
}
