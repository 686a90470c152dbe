#!/usr/bin/env bash
# Restarts one node's kubelet; its pods go on. With NODE_LOG_MAX_SIZE (at least "1Ki") containers' logs
# rotate at that size from then on; without it, kubelet's default is back.
# Usage: [NODE_LOG_MAX_SIZE=32Ki] kubelet-restart.sh NODE
set -euo pipefail
HERE=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=lib.sh
. "$HERE/lib.sh"
# shellcheck source=pki.sh
. "$HERE/pki.sh"
# shellcheck source=cgroups.sh
. "$HERE/cgroups.sh"
# shellcheck source=node.sh
. "$HERE/node.sh"

kubelet_is_healthy() {
  kubectl_admin get --raw "/api/v1/nodes/$1/proxy/healthz"
}

main() {
  local node=${1:?usage: kubelet-restart.sh NODE}
  node_pid "$node" >/dev/null || die "$node is not running"
  stop_process "$node-kubelet"
  start_kubelet "$node"
  wait_until 60 "$node's kubelet" kubelet_is_healthy "$node"
}

main "$@"
