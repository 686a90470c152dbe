//! Preflight: whether a plan can be carried out on what was found, and where exactly. Pure.
//!
//! A refusal names the field or the thing, its value, and what would be right. Some can be caused by another run that is going (space,
//! health): those are asked again when it is this run's turn.

mod cluster;
mod monitors;
mod nodes;
mod sizing;
mod space;
mod survey;
#[cfg(test)]
mod tests;

pub use monitors::{MonitorsError, mon_host};
pub use sizing::pg_num;
pub use survey::{ClusterFacts, ClusterNetwork, Monitors, NodeFacts, OsdFacts, PoolFacts, Survey};

use super::decide::Refusal;
use super::frozen::{Prepared, PreparedTest};
use super::policy::{Denied, OperatorConfig};
use super::{Plan, PlannedKind, PlannedPool, PlannedTest, estimate, most_points, points_for};
use crate::api::CephBenchmarkSpec;

/// Points that a network test may grow to once its pairs are known: more fit neither a task nor a report.
const MOST_POINTS: usize = 4096;

/// What a run needs to be known about its surroundings, or why it can't begin.
pub fn check(
    spec: &CephBenchmarkSpec,
    plan: &Plan,
    survey: &Survey,
    config: &OperatorConfig,
) -> Result<Prepared, Refusal> {
    let found = cluster::find(spec, survey)?;
    let fsid = cluster::fsid(found)?;
    let mut tests = Vec::with_capacity(plan.tests.len());
    for (index, test) in plan.tests.iter().enumerate() {
        let place = Place { index, name: &test.name };
        tests.push(Check { survey, cluster: found, config, test, tests: plan.tests.len(), place }.prepare()?);
    }
    cluster::healthy(found)?;
    for ((index, test), prepared) in plan.tests.iter().enumerate().zip(&tests) {
        let place = Place { index, name: &test.name };
        Check { survey, cluster: found, config, test, tests: plan.tests.len(), place }.space(prepared)?;
    }
    let needs_monitors = plan.tests.iter().any(|test| test.kind.needs().user);
    Ok(Prepared {
        plan: plan.clone(),
        cluster: cluster::fingerprint(found, survey, plan, fsid),
        cluster_name: found.name.clone(),
        fsid: fsid.into(),
        ceph_version: found.version.clone(),
        mon_host: if needs_monitors { cluster::monitors(survey)? } else { String::new() },
        bench_image: config.bench_image.clone(),
        bench_image_pull_policy: config.bench_image_pull_policy.clone(),
        tests,
    })
}

/// The Ceph cluster that a run would have to itself, as far as it is known.
pub fn fsid<'a>(spec: &CephBenchmarkSpec, survey: &'a Survey) -> Option<&'a str> {
    cluster::find(spec, survey).ok()?.fsid.as_deref()
}

/// A test, for messages.
struct Place<'a> {
    index: usize,
    name: &'a str,
}

impl Place<'_> {
    fn test(&self) -> String {
        format!("spec.tests[{}] ({})", self.index, self.name)
    }

    fn field(&self, field: &str) -> String {
        format!("spec.tests[{}].{field}", self.index)
    }

    /// A field of the clients: it may stand at the test or above it.
    fn clients(&self, field: &str) -> String {
        format!("spec.clients.{field} (for test {})", self.name)
    }
}

fn refuse(reason: &str, message: String) -> Refusal {
    Refusal { reason: reason.into(), message, passing: false }
}

fn refuse_for_now(reason: &str, message: String) -> Refusal {
    Refusal { reason: reason.into(), message, passing: true }
}

/// One test on what was found.
struct Check<'a> {
    survey: &'a Survey,
    cluster: &'a ClusterFacts,
    config: &'a OperatorConfig,
    test: &'a PlannedTest,
    /// Tests of the plan.
    tests: usize,
    place: Place<'a>,
}

