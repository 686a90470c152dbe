#!/usr/bin/env bash
# Proves on the running local cluster what the stories rely on: Jobs, logs, pod-to-pod traffic across nodes, Services
# and DNS, volumes, privileged pods with devices, seccomp profiles, nodes apart from each other. Needs Debian's
# busybox-static for a shell inside pods, and removes what it made.
# Scripts in single quotes are for the pods' shells:
# shellcheck disable=SC2016
set -euo pipefail
HERE=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=lib.sh
. "$HERE/lib.sh"

NAMESPACE=cluster-self-test
IMAGE=localhost/cephbench/busybox:1

kubectl_here() {
  kubectl_admin --namespace "$NAMESPACE" "$@"
}

make_image() {
  local root=$STATE/self-test-root
  command -v busybox >/dev/null || die "busybox is missing (Debian package busybox-static)"
  mkdir -p "$root/bin" "$root/tmp" "$root/proc" "$root/dev"
  cp "$(command -v busybox)" "$root/bin/busybox"
  busybox --list | grep -v -x busybox | while read -r applet; do ln -sf busybox "$root/bin/$applet"; done
  "$HERE/../../images/oci-image.sh" --name "$IMAGE" --rootfs "$root" --cmd '["/bin/sh"]' --env PATH=/bin --output "$STATE/self-test.tar"
  rm -rf "$root"
  load_image "$STATE/self-test.tar"
}

make_namespace() {
  kubectl_admin create namespace "$NAMESPACE" >/dev/null
  wait_until 30 "the namespace's service account" kubectl_here get serviceaccount default
}

remove_namespace() {
  kubectl_admin delete namespace "$NAMESPACE" --ignore-not-found --timeout 60s >/dev/null
}

# pod NAME NODE SCRIPT [SPEC_LINE]...: further lines go into the pod's spec; those that begin with "container:" into its container's.
pod() {
  local name=$1 node=$2 script=$3 line
  {
    printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: %s, labels: {app: %s}}\nspec:\n' "$name" "$name"
    printf '  nodeSelector: {kubernetes.io/hostname: %s}\n  restartPolicy: Never\n  terminationGracePeriodSeconds: 0\n' "$node"
    for line in "${@:4}"; do [[ $line == container:* ]] || printf '  %s\n' "$line"; done
    printf '  containers:\n  - name: main\n    image: %s\n    command: [sh, -c, %s]\n' "$IMAGE" "$(jq -Rs . <<<"$script")"
    for line in "${@:4}"; do [[ $line != container:* ]] || printf '    %s\n' "${line#container:}"; done
  } | kubectl_here apply -f - >/dev/null
}

# output NAME: waits for the pod's end and prints what it wrote; fails when it failed.
output() {
  local phase
  kubectl_here wait pod "$1" --for=jsonpath='{.status.phase}'=Succeeded --timeout 60s >/dev/null 2>&1 || true
  phase=$(kubectl_here get pod "$1" -o 'jsonpath={.status.phase}')
  kubectl_here logs "$1"
  [[ $phase == Succeeded ]]
}

expect() {
  local what=$1 wanted=$2 found=$3
  [[ $found == *"$wanted"* ]] || die "$what: wanted '$wanted', found '$found'"
  printf 'ok  %s\n' "$what"
}

job_runs() {
  kubectl_here apply -f - >/dev/null <<END
apiVersion: batch/v1
kind: Job
metadata: {name: job}
spec:
  backoffLimit: 0
  podReplacementPolicy: Failed
  template:
    spec:
      restartPolicy: Never
      initContainers:
      - name: report
        image: $IMAGE
        restartPolicy: Always
        command: [sh, -c, "trap 'cat /shared/report; exit 0' TERM; while :; do sleep 0.1; done"]
        volumeMounts: [{name: shared, mountPath: /shared}]
      containers:
      - name: bench
        image: $IMAGE
        command: [sh, -c, "echo measured >/shared/report; echo progress"]
        volumeMounts: [{name: shared, mountPath: /shared}]
      volumes: [{name: shared, emptyDir: {}}]
END
  kubectl_here wait job/job --for=condition=Complete --timeout 60s >/dev/null || die "the Job did not complete"
  expect "a Job with podReplacementPolicy Failed completes, its log is readable" progress "$(kubectl_here logs job/job -c bench)"
  expect "its sidecar prints from the shared emptyDir when the main container ends" measured "$(kubectl_here logs job/job -c report)"
}

# A client's script: between two connections the listener is not there for a moment.
ask_script() {
  echo "for try in 1 2 3 4 5 6 7 8 9 10; do nc -w 2 $1 $2 </dev/null && exit 0; sleep 0.5; done; exit 1"
}

# What a listening pod answers tells which node it ran on.
start_listener() {
  pod listener node2 'while :; do echo "here is $NODE_NAME" | nc -l -p 8000; done' \
    'container:env: [{name: NODE_NAME, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}]'
  kubectl_here expose pod listener --port 80 --target-port 8000 >/dev/null
  kubectl_here wait pod listener --for=condition=Ready --timeout 60s >/dev/null
}

