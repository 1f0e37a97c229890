#!/bin/bash
# Renders the page of `report` in headless Chromium, in a phone-sized and a wide window, light and dark. Fails if the
# browser prints to its console, for example about a blocked resource, a script or an invalid style.
#
#   tools/judges/report_page.sh COMMAND [FOLDER]
#
# COMMAND is the built command legacy-receipts. The pictures go to FOLDER (default: a temporary folder).
set -euo pipefail
command=$(realpath "$1")
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pictures=${2:-$work}
mkdir -p "$pictures"

# Some records of the fixtures are quarantined on purpose: status 1.
"$command" migrate "$root/LegacyFixtures" --into "sqlite:$work/store.sqlite" \
    --trust-root "$root/LegacyFixtures/trust/root.der" --quiet >"$work/summary" || [ $? -eq 1 ]
"$command" report --store "sqlite:$work/store.sqlite" --catalog "$root/LegacyFixtures/products.yaml" \
    --at 2024-06-01 --html "$work/report.html"

for scheme in 1:light 0:dark; do
    for size in 390,844 1280,900; do
        picture="$pictures/${scheme#*:}-${size%,*}.png"
        timeout 120 chromium --headless --no-sandbox --disable-gpu --enable-logging=stderr --hide-scrollbars \
            --user-data-dir="$work/profile" --blink-settings=preferredColorScheme="${scheme%:*}" \
            --window-size="$size" --screenshot="$picture" "file://$work/report.html" >"$work/log" 2>&1
        if grep CONSOLE "$work/log"; then
            echo "Chromium printed to its console (${scheme#*:}, $size)." >&2
            exit 1
        fi
        [ -s "$picture" ] || { echo "Chromium made no picture." >&2; exit 1; }
    done
done
echo "The page is rendered without console output in both schemes at both widths."
