#!/usr/bin/env bash
# Says in plain words whether this machine can carry the local cluster: exit code 0, or 1 and what is missing, one
# line each. Tries what can be tried, and changes nothing that stays.
set -euo pipefail
HERE=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=lib.sh
. "$HERE/lib.sh"
# shellcheck source=cgroups.sh
. "$HERE/cgroups.sh"

NEEDED_DISK_GIB=15
NEEDED_MEMORY_GIB=6

MISSING=()

missing() {
  MISSING+=("$*")
}

existing_folder() {
  local folder=$1
  until [[ -d $folder ]]; do folder=$(dirname "$folder"); done
  echo "$folder"
}

check_namespaces() {
  unshare --mount --uts --ipc --net --pid --fork true 2>/dev/null ||
    missing "namespaces (mount, uts, ipc, network, pid): this system does not let root make them; in a container, run it privileged"
}

check_network() {
  command -v ip >/dev/null || return 0
  unshare --net sh -c 'ip link add name left type bridge && ip link add name right type veth peer name far' 2>/dev/null ||
    missing "a bridge and a veth pair: the kernel has no module for them, or root may not make them"
}

check_cgroups() {
  local hierarchy available='' name
  if [[ $(cgroup_version) == 2 ]]; then
    available=$(cat /sys/fs/cgroup/cgroup.controllers)
  else
    available=$(awk '$4 == 1 {print $1}' /proc/cgroups)
  fi
  for name in cpu cpuset memory pids; do
    grep -q -w "$name" <<<"$available" || missing "the cgroup controller $name (cgroup v$(cgroup_version))"
  done
  while read -r hierarchy; do
    if ! mkdir "$hierarchy/cephbench-can-run" 2>/dev/null; then
      missing "a writable $hierarchy: control groups can't be made there"
    else
      rmdir "$hierarchy/cephbench-can-run"
    fi
  done < <(cgroup_hierarchies)
}

check_overlay() {
  local folder
  folder=$(mktemp -d "$(existing_folder "$STATE")/cephbench-can-run-XXXXXX") || {
    missing "a writable $(existing_folder "$STATE")"
    return
  }
  mkdir "$folder/lower" "$folder/upper" "$folder/work" "$folder/merged"
  unshare --mount mount -t overlay overlay \
    -o "lowerdir=$folder/lower,upperdir=$folder/upper,workdir=$folder/work" "$folder/merged" 2>/dev/null ||
    missing "overlayfs on the file system of $STATE: containers' images need it (set CEPHBENCH_STATE to a folder on ext4 or xfs)"
  rm -rf "$folder"
}

check_loop_devices() {
  losetup --find >/dev/null 2>&1 ||
    missing "a free loop device (/dev/loop-control): the OSDs' disks are files behind loop devices"
}

check_space() {
  local free memory
  [[ ! -e $STATE/cephbench-cluster ]] || return 0
  free=$(($(df --output=avail -k "$(existing_folder "$STATE")" | tail -n 1) / 1024 / 1024))
  ((free >= NEEDED_DISK_GIB)) || missing "$NEEDED_DISK_GIB GiB free for $STATE: there are $free"
  memory=$(($(awk '/^MemAvailable/ {print $2}' /proc/meminfo) / 1024 / 1024))
  ((memory >= NEEDED_MEMORY_GIB)) || missing "$NEEDED_MEMORY_GIB GiB of memory available: there are $memory"
}

check_programs() {
  if ! command -v containerd >/dev/null || ! command -v etcd >/dev/null; then
    command -v apt-get >/dev/null || missing "apt-get, or containerd, runc, etcd, iptables and the CNI plugins installed by hand"
  fi
  if [[ ! -x $(binaries_folder)/kubelet ]]; then check_go; fi
}

# The newest `go` line of the modules says how old Go may be.
check_go() {
  local needed found
  needed=$(awk '$1 == "go" {print $2}' "$CLUSTER_DIR"/go/*/go.mod | sort -V | tail -n 1)
  if ! command -v go >/dev/null; then
    missing "Go $needed or newer: Kubernetes' programs are built from their Go modules"
    return
  fi
  found=$(cd / && go env GOVERSION)
  [[ $(printf '%s\n' "$needed" "${found#go}" | sort -V | head -n 1) == "$needed" || $(go env GOTOOLCHAIN) != local ]] ||
    missing "Go $needed or newer: this one is ${found#go}"
}

main() {
  if [[ $(id -u) != 0 ]]; then
    missing "root: namespaces, mounts and control groups need it"
  else
    check_namespaces
    check_network
    check_cgroups
    check_overlay
    check_loop_devices
  fi
  check_space
  check_programs
  ((${#MISSING[@]})) || return 0
  echo "This machine can't carry the local cluster. Missing:" >&2
  printf -- '- %s\n' "${MISSING[@]}" >&2
  return 1
}

main "$@"