traffic_flows() {
  local address service wanted="here is node2"
  address=$(kubectl_here get pod listener -o 'jsonpath={.status.podIP}')
  service=$(kubectl_here get service listener -o 'jsonpath={.spec.clusterIP}')
  pod to-pod node1 "$(ask_script "$address" 8000)"
  expect "a pod reaches a pod on another node" "$wanted" "$(output to-pod)"
  pod to-service node3 "$(ask_script "$service" 80)"
  expect "a pod reaches a Service" "$wanted" "$(output to-service)"
  pod to-service-beside node2 "$(ask_script "$service" 80)"
  expect "a pod reaches a Service whose pod is on its own node" "$wanted" "$(output to-service-beside)"
  pod to-name node1 "$(ask_script listener 80)"
  expect "a pod reaches a Service by name" "$wanted" "$(output to-name)"
  expect "the host reaches a Service" "$wanted" "$(busybox sh -c "$(ask_script "$service" 80)")"
  expect "the host reaches a pod" "$wanted" "$(busybox sh -c "$(ask_script "$address" 8000)")"
}

api_is_reached() {
  pod to-api node3 'nc -w 2 kubernetes.default.svc 443 </dev/null && echo reached; test -s /var/run/secrets/kubernetes.io/serviceaccount/token && echo token'
  expect "a pod reaches the API server by its name" reached "$(output to-api)"
}

devices_work() {
  pod devices node1 'dd if=/dev/zero of=/tmp/disk bs=1M count=8 2>/dev/null && d=$(losetup -f) && losetup $d /tmp/disk && dd if=$d of=/dev/null bs=1M && losetup -d $d && echo looped' \
    'volumes: [{name: dev, hostPath: {path: /dev}}]' \
    'container:securityContext: {privileged: true}' 'container:volumeMounts: [{name: dev, mountPath: /dev}]'
  expect "a privileged pod uses a loop device" looped "$(output devices)"
}

seccomp_is_applied() {
  pod default-profile node2 'grep Seccomp: /proc/self/status' 'securityContext: {seccompProfile: {type: RuntimeDefault}}'
  expect "the runtime's default seccomp profile filters" $'Seccomp:\t2' "$(output default-profile)"
  pod local-profile node2 'grep Seccomp: /proc/self/status' \
    'securityContext: {seccompProfile: {type: Localhost, localhostProfile: no-io-uring.json}}'
  expect "a profile of seccomp/ filters" $'Seccomp:\t2' "$(output local-profile)"
}

nodes_are_apart() {
  local mount='container:volumeMounts: [{name: host, mountPath: /host}]'
  local volume='volumes: [{name: host, hostPath: {path: /var/lib/cluster-self-test, type: DirectoryOrCreate}}]'
  pod writer node1 'hostname; echo mine >/host/file' 'hostNetwork: true' "$volume" "$mount"
  expect "a pod in the host network has its node's name" node1 "$(output writer)"
  pod reader node2 'echo "files: $(ls /host)."' "$volume" "$mount"
  expect "a host path of one node is not another's" "files: ." "$(output reader)"
  rm -rf "$STATE"/nodes/*/var/lib/cluster-self-test
}

nodes_report_space() {
  local node free
  for node in "${NODES[@]}"; do
    free=$(kubectl_admin get --raw "/api/v1/nodes/$node/proxy/stats/summary" | jq '.node.fs.availableBytes, .node.runtime.imageFs.availableBytes')
    [[ $free =~ ^[0-9]+$'\n'[0-9]+$ ]] || die "$node reports no free space: $free"
  done
  echo "ok  every node reports the free space of its pods and images"
}

policies_are_accepted() {
  kubectl_here apply -f - >/dev/null <<END
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: nothing}
spec: {podSelector: {}, policyTypes: [Ingress]}
END
  kubectl_here delete networkpolicy nothing >/dev/null
  kubectl_admin label namespace "$NAMESPACE" pod-security.kubernetes.io/enforce=restricted >/dev/null 2>&1
  local refusal
  refusal=$(pod refused node1 true 2>&1) && die "PodSecurity let an unrestricted pod into a restricted namespace"
  expect "PodSecurity refuses a pod that is not restricted" 'violates PodSecurity "restricted' "$refusal"
}

# Last: it changes node3's kubelet and puts it back.
logs_rotate() {
  NODE_LOG_MAX_SIZE=16Ki "$HERE/kubelet-restart.sh" node3
  pod talker node3 'i=0; while [ $i -lt 2000 ]; do echo "line $i."; i=$((i + 1)); [ $((i % 1000)) != 0 ] || sleep 5; done; echo end'
  local log
  log=$(output talker)
  "$HERE/kubelet-restart.sh" node3
  expect "a long log's last line is there with NODE_LOG_MAX_SIZE=16Ki" end "$log"
  [[ $log != *"line 0."* ]] || die "with NODE_LOG_MAX_SIZE=16Ki a long log's first line is still there"
  echo "ok  its first line is not"
}

main() {
  remove_namespace
  make_image
  make_namespace
  trap remove_namespace EXIT
  job_runs
  start_listener
  traffic_flows
  api_is_reached
  devices_work
  seccomp_is_applied
  nodes_are_apart
  nodes_report_space
  logs_rotate
  policies_are_accepted
}

main "$@"
