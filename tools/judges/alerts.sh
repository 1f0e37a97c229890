#!/usr/bin/env bash
# Checks tools/alerts.yml with promtool: the syntax, and with tools/judges/alerts_test.yml when each alert fires. promtool comes
# from Debian's package prometheus. Its service is neither installed nor started.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
promtool=$(command -v promtool || true)
if [ -z "$promtool" ]; then
    as_root=()
    [ "$(id -u)" -eq 0 ] || as_root=(sudo)
    download() { (cd "$folder" && apt-get download prometheus >/dev/null 2>"$folder/error"); }
    download || { "${as_root[@]}" apt-get update -qq && download; } || { cat "$folder/error" >&2; exit 1; }
    dpkg-deb -x "$folder"/prometheus_*.deb "$folder"
    promtool=$folder/usr/bin/promtool
fi
"$promtool" check rules tools/alerts.yml
"$promtool" test rules tools/judges/alerts_test.yml
