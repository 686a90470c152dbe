#!/usr/bin/env bash
# Says what of the local cluster runs; exit code 0 when all of Kubernetes does. Changes nothing.
set -euo pipefail
HERE=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=lib.sh
. "$HERE/lib.sh"

processes() {
  printf '%s\n' etcd kube-apiserver kube-controller-manager kube-scheduler dns
  local node
  for node in "${NODES[@]}"; do
    printf '%s\n' "$node" "$node-containerd" "$node-kubelet" "$node-kube-proxy"
  done
}

main() {
  local name pid missing=0
  [[ -d $STATE ]] || die "no cluster in $STATE"
  while read -r name; do
    if pid=$(process_pid "$name"); then
      printf '%-26s pid %-8s %5d MiB\n' "$name" "$pid" $(($(awk '/^VmRSS/ {print $2}' "/proc/$pid/status") / 1024))
    else
      printf '%-26s does not run (%s)\n' "$name" "$LOGS/$name.log"
      missing=1
    fi
  done < <(processes)
  kubectl_admin get nodes -o wide || missing=1
  return $missing
}

main "$@"
