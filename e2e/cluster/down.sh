#!/usr/bin/env bash
# Ends the local cluster and removes all of it: processes, mounts, namespaces, loop devices, bridge, routes, control
# groups and the state folder; also what a half start or a crash left. The built programs stay in the cache.
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
# shellcheck source=node.sh
. "$HERE/node.sh"

stop_nodes() {
  local node
  for node in "${NODES[@]}"; do stop_node "$node" & done
  wait
}

# Whatever else was started with start_process: it has a pid file too.
stop_the_rest() {
  local file
  for file in "$STATE"/run/*.pid; do
    [[ -e $file ]] || continue
    stop_process "$(basename "$file" .pid)"
  done
}

# The backing file's name has " (deleted)" after it when that is so.
detach_loop_devices() {
  local device file
  while read -r device file; do
    if [[ $file == "$STATE"/* ]]; then losetup --detach "$device" || true; fi
  done < <(losetup --list --noheadings --output NAME,BACK-FILE)
}

unmount_below() {
  local target
  # The deepest first.
  while read -r target; do
    umount --lazy "$target" || true
  done < <(awk -v root="$1/" 'index($5, root) == 1 {print $5}' /proc/self/mountinfo | sort -r)
}

remove_state() {
  # A folder that up.sh did not make is not ours to remove, however STATE is set.
  [[ -e $STATE/cephbench-cluster ]] || die "$STATE is not a cluster's state folder: nothing in it is removed"
  rm -rf --one-file-system "$STATE"
}

main() {
  [[ $(id -u) == 0 ]] || die "only root can end the cluster"
  take_lock
  if [[ ! -d $STATE ]]; then
    echo "No cluster in $STATE." >&2
    return
  fi
  log_step "Ending the cluster in $STATE"
  mkdir -p "$STATE/run"
  stop_nodes
  stop_control_plane
  stop_the_rest
  remove_network
  detach_loop_devices
  unmount_below "$STATE"
  remove_cgroups
  remove_state
  log_done
}

main "$@"
