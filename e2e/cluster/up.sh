#!/usr/bin/env bash
# Brings up a real Kubernetes on this machine: etcd, API server, controller manager, scheduler, and three nodes
# with containerd, kubelet and kube-proxy. Starts only what does not run yet. When KUBECONFIG names another
# cluster it does nothing, unless CEPHBENCH_CLUSTER=local.
set -euo pipefail
HERE=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=lib.sh
. "$HERE/lib.sh"
# shellcheck source=pki.sh
. "$HERE/pki.sh"
# shellcheck source=cgroups.sh
. "$HERE/cgroups.sh"
# shellcheck source=network.sh
. "$HERE/network.sh"
# shellcheck source=control-plane.sh
. "$HERE/control-plane.sh"
# shellcheck source=dns.sh
. "$HERE/dns.sh"
# shellcheck source=node.sh
. "$HERE/node.sh"

prepare_state() {
  mkdir -p "$LOGS" "$STATE/run" "$STATE/nodes"
  touch "$STATE/cephbench-cluster"
  [[ -e $STATE/settings ]] || chosen_settings >"$STATE/settings"
}

# settings.sh reads them back, so that down.sh and the others meet this cluster and not one of other addresses.
chosen_settings() {
  local name
  for name in "${!CEPHBENCH_@}"; do
    case $name in *_NETWORK | *_PORT | *_BRIDGE | *_CACHE) printf '%s=%q\n' "$name" "${!name}" ;; esac
  done
}

get_programs() {
  local bin
  "$HERE/packages.sh"
  bin=$("$HERE/binaries.sh")
  ln -sfn "$bin" "$STATE/bin"
}

for_each_node() {
  local node
  for node in "${NODES[@]}"; do "$1" "$node"; done
}

bring_up_nodes() {
  make_bridge
  for_each_node start_node
  make_host_routes
  for_each_node start_containerd
  local node
  for node in "${NODES[@]}"; do wait_until 30 "$node's containerd" containerd_answers "$node"; done
}

# The sandbox image is the pause program and nothing else.
load_pause_image() {
  local root=$STATE/pause-root archive=$STATE/pause.tar
  mkdir -p "$root"
  cp "$STATE/bin/pause" "$root/pause"
  "$HERE/../../images/oci-image.sh" --name "$PAUSE_IMAGE" --rootfs "$root" --entrypoint '["/pause"]' --user 65535 --output "$archive"
  "$HERE/load-image.sh" "$archive"
}

nodes_are_ready() {
  [[ $(kubectl_admin get nodes -o 'jsonpath={.items[*].status.conditions[?(@.type=="Ready")].status}') == "True True True" ]]
}

# Pods need the namespace's service account, and what talks to the API from a pod its Service's rules.
cluster_is_usable() {
  nodes_are_ready && kubectl_admin get serviceaccount default && kubectl_admin get service kubernetes
}

bring_up_cluster() {
  log_step "Starting Kubernetes: control plane and ${#NODES[@]} nodes"
  make_pki
  make_bridge
  start_etcd
  start_apiserver
  bring_up_nodes
  load_pause_image
  wait_until 120 "the API server" api_is_ready
  start_controllers
  for_each_node register_node
  for_each_node start_kubelet
  for_each_node start_kube_proxy
  start_dns
  wait_until 120 "the nodes to be ready" cluster_is_usable
}

main() {
  if ! local_cluster_wanted; then
    echo "KUBECONFIG names $KUBECONFIG: that cluster is used, none is brought up here (CEPHBENCH_CLUSTER=local does)." >&2
    return
  fi
  "$HERE/can-run.sh" || exit 1
  prepare_state
  take_lock
  get_programs
  local begin=$SECONDS
  bring_up_cluster
  echo "Kubernetes runs, all nodes ready ($((SECONDS - begin)) s): export KUBECONFIG=$ADMIN_KUBECONFIG" >&2
}

main "$@"
