//! The clients of a test: their Jobs and pods, and where they do not get on, what Events and the conductor's log say.

use std::time::Instant;

use k8s_openapi::api::core::v1::{Event, Pod};
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use kube::ResourceExt;
use kube::api::{Api, ListParams, LogParams};

use super::super::client_state::{Seen, client_state, pod_of};
use super::super::context::Context;
use super::super::error::{ControllerError, During};
use super::super::warning::{Told, Warnings, warnings};
use super::things::{Things, name_of};
use crate::contract::conductor_port;
use crate::plan::decide::{Client, ClientState};
use crate::plan::frozen::PreparedTest;
use crate::resources::BENCH;
use crate::resources::names::Owner;

/// The clients of the test that is going.
#[derive(Clone, Default)]
pub struct SeenClients {
    pub states: Vec<Client>,
    /// The pod of each client, where it has one.
    pub pods: Vec<Option<Pod>>,
}

/// Which test of which run.
pub(super) struct TestPlace<'a> {
    pub number: i64,
    pub index: usize,
    pub name: &'a str,
}

/// Clients whose Events are looked at in one look: the others' are the same, or follow.
const MOST_EVENTS: usize = 4;
/// The first line comes with the first bytes, whatever a library says before it.
const LOG_BYTES: i64 = 32 << 10;

pub(super) async fn see(
    context: &Context,
    owner: &Owner,
    things: &Things,
    at: &TestPlace<'_>,
    prepared: &PreparedTest,
    closely: bool,
    now: Timestamp,
) -> Result<SeenClients, ControllerError> {
    let mut seen = SeenClients::default();
    let mut asked = 0;
    for (client, node) in (0_u32..).zip(&prepared.nodes) {
        let place = (at.number, at.index, client);
        let (job, pods) = (things.job(place, false), things.pods(place, false));
        let look = |warnings| client_state(Seen { job, pods: pods.clone(), warnings, address: None, now });
        let mut state = look(Warnings::default());
        if closely && asked < MOST_EVENTS && matches!(state, ClientState::Starting { .. }) {
            asked += 1;
            let names = job.map(name_of).into_iter().chain(pods.iter().map(|pod| pod.name_any()));
            state = look(events(context, owner, names).await?);
        }
        let job_made = job.and_then(|job| job.metadata.creation_timestamp.as_ref()).map(|time| time.0);
        seen.states.push(Client { node: node.clone(), job_made, state });
        seen.pods.push(pod_of(&pods).cloned());
    }
    if closely {
        find_address(context, owner, at, &mut seen, now).await?;
    }
    Ok(seen)
}

/// Asks a conductor that runs where it listens, as long as a client is missing that has to know.
async fn find_address(
    context: &Context,
    owner: &Owner,
    at: &TestPlace<'_>,
    seen: &mut SeenClients,
    now: Timestamp,
) -> Result<(), ControllerError> {
    let missing = seen.states.iter().any(|client| client.state == ClientState::Absent);
    let (Some(conductor), Some(pod)) = (seen.states.first_mut(), seen.pods.first().and_then(Option::as_ref)) else {
        return Ok(());
    };
    let ClientState::Running { since, address } = &mut conductor.state else { return Ok(()) };
    if !missing {
        *address = Some("known to all clients".into());
        return Ok(());
    }
    let api: Api<Pod> = Api::namespaced(context.client.clone(), &owner.namespace);
    let log = LogParams { container: Some(BENCH.into()), limit_bytes: Some(LOG_BYTES), ..LogParams::default() };
    match api.logs(&pod.name_any(), &log).await {
        Ok(log) => *address = conductor_port(&log).and_then(|port| address_of(pod, port)),
        // The kubelet may not have it yet, or be away for a moment: asked again until patience ends, which begins with the first try.
        Err(error) => {
            let tried = context.tries.failing_for(&format!("address of {}", pod.name_any()), Instant::now());
            let first = now.checked_sub(SignedDuration::try_from(tried).unwrap_or(SignedDuration::ZERO));
            *since = first.map_or(*since, |first| first.max(*since));
            tracing::debug!(test = at.name, %error, "the conductor's log can't be read yet");
        }
    }
    Ok(())
}

/// An IPv6 address stands in brackets.
fn address_of(pod: &Pod, port: u16) -> Option<String> {
    let ip = pod.status.as_ref()?.pod_ip.as_deref()?;
    Some(if ip.contains(':') { format!("[{ip}]:{port}") } else { format!("{ip}:{port}") })
}

/// What Events say of a Job or of its pods.
async fn events(
    context: &Context,
    owner: &Owner,
    names: impl Iterator<Item = String>,
) -> Result<Warnings, ControllerError> {
    let api: Api<Event> = Api::namespaced(context.client.clone(), &owner.namespace);
    let mut told = Vec::new();
    for name in names {
        let of_object = ListParams::default().fields(&format!("involvedObject.name={name}"));
        let listed = api.list(&of_object).await.during(|| format!("list Events of {name}"))?;
        told.extend(listed.items.iter().map(Told::of));
    }
    Ok(warnings(&told))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::scripted::{answer, failure, owner, server};
    use super::*;

    #[tokio::test]
    async fn a_log_that_can_not_be_read_is_waited_for_from_the_first_try() {
        let (context, mut requests) = server();
        let now: Timestamp = "2026-11-30T21:10:00Z".parse().expect("a time");
        let began: Timestamp = "2026-11-30T21:00:00Z".parse().expect("a time");
        let state = ClientState::Running { since: began, address: None };
        let absent = Client { node: "n2".into(), job_made: None, state: ClientState::Absent };
        let pod: Pod = serde_json::from_value(json!({"metadata": {"name": "p"}})).expect("a pod");
        let mut seen = SeenClients {
            states: vec![Client { node: "n1".into(), job_made: Some(began), state }, absent],
            pods: vec![Some(pod), None],
        };
        let at = TestPlace { number: 1, index: 0, name: "t" };
        let owner = owner();
        let (found, _) = tokio::join!(
            find_address(&context, &owner, &at, &mut seen, now),
            answer(&mut requests, 500, failure(500, "the kubelet does not answer"))
        );
        found.expect("it is asked again");
        assert_eq!(seen.states[0].state, ClientState::Running { since: now, address: None });
    }

    #[test]
    fn an_ipv6_address_stands_in_brackets() {
        let pod = |ip| -> Pod { serde_json::from_value(json!({"status": {"podIP": ip}})).expect("a pod") };
        assert_eq!(address_of(&pod("10.1.2.3"), 4000).as_deref(), Some("10.1.2.3:4000"));
        assert_eq!(address_of(&pod("fd00::1"), 4000).as_deref(), Some("[fd00::1]:4000"));
        assert_eq!(address_of(&Pod::default(), 4000), None);
    }
}