impl Check<'_> {
    fn prepare(&self) -> Result<PreparedTest, Refusal> {
        let Check { survey, cluster, config: _, test, tests: _, place } = self;
        let host_mount = self.allowed()?;
        let clients = &test.clients;
        let tolerations = nodes::tolerations(survey, cluster, &clients.spec.tolerations);
        let chosen = nodes::choose(survey, cluster, clients, place)?;
        let estimate = estimate(test, chosen.len() as u32 * clients.per_node);
        let resources = sizing::resources(test, &estimate, place)?;
        for node in &chosen {
            nodes::usable(node, &tolerations, &place.clients("nodes"))?;
            space::memory(node, resources.memory, clients.per_node, place)?;
        }
        let nodes: Vec<String> =
            chosen.iter().flat_map(|node| (0..clients.per_node).map(|_| node.name.clone())).collect();
        self.points(&nodes)?;
        let times = sizing::times(test, &estimate);
        Ok(PreparedTest {
            nodes,
            host_mount,
            image: self.image()?,
            host_network: self.host_network()?,
            network_annotations: cluster::annotations(cluster, self.host_network()?),
            tolerations,
            resources: resources.requirements,
            priority_class: clients.spec.priority_class_name.clone(),
            pull_secrets: clients.spec.image_pull_secrets.clone(),
            seconds: times.planned,
            prepare_seconds: times.prepare,
            deadline_seconds: times.deadline,
            quota: sizing::quota(estimate.space),
        })
    }

    /// What the operator's owner allows: what of the node is mounted.
    fn allowed(&self) -> Result<Option<String>, Refusal> {
        let (field, value) = match &self.test.kind {
            PlannedKind::File { directory, size: _ } => ("disk.file.directory", directory.as_str()),
            PlannedKind::Device { path } => ("disk.device.path", path.as_str()),
            PlannedKind::Network | PlannedKind::Rados(_) => ("", ""),
        };
        let answer = self.config.policy.target(&self.test.kind);
        answer.map_err(|Denied(why)| refuse("NotAllowed", format!("{}: {value:?}: {why}", self.place.field(field))))
    }

    fn image(&self) -> Result<String, Refusal> {
        let own = self.cluster.image.as_deref();
        let field = self.place.clients("image");
        if let Some(image) = &self.test.clients.spec.image {
            let allowed = self.config.policy.image(image, own);
            return match allowed {
                Ok(()) => Ok(image.clone()),
                Err(Denied(why)) => Err(refuse("NotAllowed", format!("{field}: {image:?}: {why}"))),
            };
        }
        match (own, &self.test.kind) {
            (Some(own), _) => Ok(own.into()),
            // These need no Ceph library.
            (None, PlannedKind::File { .. } | PlannedKind::Device { .. } | PlannedKind::Network) => {
                Ok(self.config.bench_image.clone())
            }
            (None, PlannedKind::Rados(_)) => Err(refuse(
                "NoImage",
                format!(
                    "{field}: not set, and CephCluster {} names no image: set one that holds librados",
                    self.cluster.name
                ),
            )),
        }
    }

    fn host_network(&self) -> Result<bool, Refusal> {
        let clusters = self.cluster.network == ClusterNetwork::Host;
        match self.test.clients.spec.host_network {
            None => Ok(clusters),
            Some(true) if !clusters => {
                let field = self.place.clients("hostNetwork");
                let allowed = self.config.policy.host_network();
                allowed.map(|()| true).map_err(|Denied(why)| refuse("NotAllowed", format!("{field}: true: {why}")))
            }
            Some(wanted) => Ok(wanted),
        }
    }

    fn points(&self, nodes: &[String]) -> Result<(), Refusal> {
        let points = points_for(self.test, nodes).len();
        let field = self.place.clients("nodes");
        if points == 0 {
            return Err(refuse(
                "NoPairs",
                format!(
                    "{field}: {}: network needs two clients to send between, on two nodes at best",
                    nodes.join(", ")
                ),
            ));
        }
        if points > MOST_POINTS {
            return Err(refuse(
                "TooManyPoints",
                format!(
                    "{field}: {} nodes make {points} points with every pair of them, at most {MOST_POINTS} are possible: name fewer",
                    nodes.len()
                ),
            ));
        }
        let rounds = self.test.points.iter().map(|point| point.rounds).max().unwrap_or(1);
        let most = most_points(self.tests, rounds);
        if points > most {
            return Err(refuse(
                "TooManyPoints",
                format!(
                    "{}: {points} points with {rounds} rounds each, and of {} tests at most {most} of each can be kept: \
                     measure fewer points, or fewer tests in a benchmark",
                    self.place.test(),
                    self.tests
                ),
            ));
        }
        Ok(())
    }

    fn space(&self, prepared: &PreparedTest) -> Result<(), Refusal> {
        let Check { survey, cluster, config: _, test, tests: _, place } = self;
        let PlannedKind::Rados(pool) = &test.kind else { return Ok(()) };
        let bytes = estimate(test, prepared.nodes.len() as u32).space;
        match pool {
            PlannedPool::Create { size, pg_num: _ } => {
                cluster::enough_hosts(survey, *size, place)?;
                space::cluster(cluster, bytes, f64::from(*size), place)
            }
            PlannedPool::Existing { name } => {
                // A pool that Rook does not know may be there all the same: the bench finds out. Three copies are Ceph's default.
                let known = survey.pools.iter().find(|pool| pool.name == *name);
                if let Some(pool) = known {
                    space::quota(pool, bytes, place)?;
                }
                space::cluster(cluster, bytes, known.map_or(3.0, |pool| pool.copies), place)
            }
        }
    }
}
