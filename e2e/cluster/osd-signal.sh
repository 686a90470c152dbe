#!/usr/bin/env bash
# Sends a signal to the process of one of the local cluster's OSDs: STOP freezes it (its pod stays Running), CONT lets it
# go on, KILL makes Kubernetes start it again. To take an OSD away, scale its Deployment rook-ceph-osd-N to 0.
#   osd-signal.sh 1 STOP
set -euo pipefail
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[[ ${1:-} =~ ^[0-9]+$ && ${2:-} =~ ^(STOP|CONT|KILL|TERM)$ ]] || die "usage: osd-signal.sh ID STOP|CONT|KILL|TERM"
fsid=$(kubectl_admin get --namespace rook-ceph cephcluster rook-ceph --output 'jsonpath={.status.ceph.fsid}')
[[ $fsid ]] || die "the CephCluster has no fsid yet"

# The fsid in its arguments tells this cluster's OSD from any other on the machine.
pids=()
for folder in /proc/[0-9]*; do
  # A process may end meanwhile.
  [[ $({ tr '\0' ' ' <"$folder/cmdline"; } 2>/dev/null) == "ceph-osd --foreground --id=$1 --fsid=$fsid "* ]] || continue
  pids+=("${folder#/proc/}")
done
((${#pids[@]} == 1)) || die "osd.$1 has ${#pids[@]} processes on this machine, expected 1"
kill "-$2" "${pids[0]}"
