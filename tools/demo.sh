#!/usr/bin/env bash
# Shows the main uses on the receipts in LegacyFixtures. It inspects one receipt, migrates a file of stored records into a store,
# exports the store as tables, serves it, and sends requests as an old client would. Then a local App Store sells a subscription,
# and the client sends the same old receipt after each event. Most events reach the endpoint as notifications. The last ones send
# no notification, and the endpoint finds them through the App Store Server API.
# A test authority signed these receipts, so the commands below name its root as trusted.
# DEMO_COMMAND names a built command. Without it, this script installs missing
# requirements and builds the command without optimization, which takes half the time and is fast enough for so few receipts,
# and without an index, which only editors and the tests need.
set -euo pipefail
cd "$(dirname "$0")/.."
command=${DEMO_COMMAND:-}
if [ -z "$command" ]; then
    source tools/install.sh
    install_packages libxml2-dev libsqlite3-dev libpq-dev libbz2-dev libzstd-dev zlib1g-dev pkg-config curl python3
    build --disable-index-store --product legacy-receipts
    command=$(build --show-bin-path)/legacy-receipts
fi
output=$(mktemp -d)
trap 'rm -rf "$output"' EXIT
trust=(--trust-root LegacyFixtures/trust/root.der)
# iOS 6 receipts contain no intermediate certificate, so the test authority's are passed as options.
intermediates=(--intermediate LegacyFixtures/trust/itunes-store-intermediate.der
    --intermediate LegacyFixtures/trust/developer-relations-intermediate.der)

# run COMMAND…: shows the command, runs it, and accepts exit status 1, which means that some records were not migrated.
run() {
    printf '\n$ legacy-receipts %s\n' "$*"
    "$command" "$@" || [ $? -eq 1 ]
}

run inspect "${trust[@]}" LegacyFixtures/auto-renewable/receipt.b64
run migrate LegacyFixtures/inputs/customers.ndjson --into "sqlite:$output/purchases.sqlite" \
    "${trust[@]}" "${intermediates[@]}"
run export --store "sqlite:$output/purchases.sqlite" --catalog LegacyFixtures/products.yaml --at 2024-03-15 \
    --to "$output/tables"
for table in transactions customer_users quarantine; do
    printf '\n$ head -n 1 tables/%s.ndjson\n' "$table"
    head -n 1 "$output/tables/$table.ndjson"
done

printf '\n$ legacy-receipts serve --store sqlite:purchases.sqlite\n'
"$command" serve --port 0 --store "sqlite:$output/purchases.sqlite" --set admin.enabled=false \
    --set trust.roots=LegacyFixtures/trust/root.der 2>"$output/log" &
processes=($!)
trap 'kill "${processes[@]}" 2>/dev/null || true; wait "${processes[@]}" 2>/dev/null || true; rm -rf "$output"' EXIT

# waitFor PROCESS LOG EXPRESSION: waits until the sed expression finds text in the log, and prints that text.
waitFor() {
    local found
    for _ in $(seq 600); do
        found=$(sed -n "$3" "$2" | head -n 1)
        [ -n "$found" ] && { echo "$found"; return; }
        kill -0 "$1" || break
        sleep 0.1
    done
    cat "$2" >&2
    return 1
}
listening='/"listening"/s/.*"port":"\{0,1\}\([0-9]*\).*/\1/p'
port=$(waitFor "${processes[0]}" "$output/log" "$listening")

# ask PATH FILE: sends the receipt in FILE as an old client would.
ask() {
    printf '\n$ curl --data "{\\"receipt-data\\": \\"%s…\\"}" http://127.0.0.1:8080%s    # %s\n' "$(head -c 12 "$2")" "$1" "$2"
    tr -d '\n' <"$2" | { printf '{"receipt-data":"'; cat; printf '"}'; } |
        curl --fail --silent --show-error --data @- "http://127.0.0.1:$port$1" |
        sed -E 's/("latest_receipt":"[^"]{12})[^"]*"/\1…"/'
    echo
}
ask /verifyReceipt LegacyFixtures/auto-renewable/receipt.b64
ask /verifyReceipt LegacyFixtures/sandbox-sha256/receipt.b64

# A local App Store, with an offer code for customers who come back.
cat >"$output/offers.yaml" <<'END'
version: 1
products:
  com.example.orchard.premium.monthly:
    offers: [{type: offerCode, id: SPRING, paymentMode: payUpFront, period: P1M, price: "0.99"}]
