#!/usr/bin/env bash
# Builds the command for other machines of this system and architecture: tools/release.sh [FOLDER] (.build/artifacts).
# Swift's runtime is linked into it. The system libraries that it needs are listed in the software bill of materials; their Debian
# packages are those of the last stage of tools/docker/Dockerfile.
# RELEASE_COMMAND names a command that was built so already.
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
python3 tools/sbom.py --command "$folder/$name" --resolved Package.resolved >"$folder/$name.cdx.json"
(cd "$folder" && sha256sum "$name" "$name.cdx.json" >"$name.sha256" && sha256sum --check "$name.sha256")
"$folder/$name" --version >/dev/null
du -h "$folder/$name"
