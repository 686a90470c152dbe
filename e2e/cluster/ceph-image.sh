#!/usr/bin/env bash
# Builds the image that the local Ceph runs from, out of Debian's packages, and prints the archive's path.
# It is the CephCluster's image: monitor, manager, OSDs, the stand-in for Rook and the bench's pods all start from it.
# Not a product of the project: nothing outside the local cluster uses it.
#
#   ceph-image.sh          build unless the archive is there, print its path on standard output
#   ceph-image.sh --name   print the image's reference
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../packages.sh
. "$here/../packages.sh"

version=18.2.7
suite=trixie
name=localhost/cephbench-e2e/ceph:v$version
packages=ceph-mon,ceph-mgr,ceph-osd,ceph-common,libcephfs2

say() { printf 'ceph-image: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

if [ "${1:-}" = --name ]; then
  echo "$name"
  exit 0
fi

cache=${CEPHBENCH_CACHE:-/var/cache/cephbench}
# A changed recipe is another image: the archive's name carries the digest of this file.
recipe=$(sha256sum "${BASH_SOURCE[0]}" | cut -c1-12)
archive=$cache/ceph-$version-$recipe.oci.tar
mkdir -p "$cache"

exec 9>"$cache/.ceph-image.lock"
flock 9
if [ -f "$archive" ]; then
  touch "$archive"
  say "reusing $archive"
  echo "$archive"
  exit 0
fi

[ "$(id -u)" = 0 ] || die "must be root to install Debian's packages into a directory"
need_packages mmdebstrap

# The mirror that this machine's own apt uses, if it has one of Debian; otherwise mmdebstrap's default.
mirror=${CEPHBENCH_DEBIAN_MIRROR:-}
if [ -z "$mirror" ]; then
  # shellcheck disable=SC2016
  mirror=$(apt-get indextargets --format '$(ORIGIN) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    awk '$1 == "Debian" && $2 !~ /security/ {print $2; exit}')
fi

work=$(mktemp -d "$cache/ceph-image.XXXXXX")
trap 'rm -rf "$work"' EXIT
rootfs=$work/rootfs

say "installing Ceph $version from Debian $suite (about 90 s)"
mmdebstrap --mode=root --variant=essential --format=directory --quiet \
  --aptopt='APT::Install-Recommends "false"' \
  --dpkgopt=force-unsafe-io \
  --dpkgopt='path-exclude=/usr/share/man/*' \
  --dpkgopt='path-exclude=/usr/share/info/*' \
  --dpkgopt='path-exclude=/usr/share/locale/*' \
  --dpkgopt='path-exclude=/usr/share/doc/*' \
  --dpkgopt='path-include=/usr/share/doc/*/copyright' \
  --include="$packages" \
  "$suite" "$rootfs" ${mirror:+"$mirror"} >"$work/log" 2>&1 9>&- ||
  { tail -n 30 "$work/log" >&2; die "mmdebstrap failed"; }

found=$(chroot "$rootfs" ceph --version | awk '{print $3}')
[ "$found" = "$version" ] ||
  die "Debian $suite has Ceph $found, this script expects $version: change 'version' here and the image's name follows"

# The manager runs each of its modules in a Python subinterpreter, where Debian's bcrypt can't be loaded; every module
# imports it by way of mgr_util, so none would start. Only the dashboard's passwords need it.
cat >"$rootfs/usr/share/ceph/mgr/bcrypt.py" <<'PYTHON'
"""Stands in for bcrypt, which a subinterpreter can't load."""


def gensalt(*_args, **_kwargs):
    raise NotImplementedError("bcrypt can't be loaded in the manager's subinterpreters")


hashpw = gensalt
PYTHON
rm -rf "$rootfs"/var/lib/apt/lists/* "$rootfs"/var/cache/apt/* "$rootfs"/var/log/*.log

say "writing the archive"
"$here/../../images/oci-image.sh" --name "$name" --rootfs "$rootfs" --output "$work/image.tar" >&2 9>&-
mv "$work/image.tar" "$archive"
# Half a gigabyte each: those of recipes that nobody has asked for in a week go.
find "$cache" -maxdepth 1 -name 'ceph-*.oci.tar' -mtime +7 -delete
say "made $archive ($(du -m "$archive" | cut -f1) MiB)"
echo "$archive"
