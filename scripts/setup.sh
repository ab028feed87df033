#!/usr/bin/env bash
# Installs the Debian packages that building and testing need. Does nothing,
# and asks for no rights, where they are all there.
#
# usage: scripts/setup.sh [--runtime-only]
set -euo pipefail

runtime=(clang-22 lld-22 cmake ninja-build ccache libcli11-dev
         nlohmann-json3-dev libflatbuffers-dev flatbuffers-compiler
         libpcre2-dev pkg-config)
compiler=(libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools liblld-22-dev
          libclang-rt-22-dev clang-format-22 zlib1g-dev libzstd-dev
          libgtest-dev libgmock-dev python3)

packages=("${runtime[@]}")
case "${1:-}" in
  "") packages+=("${compiler[@]}") ;;
  --runtime-only) ;;
  -h|--help) sed -n '2,5s/^# \{0,1\}//p' "$0"; exit 0 ;;
  *) echo "setup: expected --runtime-only or nothing, but got '$1'" >&2; exit 2 ;;
esac

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null |
    grep -qx installed || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "setup: all ${#packages[@]} packages are installed"
  exit 0
fi

if ! command -v apt-get >/dev/null; then
  echo "setup: expected Debian 12 or a relative of it, but found no apt-get;" \
       "install by other means: ${missing[*]}" >&2
  exit 1
fi
root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || {
    echo "setup: expected to be root or to have sudo; ask an administrator" \
         "to install: ${missing[*]}" >&2
    exit 1
  }
  root=(sudo)
fi
echo "setup: installing ${#missing[@]} packages: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${root[@]}" apt-get update -qq
"${root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" \
  >/dev/null
echo "setup: done"
