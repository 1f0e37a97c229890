#!/usr/bin/env bash
# Builds the documentation of every library; a warning is an error.
# The archives appear in .build/documentation/<product>.doccarchive.
#
# The symbols come from the modules of a build. SwiftPM's plugin compiles all modules again for every library, which
# takes six minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

targets=(
    AppStoreModels AppStoreTrust LegacyReceipts ProductCatalog Purchases Migration ReceiptForge AppStoreServer
    AppStoreSandbox TransactionStore TransactionStoreConformance SQLiteTransactionStore PostgreSQLTransactionStore
    VerifyReceipt ReplyComparison AppStoreSync VerifyReceiptServer
)

# DOCUMENTED_BUILD names the folder of a build that is up to date.
binaries=${DOCUMENTED_BUILD:-}
if [ -z "$binaries" ]; then
    swift build --build-tests
    binaries=$(swift build --show-bin-path)
fi
output=.build/documentation
rm -rf "$output"
mkdir -p "$output"

extract=(swift-symbolgraph-extract -I "$binaries/Modules" -minimum-access-level public -emit-extension-block-symbols
    -target "$(swift -print-target-info | sed -n 's/^ *"triple" *: *"\([^"]*\)".*/\1/p' | head -n 1)")
docc=(docc)
if [ "$(uname)" = Darwin ]; then
    extract=(xcrun "${extract[@]}" -sdk "$(xcrun --show-sdk-path)")
    docc=(xcrun docc)
fi
# Headers of PostgreSQL are not in the default folder everywhere.
for flag in $(pkg-config --cflags-only-I libpq sqlite3 2>/dev/null || true); do extract+=("$flag"); done
# The C modules that the Swift modules use. SwiftPM writes maps for those that have none.
while read -r map; do extract+=(-I "$(dirname "$map")"); done \
    < <(find -L Sources .build/checkouts "$binaries" -name module.modulemap -not -path "$binaries/*/include/*")

for target in "${targets[@]}"; do
    symbols=$output/symbols/$target
    mkdir -p "$symbols"
    "${extract[@]}" -module-name "$target" -output-dir "$symbols"
    "${docc[@]}" convert "Sources/$target/$target.docc" --additional-symbol-graph-dir "$symbols" --warnings-as-errors \
        --fallback-display-name "$target" --fallback-bundle-identifier "$target" \
        --output-dir "$output/$target.doccarchive"
    echo "documentation of $target: $output/$target.doccarchive"
done
