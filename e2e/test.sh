#!/usr/bin/env bash
# All tests. Where this machine can't carry the local cluster, all but the stories, and says so loudly; with CI=true
# that is a failure. KUBECONFIG may name a cluster to tell the stories against: then nothing is brought up.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=packages.sh
. e2e/packages.sh
# shellcheck source=cluster/lib.sh
. e2e/cluster/lib.sh

# The stories that are told each time, by parts of their names. `make soak` tells all of them: STORIES= in the environment.
read -r -a STORIES <<<"${STORIES-figures_}"

step() {
  printf '\n%(%H:%M:%S)T  test: %s\n' -1 "$*" >&2
}

skip_stories() {
  {
    printf '\n==================================================================\n'
    printf 'THE STORIES WERE NOT RUN: this machine cannot carry the cluster.\n%s\n' "$1"
    printf '==================================================================\n'
  } >&2
  [[ ${CI:-} != true ]] || exit 1
}

main() {
  step "what a contributor checks"
  e2e/check.sh
  local missing
  if local_cluster_wanted && ! missing=$(e2e/cluster/can-run.sh 2>&1); then
    skip_stories "$missing"
    return
  fi
  if ((${#STORIES[@]} == 0)); then
    step "the bench against a real Ceph, without Kubernetes"
    e2e/ceph/test.sh
  fi
  step "the local cluster"
  make --no-print-directory cluster
  step "images and chart"
  e2e/install.sh
  step "stories"
  cargo test --package e2e --test strict --locked
  # One at a time: each asserts what others would disturb.
  cargo test --package e2e --test stories --locked -- --test-threads=1 "${STORIES[@]}"
}

main
