#!/usr/bin/env bash
# Replaces the binary in a Spark job. It kills each of these processes once: the filter and its Python worker in the first
# stage, and the migration and the Python worker of an export in the last stage. SPARK_CHECK_KILLS is the folder with the records
# of started and killed processes.
set -euo pipefail

# Succeeds only for the first process that calls it with this name, on any number of workers.
once() { mkdir "$SPARK_CHECK_KILLS/$1" 2>/dev/null; }

case "$*" in
"migrate - --stream "*)
    echo examine >>"$SPARK_CHECK_KILLS/log"
    if once filter; then
        "$SPARK_CHECK_BINARY" "$@" | head -n 5 || true
        kill -9 $$
    fi
    if once filter-worker; then
        "$SPARK_CHECK_BINARY" "$@" | head -n 5 || true
        kill -9 "$PPID"
    fi
    ;;
# The driver asks an empty store for the columns.
*"--expect-records 0 "* | *"--format csv "*) ;;
"migrate - --into "*)
    echo resolve >>"$SPARK_CHECK_KILLS/log"
    if once migration; then
        "$SPARK_CHECK_BINARY" "$@" &
        sleep 0.1
        kill -9 $! $$
    fi
    ;;
"export "*)
    if once export-worker; then
        "$SPARK_CHECK_BINARY" "$@" >/dev/null
        kill -9 "$PPID"
    fi
    ;;
esac
exec "$SPARK_CHECK_BINARY" "$@"
