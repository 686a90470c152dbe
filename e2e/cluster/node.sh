# shellcheck shell=bash
# One node: its namespaces, containerd, kubelet and kube-proxy. To be sourced after lib.sh, pki.sh,
# network.sh and cgroups.sh.

CONTAINERD_SOCKET=/run/containerd/containerd.sock

# start_node NODE: its namespaces and its wire; nothing when they are there. A start that was cut short is
# completed.
start_node() {
  local node=$1 own
  own=$(node_folder "$node")
  mkdir -p "$own"
  if ! node_pid "$node" >/dev/null; then start_node_namespaces "$node" "$own"; fi
  if [[ ! -e $own/connected ]]; then
    connect_node "$node"
    touch "$own/connected"
  fi
}

start_node_namespaces() {
  local node=$1 own=$2
  # Of a start that was cut short there may be a process that holds namespaces already.
  stop_node "$node"
  rm -f "$own/ready" "$own/connected"
  setsid unshare --mount --uts --ipc --net --pid --fork --kill-child \
    "$CLUSTER_DIR/node-init.sh" "$node" </dev/null >>"$LOGS/$node.log" 2>&1 9>&- &
  local keeper=$!
  record_process "$node-namespaces" "$keeper"
  wait_until 10 "$node's namespaces" test -e "$own/ready"
  record_process "$node" "$(pgrep -P "$keeper")"
}

# ptp, not bridge: each pod's packets are routed by the node, so that kube-proxy's rules see those between two
# pods of a node too. It enforces no NetworkPolicy.
write_network_plugin_config() {
  mkdir -p "$1/cni"
  cat >"$1/cni/10-pods.conflist" <<END
{
  "cniVersion": "1.0.0",
  "name": "pods",
  "plugins": [{
    "type": "ptp",
    "ipMasq": false,
    "ipam": {
      "type": "host-local",
      "subnet": "$2",
      "routes": [{"dst": "0.0.0.0/0"}],
      "dataDir": "/run/cni"
    }
  }]
}
END
}

# restrict_oom_score_adj: lowering the score needs CAP_SYS_RESOURCE, which not every root has.
write_containerd_config() {
  cat >"$1/containerd.toml" <<END
version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
disabled_plugins = ["io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs"]
[grpc]
  address = "$CONTAINERD_SOCKET"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "$PAUSE_IMAGE"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$1/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      BinaryName = "$(command -v runc)"
      SystemdCgroup = false
END
}

# log_rotation: kubelet's own defaults, unless NODE_LOG_MAX_SIZE asks for short logs that rotate soon.
log_rotation() {
  [[ -z ${NODE_LOG_MAX_SIZE:-} ]] || printf 'containerLogMaxSize: %s\ncontainerLogMonitorInterval: 3s\n' "$NODE_LOG_MAX_SIZE"
}

# Names outside the cluster are none of the pods' business: resolv.conf is empty, not this machine's.
# The nodes share one machine's disk and memory: evicting pods for what another node uses would be wrong.
write_kubelet_config() {
  local node=$1 own=$2
  : >"$own/resolv.conf"
  cat >"$own/kubelet.yaml" <<END
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: true}
  x509: {clientCAFile: $PKI/ca.crt}
authorization: {mode: Webhook}
tlsCertFile: $PKI/$node.crt
tlsPrivateKeyFile: $PKI/$node.key
containerRuntimeEndpoint: unix://$CONTAINERD_SOCKET
cgroupDriver: cgroupfs
resolvConf: $own/resolv.conf
cgroupRoot: /$CGROUP/$node
failSwapOn: false
clusterDomain: cluster.local
clusterDNS: [$DNS_SERVICE_ADDRESS]
oomScoreAdj: 0
serializeImagePulls: false
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
evictionHard: {memory.available: 0%, nodefs.available: 0%, nodefs.inodesFree: 0%, imagefs.available: 0%, imagefs.inodesFree: 0%}
$(log_rotation)
END
}

write_kube_proxy_config() {
  cat >"$2/kube-proxy.yaml" <<END
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
clientConnection: {kubeconfig: $PKI/kube-proxy.kubeconfig}
hostnameOverride: $1
clusterCIDR: $POD_CIDR
mode: iptables
nodePortAddresses: [primary]
oomScoreAdj: 0
conntrack: {maxPerCore: 0, min: 0}
END
}

# Localhost seccomp profiles for pods: those of the folder seccomp/, by file name.
copy_seccomp_profiles() {
  mkdir -p "$1/var/lib/kubelet/seccomp"
  cp "$CLUSTER_DIR"/seccomp/*.json "$1/var/lib/kubelet/seccomp/"
}

# Each of these leaves a running one and its configuration alone: kube-proxy ends when its file changes.
start_containerd() {
  local node=$1 own
  if process_runs "$node-containerd"; then return; fi
  own=$(node_folder "$node")
  write_network_plugin_config "$own" "$(node_pod_cidr "$node")"
  write_containerd_config "$own"
  start_in_node "$node" containerd containerd --config "$own/containerd.toml"
}

containerd_answers() {
  node_exec "$1" ctr --address "$CONTAINERD_SOCKET" version
}

# register_node NODE: made before its kubelet comes, which then only reports; so the pod network is fixed.
register_node() {
  kubectl_admin apply --server-side --field-manager cephbench-cluster -f - >>"$LOGS/kubectl.log" <<END
apiVersion: v1
kind: Node
metadata:
  name: $1
  labels: {kubernetes.io/hostname: $1}
spec:
  podCIDR: $(node_pod_cidr "$1")
  podCIDRs: [$(node_pod_cidr "$1")]
END
}

start_kubelet() {
  local node=$1 own
  if process_runs "$node-kubelet"; then return; fi
  own=$(node_folder "$node")
  make_node_cgroups "$node"
  copy_seccomp_profiles "$own"
  write_kubelet_config "$node" "$own"
  start_in_node "$node" kubelet "$STATE/bin/kubelet" --config "$own/kubelet.yaml" \
    --kubeconfig "$PKI/$node.kubeconfig" --hostname-override "$node" --node-ip "$(node_address "$node")"
}

start_kube_proxy() {
  local node=$1 own
  if process_runs "$node-kube-proxy"; then return; fi
  own=$(node_folder "$node")
  write_kube_proxy_config "$node" "$own"
  start_in_node "$node" kube-proxy "$STATE/bin/kube-proxy" --config "$own/kube-proxy.yaml"
}

# stop_node NODE: with its first process everything on it ends, mounts included.
stop_node() {
  local node=$1 pid
  if pid=$(process_pid "$node"); then kill -KILL "$pid" 2>/dev/null || true; fi
  stop_process "$node" 0
  stop_process "$node-namespaces" 1
  rm -f "$STATE/run/$node"-*.pid
}
