#!/usr/bin/env bash
# Speed against the peers: ratios in one run, alternating, never an absolute time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=packages.sh
. e2e/packages.sh

need_packages fio iperf3
cargo bench --locked "$@"
