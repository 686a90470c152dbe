#!/usr/bin/env bash
# Builds the images, puts them on the local cluster's nodes, and installs or upgrades the chart there. With KUBECONFIG
# naming another cluster it does nothing: install cephbench there as the README says.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=cluster/lib.sh
. e2e/cluster/lib.sh

NAMESPACE=cephbench-system
# Beside the Ceph cluster's, two for the stories: one without a CephCluster, one for those that they make up.
BENCHMARK_NAMESPACES=(rook-ceph cephbench-none cephbench-two)

# A tag of the content: the nodes take a changed image, and the Deployment rolls to it.
content_tag() {
  git ls-files -z src Cargo.toml Cargo.lock images rust-toolchain.toml | xargs -0 sha256sum | sha256sum | head -c 12
}

main() {
  if ! local_cluster_wanted; then
    echo "KUBECONFIG names another cluster: nothing is built or installed" >&2
    return
  fi
  local tag archives=$PWD/target/images
  tag=$(content_tag)
  if [[ $(cat "$archives/tag" 2>/dev/null) != "$tag" ]]; then
    TAG=$tag images/build.sh "$archives"
    echo "$tag" >"$archives/tag"
  fi
  log_step "Putting the images on the nodes"
  load_image "$archives/operator.tar" "$archives/bench.tar"
  log_done
  log_step "Installing the chart"
  local namespace
  for namespace in "${BENCHMARK_NAMESPACES[@]}"; do
    kubectl_admin create namespace "$namespace" --dry-run=client --output yaml | kubectl_admin apply --server-side --filename - >/dev/null
  done
  "$STATE/bin/helm" --kubeconfig "$ADMIN_KUBECONFIG" upgrade --install cephbench charts/cephbench \
    --namespace "$NAMESPACE" --create-namespace --set image.tag="$tag" --set bench.image.tag="$tag" \
    --set image.pullPolicy=Never --set bench.image.pullPolicy=Never --set policy.hostPaths="{/var/tmp,/tmp/cephbench}" \
    --set policy.clientImages="{localhost/cephbench/*}" --set namespaces="{$(IFS=,; echo "${BENCHMARK_NAMESPACES[*]}")}" \
    --wait --timeout 3m >/dev/null
  kubectl_admin label --overwrite namespace "$NAMESPACE" pod-security.kubernetes.io/enforce=restricted >/dev/null
  log_done
}

main
