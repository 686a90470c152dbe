#!/usr/bin/env bash
# Runs one of Ceph's programs as the local cluster's administrator, in the stand-in's pod. What it prints comes from
# Ceph alone, so stories count with it what somebody else reported.
#   ceph.sh ceph status            ceph.sh rados df --format json            ceph.sh rbd ls POOL
set -euo pipefail
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[[ ${1:-} =~ ^(ceph|rados|rbd)$ ]] || die "${1:-nothing}: want ceph, rados or rbd, and its arguments"
kubectl_admin exec --namespace rook-ceph deployment/rook-ceph-operator --quiet -- "$@"
