#!/usr/bin/env bash
# Brings up a real Ceph in the local Kubernetes: three OSDs on three nodes, each on a loop device over a sparse file, and
# in front of it the stand-in for Rook's operator (e2e/src/standin). Starts only what is not there yet, and ends when
# the CephCluster is Ready and Ceph itself says HEALTH_OK. `down.sh` ends all of it with the cluster.
set -euo pipefail
HERE=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=lib.sh
. "$HERE/lib.sh"

CEPH_STATE=$STATE/ceph
OSD_SIZE=${CEPHBENCH_OSD_SIZE:-6G}
REPOSITORY=$(cd "$HERE/../.." && pwd)

# The devices are held by files in the state folder alone, so that down.sh can tell whose they are.
osd_file() {
  echo "$CEPH_STATE/osd-$1.img"
}

loop_device_of() {
  losetup --noheadings --output NAME --associated "$1" | head -n 1
}

attach_device() {
  local file device
  file=$(osd_file "$1")
  [[ -e $file ]] || truncate --size "$OSD_SIZE" "$file"
  device=$(loop_device_of "$file")
  # A store that asks for direct I/O has to get it, or the host's cache is what gets measured.
  [[ $device ]] || losetup --direct-io=on --find "$file"
}

cluster_exists() {
  kubectl_admin get --namespace rook-ceph cephcluster rook-ceph
}

# OSDs of a CephCluster that is gone belong to nobody: the next one has other keys.
forget_old_stores() {
  local node file device
  if cluster_exists >/dev/null 2>&1; then return; fi
  for node in "${NODES[@]}"; do
    file=$(osd_file "$node")
    device=$(loop_device_of "$file" 2>/dev/null || true)
    if [[ $device ]]; then losetup --detach "$device"; fi
    rm -f "$file"
    node_exec "$node" rm -rf /var/lib/rook
  done
}

build_standin() {
  local built=$CEPH_STATE/bin/rook-standin
  if [[ ${CEPHBENCH_STANDIN:-} ]]; then
    install -D "$CEPHBENCH_STANDIN" "$built.new"
  else
    cargo build --quiet --manifest-path "$REPOSITORY/Cargo.toml" --package e2e --bin rook-standin >&2
    install -D "${CARGO_TARGET_DIR:-$REPOSITORY/target}/debug/rook-standin" "$built.new"
  fi
  # A running program can't be written over, but its file can be replaced.
  mv "$built.new" "$built"
}

apply_operator() {
  local digest
  digest=$(sha256sum "$CEPH_STATE/bin/rook-standin" | cut -c1-16)
  # The CRDs are too long for the annotation that a client-side apply leaves.
  kubectl_admin apply --server-side --force-conflicts --filename "$HERE/../rook/crds.yaml" >/dev/null
  sed -e "s|@IMAGE@|$IMAGE|; s|@DIGEST@|$digest|; s|@PROGRAM_FOLDER@|$CEPH_STATE/bin|" "$HERE/ceph/operator.yaml" |
    kubectl_admin apply --server-side --force-conflicts --filename - >/dev/null
  kubectl_admin wait --for=condition=Established --timeout=30s \
    crd/cephclusters.ceph.rook.io crd/cephclients.ceph.rook.io crd/cephblockpools.ceph.rook.io >/dev/null
}

apply_cluster() {
  local node script="s|@IMAGE@|$IMAGE|"
  if cluster_exists >/dev/null 2>&1; then return; fi
  for node in "${NODES[@]}"; do
    script+="; s|@DEVICE_$node@|$(loop_device_of "$(osd_file "$node")")|"
  done
  sed -e "$script" "$HERE/ceph/cephcluster.yaml" | kubectl_admin create --filename - >/dev/null
}

# The devices' numbers stand in the CephCluster: after the machine started again others would not do.
check_devices() {
  local node wanted found
  for node in "${NODES[@]}"; do
    wanted=$(kubectl_admin get --namespace rook-ceph cephcluster rook-ceph \
      --output "jsonpath={.spec.storage.nodes[?(@.name==\"$node\")].devices[0].name}")
    found=$(loop_device_of "$(osd_file "$node")")
    [[ $found == "$wanted" ]] ||
      die "the OSD of $node is on $found, its CephCluster says $wanted: run down.sh and start again"
  done
}

# Both in Ceph's own words and in the CephCluster's, with every OSD and its capacity counted.
ceph_is_healthy() {
  local wanted=${#NODES[@]}
  [[ $("$HERE/ceph.sh" ceph status --format json | jq -c '
    [.health.status, .osdmap.num_osds, .osdmap.num_up_osds, .osdmap.num_in_osds,
     .pgmap.num_pgs > 0 and ([.pgmap.pgs_by_state[].state_name] | all(. == "active+clean"))]') == \
    "[\"HEALTH_OK\",$wanted,$wanted,$wanted,true]" ]] &&
    [[ $(kubectl_admin get --namespace rook-ceph cephcluster rook-ceph --output json | jq -c '
      [.status.phase, .status.ceph.health, .status.storage.osd.storeType.bluestore, .status.ceph.capacity.bytesTotal > 0]') == \
      "[\"Ready\",\"HEALTH_OK\",$wanted,true]" ]]
}

main() {
  local archive
  mkdir -p "$CEPH_STATE/bin"
  exec 8>"$CEPH_STATE/lock"
  flock -w 900 8 || die "another ceph-up.sh holds $CEPH_STATE/lock"
  archive=$("$HERE/ceph-image.sh" 8>&-)
  IMAGE=$("$HERE/ceph-image.sh" --name)
  load_image "$archive"
  log_step "Building the stand-in for Rook"
  build_standin
  log_done
  log_step "Starting Ceph"
  forget_old_stores
  for node in "${NODES[@]}"; do attach_device "$node"; done
  apply_operator
  apply_cluster
  check_devices
  wait_until 300 "Ceph to be healthy" ceph_is_healthy
  log_done
}

main "$@"
