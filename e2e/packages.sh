# shellcheck shell=bash
# Installs Debian packages where they are missing. To be sourced.

# need_packages NAME…: as root installs what is missing; else says what to install.
need_packages() {
  local name missing=()
  for name in "$@"; do
    dpkg-query --show --showformat '${Status}' "$name" 2>/dev/null | grep -q '^install ok installed$' || missing+=("$name")
  done
  ((${#missing[@]})) || return 0
  if ((EUID != 0)); then
    printf 'missing Debian packages: %s; install them, or run this as root\n' "${missing[*]}" >&2
    return 1
  fi
  printf '%(%H:%M:%S)T  installing %s\n' -1 "${missing[*]}" >&2
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}
