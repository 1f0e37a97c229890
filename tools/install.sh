#!/usr/bin/env bash
# What demo.sh and test.sh share: they install missing system packages, and build once. Both source this file.
set -euo pipefail

if ! command -v swift >/dev/null; then
    echo "Swift 6.3 is needed and 'swift' is not on the PATH; see https://www.swift.org/install" >&2
    exit 2
fi

# install_packages PACKAGE…: installs the packages that are missing.
install_packages() {
    command -v dpkg-query >/dev/null || return 0
    local missing=() package
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return 0
    local as_root=()
    [ "$(id -u)" -eq 0 ] || as_root=(sudo)
    echo "Installing ${missing[*]}"
    "${as_root[@]}" apt-get update -qq
    # A machine that has just started may be installing its own updates.
    DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=300 "${missing[@]}" >/dev/null
}

# Builds whole modules and writes no debug information, because nobody edits files between two builds here. In debug, the
# compiler then reads each module once, not three times.
build() {
    swift build -Xswiftc -whole-module-optimization -Xswiftc -no-emit-module-separately-wmo -Xswiftc -num-threads -Xswiftc 2 \
        -Xswiftc -gnone -Xcc -g0 -Xcxx -g0 "$@"
}
