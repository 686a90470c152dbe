#!/usr/bin/env bash
# Proves on the running local cluster what stories rely on of Ceph and the stand-in: pools and clients are made and
# unmade as Rook does it, a key reaches its own pool alone, from a pod under the restricted profile, a frozen OSD is
# marked down and comes back. Removes what it made.
# Scripts in single quotes are for the pod's shell:
# shellcheck disable=SC2016
set -euo pipefail
HERE=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=lib.sh
. "$HERE/lib.sh"

IMAGE=$("$HERE/ceph-image.sh" --name)

rook() {
  kubectl_admin --namespace rook-ceph "$@"
}

ceph_sh() {
  "$HERE/ceph.sh" "$@"
}

expect() {
  local what=$1 wanted=$2 found=$3
  [[ $found == *"$wanted"* ]] || die "$what: wanted '$wanted', found '$found'"
  printf 'ok  %s\n' "$what"
}

apply_pool() {
  rook apply --server-side --filename - >/dev/null <<END
apiVersion: ceph.rook.io/v1
kind: CephBlockPool
metadata: {name: $1, namespace: rook-ceph}
spec:
  failureDomain: host
  replicated: {size: 3}
  parameters: {pg_num: "8", pg_autoscale_mode: "off"}
  quotas: {maxSize: 1Gi}
END
}

apply_client() {
  rook apply --server-side --filename - >/dev/null <<END
apiVersion: ceph.rook.io/v1
kind: CephClient
metadata: {name: $1, namespace: rook-ceph}
spec:
  caps: {mon: allow r, osd: "$2"}
END
}

wait_phase() {
  rook wait "$1" --for="jsonpath={.status.phase}=$2" --timeout 60s >/dev/null || die "$1 is not $2"
}

is_gone() {
  rook wait "$1" --for=delete --timeout 60s >/dev/null || die "$1 is still there"
}

remove_all() {
  rook delete pod self-test --ignore-not-found --wait=false >/dev/null 2>&1 || true
  ceph_sh rbd rm self-test-a/image >/dev/null 2>&1 || true
  rook delete cephblockpoolradosnamespace self-test --ignore-not-found --timeout 60s >/dev/null || true
  rook delete cephclient self-test self-test-bad --ignore-not-found --timeout 60s >/dev/null || true
  rook delete cephblockpool self-test-a self-test-b --ignore-not-found --timeout 60s >/dev/null || true
}

