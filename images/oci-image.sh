#!/usr/bin/env bash
# Writes a container image as an OCI archive, without an engine: layers, a config, a manifest and an index in
# one tar file, which `ctr images import`, podman and skopeo read. The same input gives the same bytes.
#
# Usage: oci-image.sh --name REFERENCE --output FILE (--rootfs DIR | --layer TAR)...
#          [--entrypoint JSON_LIST] [--cmd JSON_LIST] [--user USER] [--workdir DIR]
#          [--env KEY=VALUE]... [--label KEY=VALUE]...
# Layers lie on each other in the order given. A TAR must be uncompressed.
set -euo pipefail

die() {
  printf 'oci-image: %s\n' "$*" >&2
  exit 1
}

NAME='' OUTPUT='' LAYERS=() ENV=() LABELS=()
ENTRYPOINT=null COMMAND=null USER_ID='' WORKDIR=''

parse_arguments() {
  while (($#)); do
    [[ $1 == --* && $# -ge 2 ]] || die "$1: want an option with a value"
    case $1 in
      --name) NAME=$2 ;;
      --output) OUTPUT=$2 ;;
      --rootfs) LAYERS+=("dir:$2") ;;
      --layer) LAYERS+=("tar:$2") ;;
      --entrypoint) ENTRYPOINT=$2 ;;
      --cmd) COMMAND=$2 ;;
      --user) USER_ID=$2 ;;
      --workdir) WORKDIR=$2 ;;
      --env) ENV+=("$2") ;;
      --label) LABELS+=("$2") ;;
      *) die "$1: no such option" ;;
    esac
    shift 2
  done
  [[ $NAME =~ ^[^/]+/.+:[^/:]+$ ]] || die "--name '$NAME': want a full reference, such as localhost/cephbench/bench:1"
  [[ $OUTPUT ]] || die "--output is missing"
  ((${#LAYERS[@]})) || die "no layer: give --rootfs or --layer"
  command -v jq >/dev/null || die "jq is needed (Debian package jq)"
}

architecture() {
  case $(uname -m) in
    x86_64) echo amd64 ;;
    aarch64) echo arm64 ;;
    *) uname -m ;;
  esac
}

# pack TAR DIR MEMBER…: sorted, without times and names of this machine.
pack() {
  tar --create --file "$1" --directory "$2" --format=posix \
    --pax-option=delete=atime,delete=ctime,exthdr.name=%d/PaxHeaders/%f \
    --sort=name --mtime=@0 --numeric-owner --xattrs "${@:3}"
}

# add_blob FILE: moves it to its place by digest; sets DIGEST and SIZE.
add_blob() {
  local sum
  sum=$(sha256sum "$1")
  DIGEST=sha256:${sum%% *}
  SIZE=$(stat -c %s "$1")
  mv "$1" "$WORK/image/blobs/sha256/${DIGEST#sha256:}"
}

# add_layer KIND:PATH: an uncompressed layer's digest is also its diff id.
add_layer() {
  local path=${1#*:}
  case $1 in
    dir:*)
      [[ -d $path ]] || die "--rootfs $path: not a folder"
      pack "$WORK/layer" "$path" .
      ;;
    tar:*)
      [[ -f $path ]] || die "--layer $path: not a file"
      cp --reflink=auto "$path" "$WORK/layer"
      ;;
  esac
  add_blob "$WORK/layer"
}

json_list() {
  jq -cn '$ARGS.positional' --args "$@"
}

write_config() {
  jq -cnS --arg architecture "$(architecture)" --argjson diffs "$1" \
    --argjson entrypoint "$ENTRYPOINT" --argjson command "$COMMAND" --arg user "$USER_ID" --arg workdir "$WORKDIR" \
    --argjson env "$(json_list "${ENV[@]}")" --argjson labels "$(json_list "${LABELS[@]}")" '{
      created: "1970-01-01T00:00:00Z", architecture: $architecture, os: "linux",
      config: ({
        Entrypoint: $entrypoint, Cmd: $command, User: $user, WorkingDir: $workdir, Env: $env,
        Labels: ($labels | map(capture("^(?<key>[^=]+)=(?<value>.*)$"; "s")) | from_entries)
      } | with_entries(select(.value != null and (.value | length) > 0))),
      rootfs: {type: "layers", diff_ids: $diffs}
    }' >"$WORK/config"
}

write_manifest() {
  jq -cnS --arg config "$1" --argjson size "$2" --argjson layers "$3" '{
    schemaVersion: 2, mediaType: "application/vnd.oci.image.manifest.v1+json",
    config: {mediaType: "application/vnd.oci.image.config.v1+json", digest: $config, size: $size},
    layers: $layers
  }' >"$WORK/manifest"
}

# containerd names the image by the first annotation; podman and skopeo take the second as its tag.
write_index() {
  jq -cnS --arg manifest "$1" --argjson size "$2" --arg name "$NAME" '{
    schemaVersion: 2, mediaType: "application/vnd.oci.image.index.v1+json",
    manifests: [{
      mediaType: "application/vnd.oci.image.manifest.v1+json", digest: $manifest, size: $size,
      annotations: {"io.containerd.image.name": $name, "org.opencontainers.image.ref.name": ($name | sub("^.*:"; ""))}
    }]
  }' >"$WORK/image/index.json"
}

main() {
  parse_arguments "$@"
  mkdir -p "$(dirname "$OUTPUT")"
  # Beside the output: layers are large, and the last step is a rename.
  WORK=$(mktemp -d "$OUTPUT.XXXXXX")
  trap 'rm -rf "$WORK"' EXIT
  mkdir -p "$WORK/image/blobs/sha256"
  local layer diffs='[]' layers='[]'
  for layer in "${LAYERS[@]}"; do
    add_layer "$layer"
    diffs=$(jq -c --arg digest "$DIGEST" '. + [$digest]' <<<"$diffs")
    layers=$(jq -c --arg digest "$DIGEST" --argjson size "$SIZE" \
      '. + [{mediaType: "application/vnd.oci.image.layer.v1.tar", digest: $digest, size: $size}]' <<<"$layers")
  done
  write_config "$diffs"
  add_blob "$WORK/config"
  write_manifest "$DIGEST" "$SIZE" "$layers"
  add_blob "$WORK/manifest"
  write_index "$DIGEST" "$SIZE"
  echo '{"imageLayoutVersion":"1.0.0"}' >"$WORK/image/oci-layout"
  # The index first: who wants only the image's name and digest reads a few bytes.
  pack "$WORK/archive" "$WORK/image" oci-layout index.json blobs
  mv "$WORK/archive" "$OUTPUT"
}

main "$@"
