#!/bin/sh
# Builds the documentation of every library; a warning is an error.
# The archives appear in .build/documentation/<product>.doccarchive.
set -eu
cd "$(dirname "$0")/.."

rm -rf .build/documentation
mkdir -p .build/documentation

log=.build/documentation/log
for target in AppStoreModels AppStoreTrust LegacyReceipts ProductCatalog Purchases Migration ReceiptForge AppStoreServer AppStoreSandbox \
    TransactionStore SQLiteTransactionStore PostgreSQLTransactionStore VerifyReceipt ReplyComparison VerifyReceiptServer; do
    if ! swift package --allow-writing-to-directory .build/documentation \
        generate-documentation --target "$target" --warnings-as-errors \
        --output-path ".build/documentation/$target.doccarchive" >"$log" 2>&1; then
        cat "$log" >&2
        echo "The documentation of $target does not build without warnings." >&2
        exit 1
    fi
    echo "documentation of $target: .build/documentation/$target.doccarchive"
done
