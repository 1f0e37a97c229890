#!/bin/sh
# Writes the manual pages, one per command, into a folder (default: .build/man). The generate-manual plugin of
# swift-argument-parser creates them from the help texts.
#
# Usage: tools/man.sh [folder] [debug|release]
set -eu
cd "$(dirname "$0")/.."
folder=${1:-.build/man}
configuration=${2:-release}
# The date of the last commit, so the same source gives the same pages.
date=$(git log -1 --format=%cd --date=format:%Y-%m-%d 2>/dev/null || date +%Y-%m-%d)

swift package --allow-writing-to-package-directory generate-manual \
    --configuration "$configuration" --multi-page --date "$date" --section 1
mkdir -p "$folder"
for page in .build/plugins/GenerateManual/outputs/legacy-receipts/*.1; do
    # mdoc does not allow blank lines; .Pp is the macro for a paragraph.
    sed 's/^$/.Pp/' "$page" >"$folder/$(basename "$page")"
done
ls "$folder"/*.1
