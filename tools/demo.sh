#!/usr/bin/env bash
# The main job on the receipts in LegacyFixtures: inspects one, migrates a file of stored records, shows the results.
# They are forged by the test authority of ReceiptForge, which is why its root has to be trusted explicitly.
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/install.sh
install_packages libxml2-dev

swift build -c release --product legacy-receipts
command=$(swift build -c release --show-bin-path)/legacy-receipts
output=$(mktemp -d)
trap 'rm -rf "$output"' EXIT
trust=(--trust-root LegacyFixtures/trust/root.der)
# iOS 6 receipts embed no intermediate; those of the test authority have to be given.
intermediates=(--intermediate LegacyFixtures/trust/itunes-store-intermediate.der
    --intermediate LegacyFixtures/trust/developer-relations-intermediate.der)

# run COMMAND…: shows the command and accepts the exit status that it documents for "not all".
run() {
    printf '\n$ legacy-receipts %s\n' "$*"
    "$command" "$@" || [ $? -eq 1 ]
}

run inspect "${trust[@]}" LegacyFixtures/auto-renewable/receipt.b64
run migrate LegacyFixtures/inputs/customers.ndjson --catalog LegacyFixtures/products.yaml \
    "${trust[@]}" "${intermediates[@]}" --output "$output/migrated"
printf '\n$ head -n 1 migrated/transactions.ndjson\n'
head -n 1 "$output/migrated/transactions.ndjson"
printf '\n$ head -n 1 migrated/quarantine.ndjson\n'
head -n 1 "$output/migrated/quarantine.ndjson"
