# shellcheck shell=bash
# What the cluster's scripts share: progress lines, processes kept by pid, a way into a node, and
# the admin's kubectl. To be sourced; it starts nothing and changes nothing by itself.

# shellcheck source=settings.sh
. "$(dirname "${BASH_SOURCE[0]}")/settings.sh"

STEP_NAME=
STEP_START=0

# log_step TEXT: says on standard error what begins now.
log_step() {
  STEP_NAME=$1
  STEP_START=$(date +%s%3N)
  printf '%(%H:%M:%S)T  %s\n' -1 "$STEP_NAME" >&2
}

# log_done: says how long the last step took.
log_done() {
  local elapsed=$(($(date +%s%3N) - STEP_START))
  printf '%(%H:%M:%S)T  done in %d.%01d s: %s\n' -1 $((elapsed / 1000)) $((elapsed % 1000 / 100)) "$STEP_NAME" >&2
}

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# binaries_folder: where the programs of the versions named in go/ are, or will be.
binaries_folder() {
  local key
  key=$(cat "$CLUSTER_DIR"/go/*/go.mod "$CLUSTER_DIR"/go/*/*.go | sha256sum)
  echo "$CACHE/bin-${key:0:12}"
}

# local_cluster_wanted: false when KUBECONFIG already names another cluster.
local_cluster_wanted() {
  [[ ${CEPHBENCH_CLUSTER:-} == local || -z ${KUBECONFIG:-} || $KUBECONFIG == "$ADMIN_KUBECONFIG" ]]
}

# kubectl_admin ARGS…: kubectl as the local cluster's administrator, whatever KUBECONFIG says.
kubectl_admin() {
  "$STATE/bin/kubectl" --kubeconfig "$ADMIN_KUBECONFIG" --cache-dir "$STATE/kubectl-cache" "$@"
}

# load_image ARCHIVE…: makes images usable on every node.
load_image() {
  "$CLUSTER_DIR/load-image.sh" "$@"
}

# take_lock: one up.sh or down.sh at a time for a cluster; held, as file 9, until the script ends.
take_lock() {
  local file=/run/lock/cephbench-cluster${STATE//\//-}.lock
  mkdir -p /run/lock
  exec 9>"$file"
  flock -w 900 9 || die "another up.sh or down.sh holds $file"
}

# wait_until SECONDS WHAT COMMAND…: tries a command again and again; fails naming WHAT.
wait_until() {
  local deadline=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < deadline)) || die "gave up waiting for $what; the logs are in $LOGS"
    sleep 0.2
  done
}

# node_number NODE: 1 for node1.
node_number() {
  echo "${1#node}"
}

node_address() {
  echo "$NODE_NETWORK.$((10 + $(node_number "$1")))"
}

node_pod_cidr() {
  echo "$POD_NETWORK.$(node_number "$1").0/24"
}

# node_folder NODE: the host's side of what is that node's alone.
node_folder() {
  echo "$STATE/nodes/$1"
}

# --- Processes: STATE/run/NAME.pid holds "pid start-time", so that a pid used again is not taken for ours.

process_start_time() {
  local stat fields
  stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
  # The name, in brackets, may hold blanks; the start time is the 20th field after it.
  read -r -a fields <<<"${stat##*) }"
  # A zombie is gone, only not yet collected.
  [[ ${fields[0]} != Z ]] && echo "${fields[19]}"
}

process_runs() {
  process_pid "$1" >/dev/null
}

# process_pid NAME: prints the pid when that process is alive, else fails.
process_pid() {
  local pid started
  read -r pid started 2>/dev/null <"$STATE/run/$1.pid" || return 1
  [[ $(process_start_time "$pid") == "$started" ]] && echo "$pid"
}

record_process() {
  local started
  started=$(process_start_time "$2") || die "$1 ended at once; see $LOGS/$1.log"
  echo "$2 $started" >"$STATE/run/$1.pid"
}

# start_process NAME COMMAND…: in the background, its output in LOGS/NAME.log; nothing when it runs already.
start_process() {
  local name=$1
  shift
  if process_runs "$name"; then return; fi
  setsid "$@" </dev/null >>"$LOGS/$name.log" 2>&1 9>&- &
  record_process "$name" $!
}

# stop_process NAME [SECONDS]: SIGTERM, and SIGKILL when it takes longer than that.
stop_process() {
  local name=$1 tries=$((${2:-5} * 10)) pid
  if pid=$(process_pid "$name"); then
    kill -TERM "$pid" 2>/dev/null || true
    while ((tries-- > 0)) && process_runs "$name"; do sleep 0.1; done
    if process_runs "$name"; then kill -KILL "$pid" 2>/dev/null || true; fi
    for ((tries = 200; tries > 0; tries--)); do
      process_runs "$name" || break
      sleep 0.05
    done
    ((tries > 0)) || echo "left behind, does not end: $name, pid $pid" >&2
  fi
  rm -f "$STATE/run/$name.pid"
}

# --- Nodes: a node is the namespaces held by its first process.

# node_pid NODE: the host's pid of the node's first process.
node_pid() {
  process_pid "$1"
}

# node_exec NODE COMMAND…: runs a command as if on that node: its processes, mounts, network and name.
node_exec() {
  local pid
  pid=$(node_pid "$1") || die "$1 is not running"
  nsenter --target "$pid" --mount --uts --ipc --net --pid -- "${@:2}"
}

# start_in_node NODE NAME COMMAND…: like start_process, on the node; recorded as NODE-NAME.
start_in_node() {
  local node=$1 name=$1-$2 entering pid init
  shift 2
  if process_runs "$name"; then return; fi
  init=$(node_pid "$node") || die "$node is not running"
  setsid nsenter --target "$init" --mount --uts --ipc --net --pid -- "$@" </dev/null >>"$LOGS/$name.log" 2>&1 9>&- &
  entering=$!
  # nsenter has to fork to enter the pid namespace: the child is the process that counts.
  until pid=$(pgrep -P "$entering"); do
    kill -0 "$entering" 2>/dev/null || die "$name ended at once; see $LOGS/$name.log"
    sleep 0.02
  done
  record_process "$name" "$pid"
}
