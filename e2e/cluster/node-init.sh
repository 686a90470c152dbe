#!/usr/bin/env bash
# The first process of a node, in new mount, pid, uts, ipc and network namespaces: makes them look like a
# machine of its own, then only holds them open. Its death ends everything on the node.
# Usage: node-init.sh NODE
set -euo pipefail
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# Each node has its own /run, /tmp and /var, so that host paths of pods (/var/lib/rook, /var/tmp) and the
# default paths of kubelet and containerd do not meet. STATE and CACHE stay visible wherever they are.
own_folders() {
  local own kept=/run/cephbench-kept
  own=$(node_folder "$1")
  mkdir -p "$own/tmp" "$own/var/tmp" "$own/var/log" "$own/var/lib"
  chmod 1777 "$own/tmp" "$own/var/tmp"
  ln -sfn /run "$own/var/run"
  mount -t tmpfs -o mode=755 tmpfs /run
  mkdir -p "$kept/state" "$kept/cache" /run/lock
  mount --bind "$STATE" "$kept/state"
  mount --bind "$CACHE" "$kept/cache"
  mount --bind "$own/tmp" /tmp
  mount --bind "$own/var" /var
  mkdir -p "$STATE" "$CACHE"
  mount --bind "$kept/state" "$STATE"
  mount --bind "$kept/cache" "$CACHE"
}

main() {
  local node=$1
  # Mounts made on the host later appear here; those made here stay here.
  mount --make-rslave /
  mount -t proc proc /proc
  own_folders "$node"
  # Last, or the mounts above would be repeated in each other: pods may share what they mount.
  mount --make-rshared /
  hostname "$node"
  echo ready >"$(node_folder "$node")/ready"
  exec "$STATE/bin/pause"
}

main "$@"
