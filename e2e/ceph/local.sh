#!/usr/bin/env bash
# A Ceph of its own on this machine, for tests of the bench: a monitor, a manager and three OSDs on three CRUSH hosts, all on a
# loopback address of their own, CephX on, protocol v2 only, stores on sparse files. Needs no root. It has nothing to do with the
# Ceph in the local Kubernetes (e2e/cluster).
#   local.sh up DIR        starts it; DIR then holds ceph.conf, keyring (client.admin) and the pids
#   local.sh down DIR      ends it and removes DIR
set -euo pipefail

OSDS=${CEPHBENCH_LOCAL_OSDS:-3}
OSD_SIZE=${CEPHBENCH_LOCAL_OSD_SIZE:-4G}

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# A loopback address that depends on the folder alone: two of these can run side by side, both on Ceph's own ports.
address_of() {
  local sum
  sum=$(cksum <<<"$1")
  sum=${sum%% *}
  echo "127.$((sum % 200 + 20)).$((sum / 200 % 250 + 1)).$((sum / 50000 % 250 + 1))"
}

write_conf() {
  local dir=$1 address=$2
  cat >"$dir/ceph.conf" <<CONF
[global]
fsid = $(cat /proc/sys/kernel/random/uuid)
mon host = [v2:$address:3300]
ms bind msgr1 = false
run dir = $dir/run
log file = $dir/log/\$name.log
pid file = $dir/run/\$name.pid
admin socket = $dir/run/\$name.asok
public addr = $address
auth allow insecure global id reclaim = false
osd pool default size = 3
osd pool default pg autoscale mode = off
mon max pg per osd = 1000
osd crush chooseleaf type = 1

[client]
keyring = $dir/keyring

[mon]
mon data = $dir/mon
mon osd min down reporters = 1
mon osd down out interval = 600
mon allow pool delete = true
mon data avail crit = 1
mon data avail warn = 2
mon warn on pool no redundancy = false

[mgr]
mgr data = $dir/mgr
mgr initial modules =
mgr tick period = 1
mgr stats period = 1

[osd]
osd data = $dir/osd.\$id
osd objectstore = bluestore
bluestore block create = true
bluestore block size = $(numfmt --from=iec "$OSD_SIZE")
bluestore cache size = $((64 * 1024 * 1024))
bluestore rocksdb options = compression=kNoCompression,max_write_buffer_number=4,min_write_buffer_number_to_merge=1,write_buffer_size=16777216,max_background_compactions=2
osd memory target = $((512 * 1024 * 1024))
osd heartbeat grace = 10
osd recovery sleep hdd = 0
osd class update on start = false
$(for ((id = 0; id < OSDS; id++)); do printf '[osd.%d]\ncrush location = root=default host=host%d\n' "$id" "$id"; done)
CONF
}

# All keys at once, into the keyring that the monitor starts with: no client has to be called for them.
make_keys() {
  local dir=$1 id
  ceph-authtool --create-keyring "$dir/keyring" --gen-key --name client.admin \
    --cap mon 'allow *' --cap mgr 'allow *' --cap osd 'allow *' >/dev/null
  ceph-authtool --create-keyring "$dir/mon.keyring" --gen-key --name mon. --cap mon 'allow *' >/dev/null
  ceph-authtool --create-keyring "$dir/mgr/keyring" --gen-key --name mgr.x \
    --cap mon 'allow profile mgr' --cap osd 'allow *' >/dev/null
  for ((id = 0; id < OSDS; id++)); do
    ceph-authtool --create-keyring "$dir/osd.$id/keyring" --gen-key --name "osd.$id" \
      --cap mon 'allow profile osd' --cap mgr 'allow profile osd' --cap osd 'allow *' >/dev/null
    ceph-authtool "$dir/mon.keyring" --import-keyring "$dir/osd.$id/keyring" >/dev/null 2>&1
  done
  ceph-authtool "$dir/mon.keyring" --import-keyring "$dir/keyring" >/dev/null 2>&1
  ceph-authtool "$dir/mon.keyring" --import-keyring "$dir/mgr/keyring" >/dev/null 2>&1
}

is_healthy() {
  local said
  said=$(printf 'osd stat\nhealth\n' | timeout 10 ceph --conf "$1/ceph.conf" 2>/dev/null) || return 1
  [[ $said == *" $OSDS up "* && $said == *" $OSDS in "* && $said == *HEALTH_OK* ]]
}

up() {
  local dir=$1 address id uuid create='' making=()
  [[ ! -e $dir/ceph.conf ]] || die "$dir holds a Ceph already: run down first"
  type ceph-mon ceph-mgr ceph-osd ceph-authtool ceph >/dev/null ||
    die "Ceph is not installed: apt-get install ceph-mon ceph-mgr ceph-osd ceph-common"
  mkdir -p "$dir"/{mon,mgr,run,log}
  for ((id = 0; id < OSDS; id++)); do mkdir -p "$dir/osd.$id"; done
  address=$(address_of "$dir")
  write_conf "$dir" "$address"
  make_keys "$dir"
  export CEPH_CONF=$dir/ceph.conf MALLOC_ARENA_MAX=2
  monmaptool --create --addv a "[v2:$address:3300]" \
    --fsid "$(sed -n 's/^fsid = //p' "$dir/ceph.conf")" --enable-all-features "$dir/monmap" >/dev/null
  ceph-mon --id a --mkfs --monmap "$dir/monmap" --keyring "$dir/mon.keyring" >/dev/null
  ceph-mon --id a
  ceph-mgr --id x
  for ((id = 0; id < OSDS; id++)); do
    uuid=$(cat /proc/sys/kernel/random/uuid)
    create+="osd create $uuid $id"$'\n'
    ceph-osd --id "$id" --mkfs --osd-uuid "$uuid" >"$dir/log/mkfs.$id" 2>&1 &
    making+=($!)
  done
  ceph <<<"$create" >/dev/null
  for id in "${!making[@]}"; do wait "${making[id]}" || die "making osd.$id failed: $(tail -n 3 "$dir/log/mkfs.$id")"; done
  for ((id = 0; id < OSDS; id++)); do ceph-osd --id "$id" >/dev/null 2>"$dir/log/start.$id" & done
  wait
  local deadline=$((SECONDS + 120))
  until is_healthy "$dir"; do
    ((SECONDS < deadline)) || die "the Ceph in $dir is not healthy after two minutes; its logs are in $dir/log"
    sleep 0.3
  done
}

# Ends only what was started from this folder: a pid may belong to somebody else by now.
down() {
  local dir=$1 file pid
  [[ -e $dir/ceph.conf ]] || { rm -rf "$dir/run" "$dir/log"; return 0; }
  for file in "$dir"/run/*.pid; do
    [[ -e $file ]] || continue
    pid=$(<"$file")
    if [[ $(tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null) == *"CEPH_CONF=$dir/ceph.conf"* ]]; then kill -KILL "$pid"; fi
  done
  rm -rf "$dir"
}

[[ $# == 2 && $1 =~ ^(up|down)$ && $2 == /* ]] || die "want: local.sh up|down DIR, DIR absolute"
"$@"
