#!/usr/bin/env bash
# All tests. Where this machine can't carry the local cluster, all but the stories, and says so loudly; with CI=true
# that is a failure. KUBECONFIG may name a cluster to tell the stories against: then nothing is brought up.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=packages.sh
. e2e/packages.sh
# shellcheck source=cluster/lib.sh
. e2e/cluster/lib.sh

# How often the stories are told: what fails one time in many shows in `make soak`.
ROUNDS=${ROUNDS:-1}

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
  step "the bench against a real Ceph, without Kubernetes"
  e2e/ceph/test.sh
  step "the local cluster"
  make --no-print-directory cluster
  step "images and chart"
  e2e/install.sh
  cargo test --package e2e --test strict --locked
  local round
  for ((round = 1; round <= ROUNDS; round++)); do
    step "stories, round $round of $ROUNDS"
    # One at a time: each asserts what others would disturb.
    cargo test --package e2e --test stories --locked -- --test-threads=1
  done
}

main
