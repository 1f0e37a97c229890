#!/usr/bin/env bash
# The main job on the receipts in LegacyFixtures: inspects one, migrates a file of stored records into files and a store,
# serves the store, asks it as an old client would, shows the results.
# They are forged by the test authority of ReceiptForge, which is why its root has to be trusted explicitly.
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/install.sh
install_packages libxml2-dev libsqlite3-dev libpq-dev pkg-config curl

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
    "${trust[@]}" "${intermediates[@]}" --output "$output/migrated" --store "sqlite:$output/purchases.sqlite"
printf '\n$ head -n 1 migrated/transactions.ndjson\n'
head -n 1 "$output/migrated/transactions.ndjson"
printf '\n$ head -n 1 migrated/quarantine.ndjson\n'
head -n 1 "$output/migrated/quarantine.ndjson"

printf '\n$ legacy-receipts serve --store sqlite:purchases.sqlite\n'
"$command" serve --port 0 --store "sqlite:$output/purchases.sqlite" --set admin.enabled=false \
    --set trust.roots=LegacyFixtures/trust/root.der 2>"$output/log" &
server=$!
trap 'kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; rm -rf "$output"' EXIT
port=
for _ in $(seq 100); do
    port=$(sed -n '/"listening"/s/.*"port":"\{0,1\}\([0-9]*\).*/\1/p' "$output/log" | head -n 1)
    [ -n "$port" ] && break
    kill -0 "$server" || { cat "$output/log" >&2; exit 1; }
    sleep 0.1
done

# ask PATH FILE: sends the receipt in FILE as an old client does.
ask() {
    printf '\n$ curl --data "{\"receipt-data\": \"$(head -c 12 "$2")…\"}" http://127.0.0.1:8080%s    # %s\n' "$1" "$2"
    tr -d '\n' <"$2" | { printf '{"receipt-data":"'; cat; printf '"}'; } |
        curl --fail --silent --show-error --data @- "http://127.0.0.1:$port$1" |
        sed -E 's/("latest_receipt":"[^"]{12})[^"]*"/\1…"/'
    echo
}
ask /verifyReceipt LegacyFixtures/auto-renewable/receipt.b64
ask /verifyReceipt LegacyFixtures/sandbox-sha256/receipt.b64