pools_are_made() {
  local pool
  apply_pool self-test-a
  apply_pool self-test-b
  wait_phase cephblockpool/self-test-a Ready
  wait_phase cephblockpool/self-test-b Ready
  pool=$(ceph_sh ceph osd pool ls detail --format json | jq -c '.[] | select(.pool_name == "self-test-a")
    | [.size, .pg_num, .quota_max_bytes, (.application_metadata | keys)]')
  expect "a CephBlockPool becomes a pool as asked for" '[3,8,1073741824,["rbd"]]' "$pool"
}

clients_get_keys() {
  apply_client self-test "allow rw pool=self-test-a"
  apply_client self-test-bad "allow nonsense"
  wait_phase cephclient/self-test Ready
  wait_phase cephclient/self-test-bad Failure
  expect "a CephClient names its Secret" rook-ceph-client-self-test \
    "$(rook get cephclient self-test --output 'jsonpath={.status.info.secretName}')"
  expect "a capability that Ceph refuses is a Failure" Failure \
    "$(rook get cephclient self-test-bad --output 'jsonpath={.status.phase}')"
}

# The pod is what a bench pod may be, and knows only what a bench pod may know.
keys_reach_one_pool() {
  local output script
  script='
    cd /tmp
    printf "[client.%s]\n\tkey = %s\n" "$ID" "$KEY" >keyring
    address=${MON#a=}; address=${address%:6789}
    for pool in self-test-a self-test-b; do
      timeout 60 rados --mon-host "[v2:$address:3300,v1:$address:6789]" --id "$ID" --keyring keyring --no-log-to-stderr \
        --log-file /dev/null --pool "$pool" bench 2 write --block-size 4096 -t 4 2>&1 | sed "s/^/$pool: /"
    done'
  rook apply --filename - >/dev/null <<END
apiVersion: v1
kind: Pod
metadata: {name: self-test, namespace: rook-ceph}
spec:
  restartPolicy: Never
  automountServiceAccountToken: false
  securityContext: {runAsNonRoot: true, runAsUser: 65532, seccompProfile: {type: RuntimeDefault}}
  containers:
  - name: main
    image: $IMAGE
    command: [bash, -c, $(jq -Rs . <<<"$script")]
    securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
    env:
    - {name: ID, valueFrom: {secretKeyRef: {name: rook-ceph-client-self-test, key: userID}}}
    - {name: KEY, valueFrom: {secretKeyRef: {name: rook-ceph-client-self-test, key: userKey}}}
    - {name: MON, valueFrom: {configMapKeyRef: {name: rook-ceph-mon-endpoints, key: data}}}
    volumeMounts: [{name: tmp, mountPath: /tmp}]
  volumes: [{name: tmp, emptyDir: {}}]
END
  rook wait pod self-test --for=jsonpath='{.status.phase}'=Succeeded --timeout 90s >/dev/null || die "the client pod did not end well"
  output=$(rook logs self-test)
  expect "a key writes to its own pool" "self-test-a: Total writes made" "$output"
  expect "it may not write to another" "self-test-b: error during benchmark: (1) Operation not permitted" "$output"
}

images_hold_pools() {
  ceph_sh rbd create self-test-a/image --size 8M
  rook delete cephblockpool self-test-a --wait=false >/dev/null
  rook wait cephblockpool/self-test-a --timeout 60s \
    --for='jsonpath={.status.conditions[?(@.type=="PoolDeletionIsBlocked")].reason}'=PoolNotEmpty >/dev/null ||
    die "an RBD image does not hold its pool back"
  ceph_sh rbd rm self-test-a/image >/dev/null 2>&1
  is_gone cephblockpool/self-test-a
  echo "ok  an RBD image holds its pool back until it is gone"
}

namespaces_hold_pools() {
  rook apply --server-side --filename - >/dev/null <<END
apiVersion: ceph.rook.io/v1
kind: CephBlockPoolRadosNamespace
metadata: {name: self-test, namespace: rook-ceph}
spec: {blockPoolName: self-test-b}
END
  wait_phase cephblockpoolradosnamespace/self-test Ready
  rook delete cephblockpool self-test-b --wait=false >/dev/null
  rook wait cephblockpool/self-test-b --timeout 60s \
    --for='jsonpath={.status.conditions[?(@.type=="DeletionIsBlocked")].reason}'=ObjectHasDependents >/dev/null ||
    die "a rados namespace does not hold its pool back"
  rook delete cephblockpoolradosnamespace self-test --timeout 60s >/dev/null
  is_gone cephblockpool/self-test-b
  echo "ok  a rados namespace holds its pool back until it is gone"
}

everything_goes() {
  rook delete cephclient self-test self-test-bad --timeout 60s >/dev/null
  expect "pools go with their objects" ".mgr" "$(ceph_sh ceph osd pool ls | grep -v self-test | head -n 1)"
  ! ceph_sh ceph osd pool ls | grep -q self-test || die "a pool is left"
  ! ceph_sh ceph osd crush rule ls | grep -q self-test || die "a CRUSH rule is left"
  ! ceph_sh ceph auth ls --format json | grep -q client.self-test || die "a key is left"
  ! rook get secret --output name | grep -q self-test || die "a Secret is left"
  echo "ok  nothing is left of pools and clients"
}

up_osds() {
  ceph_sh ceph osd stat --format json | jq .num_up_osds
}

has_up_osds() {
  [[ $(up_osds) == "$1" ]]
}

is_healthy() {
  [[ $(ceph_sh ceph health) == HEALTH_OK ]]
}

frozen_osd_goes_down() {
  "$HERE/osd-signal.sh" 1 STOP
  trap '"$HERE/osd-signal.sh" 1 CONT; remove_all' EXIT
  wait_until 60 "osd.1 to be marked down" has_up_osds 2
  "$HERE/osd-signal.sh" 1 CONT
  trap remove_all EXIT
  wait_until 60 "osd.1 to come back" has_up_osds 3
  wait_until 120 "Ceph to be healthy again" is_healthy
  echo "ok  a frozen OSD is marked down and comes back"
}

main() {
  remove_all
  trap remove_all EXIT
  pools_are_made
  clients_get_keys
  keys_reach_one_pool
  images_hold_pools
  namespaces_hold_pools
  everything_goes
  frozen_osd_goes_down
}

main "$@"
