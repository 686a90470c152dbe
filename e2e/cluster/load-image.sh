#!/usr/bin/env bash
# Puts images from OCI archives (as images/oci-image.sh writes them) into every node's containerd, all nodes at once.
# A node that has the same image under that name already is left alone.
# Usage: load-image.sh ARCHIVE...
set -euo pipefail
HERE=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=lib.sh
. "$HERE/lib.sh"

node_ctr() {
  node_exec "$1" ctr --namespace k8s.io "${@:2}"
}

node_has_image() {
  node_ctr "$1" images list "name==$2" | grep -q -w "$3"
}

load_into_node() {
  local node=$1 archive=$2 name=$3 digest=$4
  if node_has_image "$node" "$name" "$digest"; then return; fi
  # Through standard input: the archive's folder may be one that the node has its own of.
  node_ctr "$node" images import --digests=false - <"$archive" >>"$LOGS/$node-images.log" 2>&1 ||
    die "$node could not import $archive; see $LOGS/$node-images.log"
  node_has_image "$node" "$name" "$digest" || die "$node imported $archive, but has no image $name of $digest"
}

load_archive() {
  local archive=$1 index name digest node pids=() pid failed=
  [[ -f $archive ]] || die "$archive: no such file"
  index=$(tar --extract --to-stdout --occurrence=1 --file "$archive" index.json) || die "$archive: not an OCI archive"
  name=$(jq -r '.manifests[0].annotations["io.containerd.image.name"] // empty' <<<"$index")
  digest=$(jq -r '.manifests[0].digest' <<<"$index")
  [[ $name ]] || die "$archive: its index.json names no image (annotation io.containerd.image.name)"
  log_step "Loading $name into ${#NODES[@]} nodes"
  for node in "${NODES[@]}"; do
    load_into_node "$node" "$archive" "$name" "$digest" &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do wait "$pid" || failed=yes; done
  [[ -z $failed ]] || exit 1
  log_done
}

main() {
  (($#)) || die "usage: load-image.sh ARCHIVE..."
  local archive
  for archive in "$@"; do load_archive "$archive"; done
}

main "$@"
