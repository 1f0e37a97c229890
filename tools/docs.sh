#!/usr/bin/env bash
# Builds the documentation of every library; a warning is an error.
# The archives appear in .build/documentation/<product>.doccarchive.
set -euo pipefail
cd "$(dirname "$0")/.."

targets=(
    AppStoreModels AppStoreTrust LegacyReceipts ProductCatalog Purchases Migration ReceiptForge AppStoreServer
    AppStoreSandbox TransactionStore TransactionStoreConformance SQLiteTransactionStore PostgreSQLTransactionStore
    VerifyReceipt ReplyComparison AppStoreSync VerifyReceiptServer
)

rm -rf .build/documentation
mkdir -p .build/documentation
log=.build/documentation/log

# One call for all libraries, because each call plans the build again.
arguments=()
for target in "${targets[@]}"; do arguments+=(--target "$target"); done
if ! swift package generate-documentation "${arguments[@]}" --warnings-as-errors >"$log" 2>&1; then
    cat "$log" >&2
    echo "The documentation does not build without warnings." >&2
    exit 1
fi
for target in "${targets[@]}"; do
    mv ".build/plugins/Swift-DocC/outputs/$target.doccarchive" .build/documentation/
    echo "documentation of $target: .build/documentation/$target.doccarchive"
done
