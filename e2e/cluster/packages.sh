#!/usr/bin/env bash
# Installs from Debian the programs that the cluster needs and that this machine lacks, and starts
# no service of theirs. Does nothing when all are there.
set -euo pipefail
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# A file or program, and the package that brings it.
NEEDS=(
  containerd=containerd
  ctr=containerd
  runc=runc
  etcd=etcd-server
  /usr/lib/cni/ptp=containernetworking-plugins
  iptables=iptables
  ip=iproute2
  mount=mount
  losetup=mount
  nsenter=util-linux
  pgrep=procps
  openssl=openssl
  jq=jq
)

missing_packages() {
  local need
  for need in "${NEEDS[@]}"; do
    [[ -e ${need%%=*} ]] || command -v "${need%%=*}" >/dev/null || echo "${need##*=}"
  done | sort -u
}

# A service that a package would start is held back by policy-rc.d, which dpkg's scripts ask; one that runs
# already is not a new package's and stays as it is.
install_quietly() {
  local policy=/usr/sbin/policy-rc.d made=
  if [[ ! -e $policy ]]; then
    printf '#!/bin/sh\nexit 101\n' >$policy
    chmod 755 $policy
    made=yes
  fi
  local failed=
  {
    apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
  } </dev/null >"$LOGS/packages.log" 2>&1 || failed=yes
  if [[ $made ]]; then rm -f $policy; fi
  [[ -z $failed ]] || die "apt-get could not install $*; see $LOGS/packages.log"
}

main() {
  mkdir -p "$LOGS"
  local missing
  mapfile -t missing < <(missing_packages)
  ((${#missing[@]})) || return 0
  command -v apt-get >/dev/null || die "this machine has no apt-get: install by hand what gives ${missing[*]}"
  log_step "Installing ${missing[*]}"
  install_quietly "${missing[@]}"
  log_done
}

main "$@"
