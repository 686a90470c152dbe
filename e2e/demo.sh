#!/usr/bin/env bash
# The demonstration: a local cluster, the chart, a benchmark of disk, network and RADOS, followed to its verdict.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=cluster/lib.sh
. e2e/cluster/lib.sh

run_here() {
  printf 'This machine cannot carry the local cluster:\n%s\n\nRunning the quickstart on this machine instead, without Kubernetes.\n\n' "$1" >&2
  exec cargo run --quiet --release --bin cephbench -- run -f manifests/samples/quickstart.yaml
}

main() {
  local missing
  missing=$(e2e/cluster/can-run.sh 2>&1) || run_here "$missing"
  make --no-print-directory cluster
  e2e/install.sh
  cargo build --quiet --release --locked --bin kubectl-cephbench
  export KUBECONFIG=$ADMIN_KUBECONFIG PATH=$STATE/bin:$PWD/target/release:$PATH
  local trigger verdict=0
  trigger=$(date +%s)
  kubectl cephbench run -f manifests/samples/rook-full.yaml --trigger "$trigger" --wait || verdict=$?
  echo
  kubectl get cb --all-namespaces
  exit "$verdict"
}

main
