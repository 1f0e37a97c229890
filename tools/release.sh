#!/usr/bin/env bash
# Builds the command for other machines of this system and architecture: tools/release.sh [FOLDER] (.build/artifacts).
# The command contains Swift's runtime (--static-swift-stdlib). It is linked with glibc and the other system libraries of this machine,
# which the software bill of materials lists: the other machine needs them, with the same glibc or a newer one. The last stage of
# tools/docker/Dockerfile installs their Debian packages. A static binary without system libraries would need Swift's Static Linux SDK
# (musl), and libxml2, SQLite, libpq, bzip2, zstd and zlib built for musl. This script does not use it.
# RELEASE_COMMAND names a command that is already built. It is packed as it is, also if it needs Swift's runtime.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-.build/artifacts}
command=${RELEASE_COMMAND:-}
if [ -z "$command" ]; then
    source tools/install.sh
    install_packages libxml2-dev libsqlite3-dev libpq-dev libbz2-dev libzstd-dev zlib1g-dev pkg-config binutils python3
    swift build -c release --product legacy-receipts --static-swift-stdlib
    command=$(swift build -c release --show-bin-path)/legacy-receipts
fi
mkdir -p "$folder"
name=legacy-receipts-$("$command" --version)-$(uname -s | tr '[:upper:]' '[:lower:]')-$(uname -m)
strip --strip-debug -o "$folder/$name" "$command"
chmod 755 "$folder/$name"
if [ -z "${RELEASE_COMMAND:-}" ] && readelf -d "$folder/$name" | grep 'NEEDED.*\[lib_\?\(swift\|Foundation\)'; then
    echo "The binary needs these libraries of Swift, which other machines do not have." >&2
    exit 1
fi
python3 tools/sbom.py --command "$folder/$name" --resolved Package.resolved >"$folder/$name.cdx.json"
(cd "$folder" && sha256sum "$name" "$name.cdx.json" >"$name.sha256" && sha256sum --check "$name.sha256")
"$folder/$name" --version >/dev/null
du -h "$folder/$name"
