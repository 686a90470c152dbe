# shellcheck shell=bash
# The wires: a bridge on the host, one veth to each node, and routes to each node's pods and to the
# Services. The host's packet filter stays as it is unless it would drop the bridge's frames. To be
# sourced after lib.sh.

make_bridge() {
  if ! ip link show "$BRIDGE" >/dev/null 2>&1; then ip link add "$BRIDGE" type bridge; fi
  ip address replace "$HOST_ADDRESS/24" dev "$BRIDGE"
  ip link set "$BRIDGE" up
  let_bridge_pass
}

# Where bridged frames go through iptables (a Docker engine turns that on, and drops what it does not know),
# node-to-node traffic needs a rule of its own.
bridge_is_filtered() {
  [[ $(cat /proc/sys/net/bridge/bridge-nf-call-iptables 2>/dev/null) == 1 ]] &&
    iptables -S FORWARD 2>/dev/null | grep -q -e '^-P FORWARD DROP'
}

bridge_rule() {
  iptables "$1" FORWARD -i "$BRIDGE" -o "$BRIDGE" -m comment --comment cephbench-cluster -j ACCEPT
}

let_bridge_pass() {
  bridge_is_filtered || return 0
  bridge_rule -C 2>/dev/null || bridge_rule -I
}

# The host reaches Services through the first node, whose kube-proxy translates them: the host needs none.
make_host_routes() {
  local node
  for node in "${NODES[@]}"; do
    ip route replace "$(node_pod_cidr "$node")" via "$(node_address "$node")"
  done
  ip route replace "$SERVICE_CIDR" via "$(node_address "${NODES[0]}")"
}

# connect_node NODE: gives it eth0 on the bridge and routes to the others' pods.
connect_node() {
  local node=$1 pid other port
  port=$BRIDGE-$(node_number "$node")
  pid=$(node_pid "$node")
  if ip link show "$port" >/dev/null 2>&1; then ip link delete "$port"; fi
  ip link add "$port" type veth peer name eth0 netns "$pid"
  ip link set "$port" master "$BRIDGE" up
  node_exec "$node" ip link set lo up
  node_exec "$node" ip address add "$(node_address "$node")/24" dev eth0
  node_exec "$node" ip link set eth0 up
  node_exec "$node" ip route add default via "$HOST_ADDRESS"
  for other in "${NODES[@]}"; do
    [[ $other == "$node" ]] || node_exec "$node" ip route add "$(node_pod_cidr "$other")" via "$(node_address "$other")"
  done
  node_exec "$node" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
}

# remove_network: the bridge takes its routes along; the nodes' ends went with their namespaces.
remove_network() {
  local node port
  for node in "${NODES[@]}"; do
    port=$BRIDGE-$(node_number "$node")
    if ip link show "$port" >/dev/null 2>&1; then ip link delete "$port"; fi
  done
  if ip link show "$BRIDGE" >/dev/null 2>&1; then ip link delete "$BRIDGE"; fi
  if command -v iptables >/dev/null && bridge_rule -C 2>/dev/null; then bridge_rule -D; fi
}
