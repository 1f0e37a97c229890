#!/usr/bin/env bash
# Checks a running server from outside: schemathesis checks its OpenAPI description, prometheus-client its metrics,
# curl its TLS and HTTP/2. Takes about a minute.
#
#     tools/judges/server.sh PATH/TO/legacy-receipts [PYTHON]
#
# PYTHON is an interpreter with judges/server_requirements.txt. Without it, the script creates a virtual environment
# in .build.
set -euo pipefail
cd "$(dirname "$0")/../.."
binary=$1
python=${2:-}
if [ -z "$python" ]; then
    venv=.build/server-judges
    [ -x "$venv/bin/pip" ] || python3 -m venv --clear "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r tools/judges/server_requirements.txt
    python=$venv/bin/python3
fi

folder=$(mktemp -d)
server=
finish() {
    status=$?
    [ -z "$server" ] || { kill -TERM "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; }
    [ "$status" = 0 ] || tail -n 20 "$folder/log" >&2
    rm -rf "$folder"
    exit "$status"
}
trap finish EXIT

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost -keyout "$folder/key.pem" -out "$folder/certificate.pem" 2>/dev/null
chmod 600 "$folder/key.pem"
openssl rand -hex 32 >"$folder/look-up.token"
chmod 600 "$folder/look-up.token"
cat >"$folder/serve.yaml" <<YAML
listeners:
  - port: 0
  - port: 0
    tls: {certificate: certificate.pem, private-key: key.pem}
admin: {port: 0}
look-up: {enabled: true, port: 0, token-files: [look-up.token]}
store: {url: "sqlite:$folder/store.sqlite"}
YAML
"$binary" serve --config "$folder/serve.yaml" --check
"$binary" serve --config "$folder/serve.yaml" 2>"$folder/log" &
server=$!

# The system chooses the ports. The log contains them.
port_of() {
    "$python" - "$folder/log" "$1" "$2" <<'PYTHON'
import json, sys
for line in open(sys.argv[1]):
    # The server may be writing the last line.
    event = json.loads(line) if line.endswith("\n") else {"message": None}
    if event["message"] == "listening" and event["role"] == sys.argv[2] and str(event["tls"]).lower() == sys.argv[3]:
        print(event["port"])
PYTHON
}
plain= secure= admin= lookUp=
for _ in $(seq 600); do
    plain=$(port_of both false) secure=$(port_of both true) admin=$(port_of admin false) lookUp=$(port_of look-up false)
    [ -n "$plain" ] && [ -n "$secure" ] && [ -n "$admin" ] && [ -n "$lookUp" ] && break
    kill -0 "$server"
    sleep 0.1
done
if [ -z "$plain" ] || [ -z "$secure" ] || [ -z "$admin" ] || [ -z "$lookUp" ]; then
    echo "The server did not start to listen." >&2
    exit 1
fi

step() { printf '\n-- %s\n' "$1"; }

step "Health"
curl --fail --silent --show-error "http://127.0.0.1:$admin/livez" "http://127.0.0.1:$admin/readyz"

step "TLS: HTTP/2 and HTTP/1.1 (curl)"
for version in --http2 --http1.1; do
    curl --fail --silent --show-error --cacert "$folder/certificate.pem" "$version" \
        --write-out ' HTTP/%{http_version}\n' --data '{"receipt-data":"Zm9vYmFy"}' \
        "https://localhost:$secure/verifyReceipt" | tee -a "$folder/curl"
done
grep -q '21002} HTTP/2$' "$folder/curl"
grep -q '21002} HTTP/1.1$' "$folder/curl"

step "OpenAPI (schemathesis)"
curl --fail --silent "http://127.0.0.1:$admin/openapi.json" | cmp - Sources/VerifyReceiptServer/Admin/openapi.json
# check_api URL OPTION…: checks the operations that the options select. It ignores how fast schemathesis itself generates requests,
# because that says nothing about the server.
check_api() {
    timeout 600 "$python" -m schemathesis.cli run "http://127.0.0.1:$admin/openapi.json" --url "$1" --checks all \
        --no-color --seed 1 --generation-database none --workers 1 --request-timeout 60 \
        --suppress-health-check too_slow "${@:2}"
}
# Two checks are left out. They expect HTTP errors for bodies that break the schema and for other methods. verifyReceipt
# answers both with HTTP 200 and a status.
check_api "http://127.0.0.1:$plain" --exclude-path-regex '^/(v1/|$)' --max-examples 300 \
    --exclude-checks negative_data_rejection,unsupported_method

step "OpenAPI of the look-up listener (schemathesis)"
token="Authorization: Bearer $(cat "$folder/look-up.token")"
check_api "http://127.0.0.1:$lookUp" --include-path-regex '^/(v1/(customers|inspect)|$)' --max-examples 100 --header "$token"
# The check that valid requests are accepted is left out, because the app of a request must be configured.
check_api "http://127.0.0.1:$lookUp" --include-path-regex '^/v1/signatures' --max-examples 100 --header "$token" \
    --exclude-checks positive_data_acceptance

step "Metrics (prometheus-client)"
"$python" tools/judges/prometheus_text.py "http://127.0.0.1:$admin/metrics"

step "Stops when told"
kill -TERM "$server"
wait "$server"
server=
