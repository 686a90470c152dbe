# shellcheck shell=bash disable=SC2034
# Where the local cluster lives and which addresses it takes. Every value can be set in the
# environment before `make cluster`; nothing here does anything.

CLUSTER_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# What is built once and kept, and what one cluster needs and `make cluster-down` removes.
CACHE=${CEPHBENCH_CACHE:-/var/cache/cephbench}
STATE=${CEPHBENCH_STATE:-/var/lib/cephbench-cluster}
LOGS=$STATE/log
# What a cluster was started with holds until it ends, also for who sets only STATE.
# shellcheck source=/dev/null
[[ ! -e $STATE/settings ]] || . "$STATE/settings"
ADMIN_KUBECONFIG=$STATE/kubeconfig

NODES=(node1 node2 node3)

# The first three parts of a /24 for the nodes, and the first two of a /16 from which each node
# takes a /24 for its pods.
NODE_NETWORK=${CEPHBENCH_NODE_NETWORK:-10.89.0}
POD_NETWORK=${CEPHBENCH_POD_NETWORK:-10.90}
SERVICE_NETWORK=${CEPHBENCH_SERVICE_NETWORK:-10.96.0}
SERVICE_CIDR=$SERVICE_NETWORK.0/16
POD_CIDR=$POD_NETWORK.0.0/16
HOST_ADDRESS=$NODE_NETWORK.1
API_SERVICE_ADDRESS=$SERVICE_NETWORK.1
DNS_SERVICE_ADDRESS=$SERVICE_NETWORK.10
API_PORT=${CEPHBENCH_API_PORT:-6443}
ETCD_PORT=${CEPHBENCH_ETCD_PORT:-12379}
ETCD_PEER_PORT=${CEPHBENCH_ETCD_PEER_PORT:-12380}
DNS_PORT=${CEPHBENCH_DNS_PORT:-10053}

# At most 13 characters: the nodes' ends are named BRIDGE-1 and so on, and a name holds 15.
BRIDGE=${CEPHBENCH_BRIDGE:-cephbench}
CGROUP=$BRIDGE

PAUSE_IMAGE=localhost/cephbench/pause:1
