#!/usr/bin/env bash
# Builds Kubernetes' programs, helm, the cluster's DNS server and the pause program from their Go
# modules, once per set of versions, and prints the folder they are in. Downloads no binary.
set -euo pipefail
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# build MODULE OUTPUT_FOLDER LDFLAGS [PACKAGE...]: without packages, those of the module's `tool` lines.
build() {
  local module=$CLUSTER_DIR/go/$1 output=$2 ldflags=$3
  local packages=("${@:4}")
  (
    cd "$module"
    ((${#packages[@]})) || mapfile -t packages < <(go list tool)
    export CGO_ENABLED=0
    nice -n 10 go build -mod=readonly -trimpath -buildvcs=false -ldflags "-s -w $ldflags" \
      -o "$output/" "${packages[@]}"
  )
}

kubernetes_version() {
  (cd "$CLUSTER_DIR/go/kubernetes" && go list -m -f '{{.Version}}' k8s.io/kubernetes)
}

build_all() {
  local output=$1 version major minor
  version=$(kubernetes_version)
  IFS=. read -r major minor _ <<<"${version#v}"
  local package=k8s.io/component-base/version
  build kubernetes "$output" \
    "-X $package.gitVersion=$version -X $package.gitMajor=$major -X $package.gitMinor=$minor"
  build helm "$output" ""
  build dns "$output" "" .
  build pause "$output" "" .
}

main() {
  local bin building
  bin=$(binaries_folder)
  if [[ ! -x $bin/kubelet ]]; then
    command -v go >/dev/null || die "go is not on the PATH: the cluster's programs are built from their Go modules"
    mkdir -p "$CACHE"
    building=$(mktemp -d "$CACHE/building-XXXXXX")
    trap 'rm -rf "$building"' EXIT
    log_step "Building Kubernetes, helm and pause from their Go modules (once; about 10 minutes on 2 cores)"
    build_all "$building"
    chmod 755 "$building"
    mv -T "$building" "$bin"
    trap - EXIT
    log_done
  fi
  echo "$bin"
}

main "$@"
