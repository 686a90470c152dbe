#!/usr/bin/env bash
# Runs a command as if on a node of the local cluster: in its mounts, network, processes and host name.
#   on-node.sh node1 cat /sys/block/loop7/stat
set -euo pipefail
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

(($# >= 2)) || die "want a node and a command"
node_exec "$@"