END
printf '\n$ legacy-receipts sandbox --products LegacyFixtures/products.yaml --products offers.yaml --clock stepped \\\n'
printf '    --root-out roots.pem --key-out key.p8\n'
"$command" sandbox --port 0 --products LegacyFixtures/products.yaml --products "$output/offers.yaml" \
    --bundle-id com.example.orchard --clock stepped --root-out "$output/roots.pem" --key-out "$output/key.p8" \
    >"$output/sandbox" 2>&1 &
processes+=($!)
appStore=$(waitFor "${processes[1]}" "$output/sandbox" 's/.*listens at \(http:[^ ]*\)\.$/\1/p')
shop=$appStore/sandbox/v1
printf '\n$ legacy-receipts serve --set trust.signed-data-roots=roots.pem\n'
"$command" serve --port 0 --store "sqlite:$output/story.sqlite" --set admin.enabled=false \
    --set trust.roots="$output/roots.pem" --set trust.signed-data-roots="$output/roots.pem" 2>"$output/story.log" &
processes+=($!)
server=http://127.0.0.1:$(waitFor "${processes[2]}" "$output/story.log" "$listening")

# shop METHOD PATH JSON: one request to the control API of the sandbox.
shop() { curl --fail --silent --show-error --request "$1" --data "$3" "$shop/$2"; }
# member NAME: the first text of that name in the JSON on standard input.
member() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" | head -n 1; }
# show EVENT: sends the old receipt and prints the main facts of the reply.
show() {
    printf '%-18s' "$1"
    printf '{"receipt-data":"%s"}' "$receipt" | curl --fail --silent --show-error --data @- "$server/sandbox/verifyReceipt" |
        python3 -c '
import json, sys
reply = json.load(sys.stdin)
newest, renewal = reply["latest_receipt_info"][0], reply.get("pending_renewal_info", [{}])[0]
facts = ["transactions %d" % len(reply["latest_receipt_info"])]
if "cancellation_date" in newest:
    facts.append("newest canceled")
if "offer_code_ref_name" in newest:
    facts.append("offer " + newest["offer_code_ref_name"])
facts += [key + " " + value for key, value in renewal.items() if key.startswith(("auto_renew_status", "exp", "is_in"))]
print(", ".join(facts))'
}
shop PUT notifications/url "{\"url\": \"$server/notifications/v2\"}" >/dev/null
subscription=$(shop POST purchases '{"customer": "ada", "productId": "com.example.orchard.premium.monthly"}' |
    member originalTransactionId)
receipt=$(curl --fail --silent "$shop/customers/ada/receipt" | member receipt-data)
echo
show 'bought'
shop POST "subscriptions/$subscription/renew" '{}' >/dev/null
show 'renewed'
shop POST "subscriptions/$subscription/fail-billing" '{}' >/dev/null
shop POST "subscriptions/$subscription/renew" '{}' >/dev/null
show 'billing failed'
newest=$(shop POST "subscriptions/$subscription/recover-billing" '{}' | member transactionId)
show 'billing recovered'
shop POST "transactions/$newest/refund" '{}' >/dev/null
show 'refunded'
shop POST purchases '{"customer": "ada", "productId": "com.example.orchard.premium.monthly",
    "offer": {"type": "offer-code", "identifier": "SPRING"}}' >/dev/null
show 'bought again'

# Events without a notification. The endpoint finds them when it queries the App Store Server API.
shop PUT notifications/url '{}' >/dev/null
shop POST "subscriptions/$subscription/renew" '{}' >/dev/null
shop POST "subscriptions/$subscription/cancel" '{}' >/dev/null
show 'no notification'
cat >"$output/asking.yaml" <<END
apps: [{bundle-id: com.example.orchard, freshness: {mode: app-store, maximum-age: 0}}]
app-store-server:
  issuer-id: 5a4db07e-0000-4000-8000-000000000001
  key-id: SANDBOXKEY
  private-key-file: key.p8
  sandbox-url: $appStore
trust: {roots: [roots.pem], signed-data-roots: [roots.pem]}
END
printf '\n$ legacy-receipts serve --config asking.yaml    # endpoint.freshness.mode: app-store\n'
"$command" serve --config "$output/asking.yaml" --port 0 --store "sqlite:$output/story.sqlite" \
    --set "spool.path=$output/asking.spool" --set admin.enabled=false 2>"$output/asking.log" &
processes+=($!)
server=http://127.0.0.1:$(waitFor "${processes[3]}" "$output/asking.log" "$listening")
echo
show 'API queried'
