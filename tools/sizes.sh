#!/usr/bin/env bash
# The disk space of a store, and of its exports, in bytes per record, per different receipt and per transaction: the table in
# MIGRATION.md.
#
#   swift run --package-path tools/benchmark legacy-receipts-benchmark rows --to rows --rows 20000 --customers 200
#   bash tools/postgres.sh run bash tools/sizes.sh .build/debug/legacy-receipts rows
#
# Without a server (tools/postgres.sh), PostgreSQL is left out.
set -euo pipefail
binary=$(realpath "$1") rows=$(realpath "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

migrate() { "$binary" migrate "$rows/rows.csv" --user-column user_id --quiet "$@" >summary.txt || [ $? -eq 1 ]; }
bytes() { find "$@" -type f -printf '%s\n' | awk '{ sum += $1 } END { print sum }'; }
line() { awk -v name="$1" -v bytes="$2" -v records="$records" -v receipts="$receipts" -v transactions="$transactions" \
    'BEGIN { printf "%-40s %12d %8.0f %8.0f %8.0f\n", name, bytes, bytes / records, bytes / receipts, bytes / transactions }'; }

migrate --trust-root "$rows/root.pem" --into sqlite:store.sqlite
records=$(awk '/^records read/ { print $3 }' summary.txt)
receipts=$(sqlite3 store.sqlite 'SELECT count(*) FROM verified_receipts')
transactions=$(sqlite3 store.sqlite 'SELECT count(*) FROM transactions')
printf '%d records, %d different receipts, %d transactions\n' "$records" "$receipts" "$transactions"
printf '%-40s %12s %8s %8s %8s\n' what bytes /record /receipt /transaction
line 'the dump (CSV)' "$(bytes "$rows/rows.csv")"
line 'store: SQLite' "$(bytes store.sqlite*)"
if [ -n "${LEGACY_RECEIPTS_POSTGRES:-}" ]; then
    separator='?'
    case $LEGACY_RECEIPTS_POSTGRES in *\?*) separator='&' ;; esac
    store="$LEGACY_RECEIPTS_POSTGRES${separator}schema=sizes"
    migrate --trust-root "$rows/root.pem" --into "$store"
    size() {
        psql "$LEGACY_RECEIPTS_POSTGRES" -XAtc \
            "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
             WHERE n.nspname = 'sizes' AND c.relkind = 'r'"
    }
    line 'store: PostgreSQL' "$(size)"
    psql "$LEGACY_RECEIPTS_POSTGRES" -XAtqc 'VACUUM FULL'
    line 'store: PostgreSQL after VACUUM FULL' "$(size)"
fi
for format in ndjson csv; do
    "$binary" export --store sqlite:store.sqlite --to "$format" --format "$format" >/dev/null
    line "export: files ($format)" "$(bytes "$format")"
done
"$binary" export --store sqlite:store.sqlite --to sqlite:tables.sqlite >/dev/null
line 'export: SQLite' "$(bytes tables.sqlite*)"
migrate --into sqlite:quarantine.sqlite
line 'store: SQLite, all records in quarantine' "$(bytes quarantine.sqlite*)"
