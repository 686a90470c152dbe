//! Leadership: of several operators one acts. A Lease with a short term, renewed while the operator lives and given up when it stops.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use kube::Client;
use kube::api::Api;
use tokio::time::Instant;

use super::error::{ControllerError, During, found};
use super::write::post;

pub const LEASE_NAME: &str = "cephbench-operator";
/// How long a leader that says nothing is still believed in.
const TERM_SECONDS: i32 = 15;
const PACE: Pace = Pace { renew: Duration::from_secs(5), retry: Duration::from_secs(2), lost: Duration::from_secs(10) };

/// When a leader does what.
#[derive(Clone, Copy)]
struct Pace {
    renew: Duration,
    /// After a try that failed.
    retry: Duration,
    /// From the last renewal: it stops, well before its term ends.
    lost: Duration,
}

pub struct Leadership {
    api: Api<Lease>,
    identity: String,
    pace: Pace,
}

impl Leadership {
    pub fn new(client: Client, namespace: &str, identity: &str) -> Self {
        Leadership { api: Api::namespaced(client, namespace), identity: identity.into(), pace: PACE }
    }

    /// Waits until this operator leads.
    pub async fn acquire(&self) {
        loop {
            match self.try_lead().await {
                Ok(true) => return,
                Ok(false) => {}
                Err(error) => tracing::warn!(%error, "leadership can't be asked for"),
            }
            tokio::time::sleep(self.pace.retry).await;
        }
    }

    /// Renews the term; returns when it is lost, before another one may begin. Whoever leads must then stop at once.
    pub async fn keep(&self) {
        let Pace { renew, retry, lost } = self.pace;
        let mut renewed = Instant::now();
        let mut pause = renew;
        while renewed.elapsed() + pause < lost {
            tokio::time::sleep(pause).await;
            // The time that is written lies before the answer: others count the term from there.
            let started = Instant::now();
            match tokio::time::timeout_at(renewed + lost, self.try_lead()).await {
                Ok(Ok(true)) => (renewed, pause) = (started, renew),
                Ok(Ok(false)) => return,
                Ok(Err(error)) => {
                    tracing::warn!(%error, "leadership can't be renewed");
                    pause = retry;
                }
                Err(_) => tracing::warn!("leadership can't be renewed: no answer"),
            }
        }
    }

    /// Gives the term up, so that the next one need not wait for its end.
    pub async fn release(&self) {
        let released = async {
            let Some(mut lease) = found(self.api.get(LEASE_NAME).await)? else { return Ok(()) };
            let Some(spec) = lease.spec.as_mut().filter(|spec| spec.holder_identity.as_deref() == Some(&self.identity))
            else {
                return Ok(());
            };
            spec.holder_identity = None;
            self.api.replace(LEASE_NAME, &post(), &lease).await.map(drop)
        };
        if let Err(error) = released.await {
            tracing::warn!(%error, "leadership can't be given up");
        }
    }

    async fn try_lead(&self) -> Result<bool, ControllerError> {
        let now = Timestamp::now();
        let seen = found(self.api.get(LEASE_NAME).await).during(|| format!("get Lease {LEASE_NAME}"))?;
        let Some(lease) = claim(seen.as_ref(), &self.identity, now) else { return Ok(false) };
        let written = match seen {
            None => self.api.create(&post(), &lease).await,
            Some(_) => self.api.replace(LEASE_NAME, &post(), &lease).await,
        };
        match written {
            Ok(_) => Ok(true),
            // Somebody was faster.
            Err(kube::Error::Api(status)) if status.is_conflict() || status.is_already_exists() => Ok(false),
            Err(error) => Err(error).during(|| format!("write Lease {LEASE_NAME}")),
        }
    }
}

/// The Lease to write to lead, or nothing while another one leads. It carries the resource version that was seen.
fn claim(seen: Option<&Lease>, identity: &str, now: Timestamp) -> Option<Lease> {
    let spec = seen.and_then(|lease| lease.spec.clone()).unwrap_or_default();
    let holder = spec.holder_identity.as_deref().unwrap_or_default();
    let ours = holder == identity;
    let term = SignedDuration::from_secs(spec.lease_duration_seconds.unwrap_or(TERM_SECONDS).into());
    let ended = spec.renew_time.as_ref().is_none_or(|renewed| renewed.0 + term < now);
    if !ours && !holder.is_empty() && !ended {
        return None;
    }
    let metadata = match seen {
        Some(lease) => lease.metadata.clone(),
        None => ObjectMeta { name: Some(LEASE_NAME.into()), ..ObjectMeta::default() },
    };
    let changed = i32::from(!ours);
    Some(Lease {
        metadata,
        spec: Some(LeaseSpec {
            holder_identity: Some(identity.into()),
            lease_duration_seconds: Some(TERM_SECONDS),
            acquire_time: if ours { spec.acquire_time } else { Some(MicroTime(now)) },
            renew_time: Some(MicroTime(now)),
            lease_transitions: Some(spec.lease_transitions.unwrap_or(0) + changed),
            ..LeaseSpec::default()
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::super::scripted::{answer, failure, server};
    use super::*;

    #[tokio::test]
    async fn whoever_gets_no_answer_stops_before_the_end_of_its_term() {
        let millis = Duration::from_millis;
        let pace = Pace { renew: millis(20), retry: millis(10), lost: millis(100) };
        for answered in [false, true] {
            let (context, mut requests) = server();
            let leadership = Leadership { pace, ..Leadership::new(context.client, "system", "a") };
            let failing = async {
                if answered {
                    loop {
                        answer(&mut requests, 500, failure(500, "no leader of etcd")).await;
                    }
                }
                std::future::pending::<()>().await;
            };
            let begun = Instant::now();
            tokio::select! {
                () = leadership.keep() => {}
                () = failing => {}
            }
            let kept = begun.elapsed();
            assert!(kept >= millis(50) && kept < millis(2_000), "{kept:?}, answered: {answered}");
        }
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).expect("in range")
    }

    #[test]
    fn a_free_lease_is_taken_and_a_held_one_is_left() {
        let first = claim(None, "a", at(0)).expect("nobody has it");
        assert_eq!(first.metadata.name.as_deref(), Some(LEASE_NAME));
        assert_eq!(claim(Some(&first), "b", at(10)), None);
        let renewed = claim(Some(&first), "a", at(10)).expect("its own");
        let (before, after) = (first.spec.expect("a spec"), renewed.spec.clone().expect("a spec"));
        assert_eq!(before.acquire_time, after.acquire_time);
        assert_eq!(after.lease_transitions, before.lease_transitions);
        assert_eq!(claim(Some(&renewed), "b", at(20)), None, "its term began anew");
    }

    #[test]
    fn a_term_that_ended_or_was_given_up_can_be_taken() {
        let first = claim(None, "a", at(0)).expect("nobody has it");
        let second = claim(Some(&first), "b", at(16)).expect("its term has ended").spec.expect("a spec");
        assert_eq!((second.holder_identity.as_deref(), second.lease_transitions), (Some("b"), Some(2)));
        let mut given_up = first;
        if let Some(spec) = &mut given_up.spec {
            spec.holder_identity = None;
        }
        assert!(claim(Some(&given_up), "b", at(1)).is_some());
    }
}
