#!/usr/bin/env bash
# Runs unmodified PyPI clients against an endpoint that trusts LegacyFixtures/trust and knows the account secret of
# fixtures.py:
#
#   run.sh http://127.0.0.1:8080 [--presume]
#
# Without an address, it starts the command in CLIENT_CHECKS_COMMAND (default: the debug build) twice: with the defaults,
# and with the members that storekit-python and itunes-iap require in old receipts (endpoint.presume: ownership-type,
# lists).
#
# CLIENT_CHECKS_ENVIRONMENTS names a folder for the four Python environments (default: .build/clients).
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
root="$(cd "$here/../../.." && pwd)"
venvs="${CLIENT_CHECKS_ENVIRONMENTS:-$root/.build/clients}"

environment() { # NAME REQUIREMENTS
    local venv="$venvs/$1" requirements="$here/$2"
    if ! cmp -s "$requirements" "$venv/requirements"; then
        rm -rf "$venv"
        python3 -m venv "$venv"
        "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$requirements"
        cp "$requirements" "$venv/requirements"
    fi
}

check() { # URL [--presume]
    local failed=0
    "$venvs/readers/bin/python3" -W ignore "$here/check_clients.py" "$@" || failed=1
    "$venvs/storekit/bin/python3" -W ignore "$here/check_storekit.py" "$@" || failed=1
    "$venvs/django/bin/python3" -W ignore "$here/check_django.py" "$@" || failed=1
    "$venvs/forks/bin/python3" -W ignore "$here/check_forks.py" "$@" || failed=1
    return "$failed"
}

serve_and_check() { # [--presume]
    local log port pid failed=0 trust="$root/LegacyFixtures/trust"
    log="$(mktemp)"
    # shellcheck disable=SC2086
    env -i PATH="$PATH" LEGACY_RECEIPTS_ACCOUNT_SECRETS=0123456789abcdef0123456789abcdef \
        "${CLIENT_CHECKS_COMMAND:-$root/.build/debug/legacy-receipts}" serve --port 0 --store none \
        --set admin.enabled=false --set trust.roots="$trust/root.der" \
        --set trust.intermediates="$trust/itunes-store-intermediate.der,$trust/developer-relations-intermediate.der" \
        ${1:+--set endpoint.presume=ownership-type,lists} >"$log" 2>&1 &
    pid=$!
    # The log line "listening" contains the port.
    port=
    for _ in $(seq 1 150); do
        port="$(sed -n 's/.*"listening".*"port":"\{0,1\}\([0-9]*\).*/\1/p; s/.*"port":"\{0,1\}\([0-9]*\).*"listening".*/\1/p' "$log" | head -n 1)"
        [ -n "$port" ] && break
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.2
    done
    if [ -z "$port" ]; then
        echo "The server did not start:" >&2
        cat "$log" >&2
        failed=1
    else
        check "http://127.0.0.1:$port" "$@" || failed=1
    fi
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
    rm -f "$log"
    return "$failed"
}

environment readers requirements.txt
environment storekit requirements-storekit.txt
environment django requirements-django.txt
environment forks requirements-forks.txt
if [ $# -gt 0 ]; then
    check "$@"
else
    failed=0
    serve_and_check || failed=1
    serve_and_check --presume || failed=1
    exit "$failed"
fi
