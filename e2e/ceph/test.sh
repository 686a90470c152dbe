#!/usr/bin/env bash
# The bench against a real Ceph: brings one up, runs what needs it, takes it down. Arguments go to the tests.
#   e2e/ceph/test.sh                  e2e/ceph/test.sh failures::
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=e2e/packages.sh
. e2e/packages.sh

need_packages ceph-mon ceph-mgr ceph-osd ceph-common librados2
DIR=$(mktemp --directory --tmpdir cephbench-ceph.XXXXXX)
trap 'e2e/ceph/local.sh down "$DIR"' EXIT
e2e/ceph/local.sh up "$DIR"
CEPHBENCH_TEST_CEPH_CONF=$DIR/ceph.conf cargo test --locked --test rados -- "$@"
