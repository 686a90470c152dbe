#!/usr/bin/env bash
# Builds the operator's and the bench's images as OCI archives, without a container engine.
#
# The operator and the small bench are static. The bench that works inside a Ceph image must load that image's
# librados, so it is linked against an old glibc (2.28) that every such image is at least as new as.
#
# Usage: images/build.sh [OUTPUT_DIR]; REGISTRY and TAG in the environment name the images.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
OUTPUT=${1:-$ROOT/target/images}
CACHE=${CEPHBENCH_CACHE:-/var/cache/cephbench}
VERSION=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' "$ROOT/Cargo.toml")
REGISTRY=${REGISTRY:-localhost/cephbench}
TAG=${TAG:-$VERSION}
STATIC=x86_64-unknown-linux-musl
GLIBC=x86_64-unknown-linux-gnu

step() {
  printf '%(%H:%M:%S)T  %s\n' -1 "$*" >&2
}

install_cross_linker() {
  command -v jq >/dev/null && [[ -x $CACHE/zig/bin/cargo-zigbuild ]] && return
  step "installing the cross linker"
  dpkg -s python3-venv jq >/dev/null 2>&1 || {
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-venv jq >/dev/null
  }
  mkdir -p "$CACHE"
  /usr/bin/python3 -m venv "$CACHE/zig"
  "$CACHE/zig/bin/pip" install --quiet cargo-zigbuild==0.24.1 ziglang==0.17.1
}

build() {
  step "building $*"
  PATH=$CACHE/zig/bin:$PATH cargo zigbuild --manifest-path "$ROOT/Cargo.toml" --locked --release "$@"
}

image() {
  local name=$1 rootfs=$2
  shift 2
  "$ROOT/images/oci-image.sh" --name "$REGISTRY/$name:$TAG" --rootfs "$rootfs" --output "$OUTPUT/$name.tar" \
    --label org.opencontainers.image.title="cephbench-$name" --label org.opencontainers.image.version="$VERSION" \
    --label org.opencontainers.image.licenses=Apache-2.0 "$@"
  step "wrote $OUTPUT/$name.tar: $REGISTRY/$name:$TAG"
}

main() {
  install_cross_linker
  (cd "$ROOT" && rustup target list --installed | grep -qx "$STATIC") || (cd "$ROOT" && rustup target add "$STATIC")
  build --target "$STATIC" --bin cephbench-operator
  build --target "$STATIC" --bin cephbench --no-default-features
  build --target "$GLIBC.2.28" --bin cephbench --no-default-features
  local target=${CARGO_TARGET_DIR:-$ROOT/target}
  mkdir -p "$OUTPUT"
  # Not local: the trap runs after main has returned.
  work=$(mktemp -d "$OUTPUT/rootfs.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  mkdir -p "$work"/{operator,bench}
  install -m 0755 "$target/$STATIC/release/cephbench-operator" "$work/operator/cephbench-operator"
  install -m 0755 "$target/$STATIC/release/cephbench" "$work/bench/cephbench"
  install -m 0755 "$target/$GLIBC/release/cephbench" "$work/bench/cephbench-glibc"
  install -m 0644 "$ROOT/LICENSE" "$work/operator/LICENSE"
  install -m 0644 "$ROOT/LICENSE" "$work/bench/LICENSE"
  image operator "$work/operator" --user 65532:65532 --entrypoint '["/cephbench-operator"]'
  image bench "$work/bench" --user 65532:65532 --entrypoint '["/cephbench"]'
}

main
