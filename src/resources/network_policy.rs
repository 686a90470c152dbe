//! The run's pods reach each other whatever else the namespace forbids, and nobody else reaches them.

use k8s_openapi::api::networking::v1::{
    NetworkPolicy, NetworkPolicyEgressRule, NetworkPolicyIngressRule, NetworkPolicyPeer, NetworkPolicySpec,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

use super::names::{BENCHMARK_UID, RUN, Role};
use super::run_context::RunContext;

/// For clients and sweepers alike. Out of the pods everything is open: they reach monitors and OSDs, whose addresses change.
pub fn build_network_policy(context: &RunContext) -> NetworkPolicy {
    let labels = [(BENCHMARK_UID, context.owner.uid.clone()), (RUN, context.frozen.number.to_string())];
    let pods = LabelSelector {
        match_labels: Some(labels.map(|(key, value)| (key.to_owned(), value)).into()),
        match_expressions: None,
    };
    let peer = NetworkPolicyPeer { pod_selector: Some(pods.clone()), ..NetworkPolicyPeer::default() };
    let spec = NetworkPolicySpec {
        pod_selector: Some(pods),
        policy_types: Some(vec!["Ingress".into(), "Egress".into()]),
        ingress: Some(vec![NetworkPolicyIngressRule { from: Some(vec![peer]), ports: None }]),
        egress: Some(vec![NetworkPolicyEgressRule::default()]),
    };
    let metadata = context.metadata(context.names().network_policy(), Role::Network);
    NetworkPolicy { metadata, spec: Some(spec) }
}
