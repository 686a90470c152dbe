//! What a test's clients may use and how long they may take: memory, CPU, time, the quota of a pool.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ResourceRequirements;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

use super::{Place, refuse};
use crate::plan::decide::Refusal;
use crate::plan::{Estimate, PlannedKind, PlannedTest};
use crate::units;

const MIB: u64 = 1 << 20;

/// Memory of a bench beside its buffers: histograms and series, and for RADOS the library with its threads.
const BASE_MEMORY: u64 = 256 * MIB;
const LIBRARY_MEMORY: u64 = 256 * MIB;
/// Files that a client leaves in its pod: bench, report, log.
const EPHEMERAL_STORAGE: u64 = 512 * MIB;
const EPHEMERAL_STORAGE_REQUEST: u64 = 64 * MIB;
/// CPUs beside one per job: the conductor's and the library's threads. A limit on threads that can't all be busy slows nothing down; none at
/// all is refused where a quota wants one.
const SPARE_CPUS: u32 = 4;

/// Slowest filling that is waited for.
const FILL_BYTES_PER_SECOND: u64 = 20 * MIB;
/// Getting all pods up, their images included.
const START_SECONDS: u64 = 600;
/// Around each round: connections, buffers, removing objects.
const ROUND_SECONDS: u64 = 15;

pub(super) struct Resources {
    pub requirements: ResourceRequirements,
    /// Bytes of memory that a client may use.
    pub memory: u64,
}

/// What the spec says, filled up so that each resource has a request and a limit.
pub(super) fn resources(test: &PlannedTest, estimate: &Estimate, place: &Place) -> Result<Resources, Refusal> {
    let library = match test.kind {
        PlannedKind::Rados(_) => LIBRARY_MEMORY,
        PlannedKind::File { .. } | PlannedKind::Device { .. } | PlannedKind::Network => 0,
    };
    let needed = estimate.buffer_memory.saturating_add(BASE_MEMORY + library).next_multiple_of(MIB);
    let jobs = test.points.iter().map(|point| point.jobs.max(point.link.map_or(0, |link| link.streams))).max();
    let mebibytes = |bytes: u64| Quantity(format!("{}Mi", bytes / MIB));
    let cpus = Quantity((jobs.unwrap_or(1) + SPARE_CPUS).to_string());
    let mut requirements = test.clients.spec.resources.clone().unwrap_or_default();
    let requests = requirements.requests.get_or_insert_default();
    let limits = requirements.limits.get_or_insert_default();
    fill(requests, limits, "cpu", Quantity("500m".into()), cpus, place)?;
    fill(requests, limits, "memory", mebibytes(needed), mebibytes(needed), place)?;
    let (asked, most) = (mebibytes(EPHEMERAL_STORAGE_REQUEST), mebibytes(EPHEMERAL_STORAGE));
    fill(requests, limits, "ephemeral-storage", asked, most, place)?;
    let memory = limits.get("memory").map_or(Ok(needed), |limit| bytes(limit, "limits.memory", place))?;
    Ok(Resources { requirements, memory })
}

/// A request that is not given is the limit where that is lower than the default, and the other way round.
fn fill(
    requests: &mut BTreeMap<String, Quantity>,
    limits: &mut BTreeMap<String, Quantity>,
    name: &str,
    request: Quantity,
    limit: Quantity,
    place: &Place,
) -> Result<(), Refusal> {
    let value = |quantity: &Quantity| billionths(quantity, name, place);
    match (requests.get(name).cloned(), limits.get(name).cloned()) {
        (Some(_), Some(_)) => {}
        (Some(given), None) => {
            let limit = if value(&given)? > value(&limit)? { given } else { limit };
            limits.insert(name.into(), limit);
        }
        (None, Some(given)) => {
            let request = if value(&given)? < value(&request)? { given } else { request };
            requests.insert(name.into(), request);
        }
        (None, None) => {
            requests.insert(name.into(), request);
            limits.insert(name.into(), limit);
        }
    }
    Ok(())
}

fn billionths(quantity: &Quantity, name: &str, place: &Place) -> Result<u128, Refusal> {
    units::resource(&quantity.0).map_err(|error| bad(quantity, name, &error.to_string(), place))
}

fn bytes(quantity: &Quantity, name: &str, place: &Place) -> Result<u64, Refusal> {
    Ok(u64::try_from(billionths(quantity, name, place)? / 1_000_000_000).unwrap_or(u64::MAX))
}

fn bad(quantity: &Quantity, name: &str, why: &str, place: &Place) -> Refusal {
    refuse("InvalidResources", format!("{}: {:?}: {why}", place.clients(&format!("resources {name}")), quantity.0))
}

pub(super) struct Times {
    /// Ramps and measuring.
    pub planned: u64,
    pub prepare: u64,
    pub deadline: u64,
}

pub(super) fn times(test: &PlannedTest, estimate: &Estimate) -> Times {
    let fill = estimate.space / FILL_BYTES_PER_SECOND;
    let rounds: u64 = test.points.iter().map(|point| u64::from(point.rounds)).sum();
    let prepare = START_SECONDS + fill;
    let deadline = prepare + fill + estimate.seconds + rounds.max(estimate.points) * ROUND_SECONDS;
    Times { planned: estimate.seconds, prepare, deadline }
}

/// Ceph counts a pool's bytes late, and those of removed objects for a while: a quota that is no larger than the plan would stop it.
pub(super) fn quota(space: u64) -> u64 {
    space.saturating_mul(2).saturating_add(256 * MIB)
}

/// Half of Ceph's advice of a hundred placement groups per OSD over all copies, as a power of two that is not above it: the advice is for all
/// pools together, and beyond `mon_max_pg_per_osd` (250) Ceph refuses a pool.
pub fn pg_num(osds: usize, size: u32) -> u32 {
    let wanted = (osds.max(1) as u32).saturating_mul(50) / size.max(1);
    let power = wanted.checked_ilog2().map_or(1, |exponent| 1 << exponent);
    power.min(4096)
}
