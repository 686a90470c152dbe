//! Leadership among operators: a Lease that one of them holds and renews. Who loses it stops acting at once.
//! The Lease of a Ceph cluster, which has no expiry, is not here.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use kube::Client;
use kube::api::{Api, ObjectMeta, PostParams};
use tracing::{info, warn};

/// Name of the Lease.
const NAME: &str = "cephbench-operator";
/// How long a leader that says nothing is still the leader.
const LASTS: Duration = Duration::from_secs(15);
/// How often the leader renews, and the others look.
const RENEWED: Duration = Duration::from_secs(3);

#[derive(Debug, thiserror::Error)]
pub enum LeaderError {
    #[error("read the Lease {NAME}")]
    Read(#[source] kube::Error),
    #[error("write the Lease {NAME}")]
    Write(#[source] kube::Error),
    #[error("the Lease {NAME} is held by {0}")]
    Lost(String),
    #[error("the Lease {NAME} could not be renewed in time")]
    NotRenewed,
}

/// This operator's part in the election.
pub struct Leadership {
    leases: Api<Lease>,
    identity: String,
}

impl Leadership {
    /// `identity` tells operators apart: the pod's name.
    pub fn new(client: Client, namespace: &str, identity: String) -> Self {
        Self { leases: Api::namespaced(client, namespace), identity }
    }

    /// Waits until this operator leads.
    pub async fn acquire(&self) {
        // What another holder wrote last, and when this operator first saw it: clocks of two machines are not compared.
        let mut seen: Option<(LeaseSpec, Timestamp)> = None;
        loop {
            match self.try_acquire(&mut seen).await {
                Ok(true) => {
                    info!(identity = self.identity, "leading");
                    return;
                }
                Ok(false) => {}
                Err(error) => warn!(%error, "cannot take the lead"),
            }
            tokio::time::sleep(RENEWED).await;
        }
    }

    /// Renews until the lead is lost, and says how.
    pub async fn hold(&self) -> LeaderError {
        let mut renewed = Timestamp::now();
        loop {
            tokio::time::sleep(RENEWED).await;
            match tokio::time::timeout(RENEWED, self.renew()).await {
                Ok(Ok(())) => renewed = Timestamp::now(),
                Ok(Err(LeaderError::Lost(holder))) => return LeaderError::Lost(holder),
                Ok(Err(error)) => warn!(%error, "cannot renew the lead"),
                Err(_) => warn!("renewing the lead takes too long"),
            }
            // Stops well before another may take over.
            if elapsed(renewed, Timestamp::now()) > LASTS - 2 * RENEWED {
                return LeaderError::NotRenewed;
            }
        }
    }

    /// Gives the lead up, so that the next operator need not wait.
    pub async fn release(&self) -> Result<(), LeaderError> {
        let Some(mut lease) = self.leases.get_opt(NAME).await.map_err(LeaderError::Read)? else { return Ok(()) };
        match &mut lease.spec {
            Some(spec) if spec.holder_identity.as_ref() == Some(&self.identity) => spec.holder_identity = None,
            Some(_) | None => return Ok(()),
        }
        self.leases.replace(NAME, &PostParams::default(), &lease).await.map_err(LeaderError::Write)?;
        Ok(())
    }

    async fn try_acquire(&self, seen: &mut Option<(LeaseSpec, Timestamp)>) -> Result<bool, LeaderError> {
        let now = Timestamp::now();
        let Some(mut lease) = self.leases.get_opt(NAME).await.map_err(LeaderError::Read)? else {
            let lease = Lease {
                metadata: ObjectMeta { name: Some(NAME.into()), ..ObjectMeta::default() },
                spec: Some(self.claim(None, now)),
            };
            return won(self.leases.create(&PostParams::default(), &lease).await);
        };
        let spec = lease.spec.clone().unwrap_or_default();
        if !is_free(&spec, &self.identity, seen, now) {
            return Ok(false);
        }
        lease.spec = Some(self.claim(Some(&spec), now));
        won(self.leases.replace(NAME, &PostParams::default(), &lease).await)
    }

    async fn renew(&self) -> Result<(), LeaderError> {
        let mut lease = self.leases.get(NAME).await.map_err(LeaderError::Read)?;
        let spec = lease.spec.get_or_insert_default();
        match &spec.holder_identity {
            Some(holder) if *holder == self.identity => {}
            holder => return Err(LeaderError::Lost(holder.clone().unwrap_or_else(|| "nobody".into()))),
        }
        spec.renew_time = Some(MicroTime(Timestamp::now()));
        self.leases.replace(NAME, &PostParams::default(), &lease).await.map_err(LeaderError::Write)?;
        Ok(())
    }

    fn claim(&self, before: Option<&LeaseSpec>, now: Timestamp) -> LeaseSpec {
        LeaseSpec {
            holder_identity: Some(self.identity.clone()),
            lease_duration_seconds: i32::try_from(LASTS.as_secs()).ok(),
            acquire_time: Some(MicroTime(now)),
            renew_time: Some(MicroTime(now)),
            lease_transitions: Some(before.and_then(|spec| spec.lease_transitions).map_or(0, |count| count + 1)),
            ..LeaseSpec::default()
        }
    }
}

/// Whether the Lease may be taken: nobody's, this operator's own from before a restart, or unchanged for as long as it lasts.
fn is_free(spec: &LeaseSpec, identity: &str, seen: &mut Option<(LeaseSpec, Timestamp)>, now: Timestamp) -> bool {
    match spec.holder_identity.as_deref() {
        None | Some("") => return true,
        Some(holder) if holder == identity => return true,
        Some(_) => {}
    }
    match seen {
        Some((before, since)) if before == spec => {
            let lasts = spec.lease_duration_seconds.and_then(|seconds| u64::try_from(seconds).ok());
            elapsed(*since, now) > lasts.map_or(LASTS, Duration::from_secs)
        }
        Some(_) | None => {
            *seen = Some((spec.clone(), now));
            false
        }
    }
}

/// A write that another operator's was faster than is no error: that one leads.
fn won(written: Result<Lease, kube::Error>) -> Result<bool, LeaderError> {
    match written {
        Ok(_) => Ok(true),
        Err(kube::Error::Api(status)) if status.is_conflict() || status.is_already_exists() => Ok(false),
        Err(error) => Err(LeaderError::Write(error)),
    }
}

fn elapsed(since: Timestamp, now: Timestamp) -> Duration {
    let elapsed: SignedDuration = now.duration_since(since);
    elapsed.try_into().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held_by(holder: &str) -> LeaseSpec {
        LeaseSpec {
            holder_identity: Some(holder.into()),
            lease_duration_seconds: Some(15),
            renew_time: Some(MicroTime("2026-11-30T12:00:00Z".parse().expect("a time"))),
            ..LeaseSpec::default()
        }
    }

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    #[test]
    fn nobody_holds_it() {
        assert!(is_free(&LeaseSpec::default(), "me", &mut None, at("2026-11-30T12:00:00Z")));
    }

    #[test]
    fn this_operator_holds_it_from_before_a_restart() {
        assert!(is_free(&held_by("me"), "me", &mut None, at("2026-11-30T12:00:00Z")));
    }

    #[test]
    fn another_is_waited_for_by_this_operators_own_clock() {
        let mut seen = None;
        let other = held_by("other");
        // The other's clock is hours behind: its renew time alone would look long expired.
        assert!(!is_free(&other, "me", &mut seen, at("2026-11-30T18:00:00Z")));
        assert!(!is_free(&other, "me", &mut seen, at("2026-11-30T18:00:14Z")));
        assert!(is_free(&other, "me", &mut seen, at("2026-11-30T18:00:16Z")));
    }

    #[test]
    fn another_that_renews_keeps_it() {
        let mut seen = None;
        let mut other = held_by("other");
        assert!(!is_free(&other, "me", &mut seen, at("2026-11-30T18:00:00Z")));
        other.renew_time = Some(MicroTime(at("2026-11-30T18:00:14Z")));
        assert!(!is_free(&other, "me", &mut seen, at("2026-11-30T18:00:16Z")));
        assert!(!is_free(&other, "me", &mut seen, at("2026-11-30T18:00:30Z")));
    }
}
