#!/usr/bin/env bash
# What to run before a commit; `make test` runs it first. Needs no cluster and no Ceph.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=packages.sh
. e2e/packages.sh

step() {
  printf '%(%H:%M:%S)T  check: %s\n' -1 "$*" >&2
}

check_generated() {
  local crd
  crd=$(cargo run --quiet --bin cephbench-operator -- crd)
  local copy
  for copy in crds charts/cephbench/files; do
    diff -u "$copy/cephbenchmarks.cephbench.io.yaml" - <<<"$crd" >&2 || {
      echo "$copy/cephbenchmarks.cephbench.io.yaml is not what the types say: run make generate" >&2
      return 1
    }
  done
}

check_scripts() {
  local scripts
  mapfile -t scripts < <(git ls-files | xargs -r grep -lE '^#!(/usr)?/bin/(env )?(ba)?sh|^# shellcheck shell=' --)
  shellcheck --external-sources "${scripts[@]}"
}

check_chart() {
  local helm
  helm=$(e2e/cluster/binaries.sh)/helm
  "$helm" lint --quiet --strict charts/cephbench
  local rendered
  rendered=$("$helm" template cephbench charts/cephbench --kube-version 1.34.0 --namespace cephbench-system)
  grep -q 'helm.sh/resource-policy: keep' <<<"$rendered" || { echo "the chart's CRD would be removed on uninstall" >&2; return 1; }
  local value
  for value in policy.devices=Write 'policy.hostPaths={//}' 'policy.hostPaths={/a/../etc}' namespaces=null log.level=loud; do
    if "$helm" template cephbench charts/cephbench --kube-version 1.34.0 --set "$value" >/dev/null 2>&1; then
      echo "the chart takes a value that its schema should refuse: $value" >&2
      return 1
    fi
  done
}

need_packages shellcheck iproute2
step "format"
cargo fmt --all --check
step "lints"
cargo clippy --workspace --all-targets --locked --quiet -- --deny warnings
step "the bench builds without Kubernetes"
cargo clippy --no-default-features --bin cephbench --locked --quiet -- --deny warnings
step "docs"
RUSTDOCFLAGS="--deny warnings" cargo doc --workspace --no-deps --document-private-items --locked --quiet
step "unit and black-box tests"
# Those against a real Ceph are e2e/ceph/test.sh's.
CEPHBENCH_TEST_CEPH_CONF=none cargo test --workspace --exclude e2e --locked
cargo test --package e2e --lib --bins --test rook_shapes --locked
step "generated files"
check_generated
step "scripts"
check_scripts
step "chart"
check_chart
step "all is well"
