#!/usr/bin/env bash
# A throw-away PostgreSQL server for the tests: its own data directory, a Unix socket and nothing on the network.
#
#   tools/postgres.sh run COMMAND…       starts a server, runs COMMAND with the variables below, removes the server
#   eval "$(tools/postgres.sh start)"    starts a server and sets the variables
#   tools/postgres.sh stop DIRECTORY     stops it (fast: open sessions are cut, transactions rolled back)
#   tools/postgres.sh crash DIRECTORY    stops it as after a power failure: the next start recovers
#   tools/postgres.sh resume DIRECTORY   starts it again
#   tools/postgres.sh freeze DIRECTORY   suspends all its processes: connections stay open without answers
#   tools/postgres.sh thaw DIRECTORY     resumes them
#   tools/postgres.sh remove DIRECTORY   stops it and deletes its data
#
# Sets LEGACY_RECEIPTS_POSTGRES (the URL), LEGACY_RECEIPTS_POSTGRES_DIRECTORY, and LEGACY_RECEIPTS_POSTGRES_SCRIPT (this
# file; tests that stop a server start their own server with it). LEGACY_RECEIPTS_POSTGRES_FSYNC=on makes commits reach
# the disk, for measurements. The tests do not need it.
set -euo pipefail
script="$(cd "$(dirname "$0")" && pwd)/$(basename "$0")"

bin=
for candidate in $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -rV) $(dirname "$(command -v initdb || true)" 2>/dev/null); do
    if [ -x "$candidate/initdb" ]; then
        bin=$candidate
        break
    fi
done
if [ -z "$bin" ]; then
    echo "No PostgreSQL server found; on Debian: apt-get install postgresql" >&2
    exit 2
fi

# The server refuses to run as root.
as_server=()
owner=$(id -un)
if [ "$(id -u)" -eq 0 ]; then
    owner=postgres
    getent passwd postgres >/dev/null || owner=nobody
    as_server=(setpriv "--reuid=$owner" "--regid=$(id -g "$owner")" --clear-groups env -u LC_ALL LANG=C HOME=/nonexistent)
fi

# The server inherits no open file of the caller. An inherited pipe or lock would stay open until the server ends.
close_inherited() {
    local descriptor
    for descriptor in /dev/fd/*; do
        descriptor=${descriptor##*/}
        # bash reads this script through 255 and closes it on exec.
        if [ "$descriptor" -gt 2 ] && [ "$descriptor" -ne 255 ]; then eval "exec $descriptor>&-"; fi
    done
}

resume() {
    (cd / && close_inherited && "${as_server[@]}" "$bin/pg_ctl" --silent --pgdata="$1/data" --log="$1/server.log" --wait --timeout=60 start) \
        >"$1/control.log" 2>&1 </dev/null || { cat "$1/control.log" "$1/server.log" >&2; return 1; }
}

stop() {
    (cd / && "${as_server[@]}" "$bin/pg_ctl" --silent --pgdata="$1/data" --mode="$2" --wait --timeout=60 stop) >/dev/null
}

create() {
    local directory
    directory=$(mktemp -d /tmp/legacy-receipts-postgres.XXXXXX)
    chmod 0755 "$directory"
    touch "$directory/control.log"
    [ ${#as_server[@]} -eq 0 ] || chown -R "$owner" "$directory"
    if ! (cd / && "${as_server[@]}" "$bin/initdb" --pgdata="$directory/data" --username=postgres --auth=trust --encoding=UTF8 \
        --locale=C --no-sync) >"$directory/initdb.log" 2>&1; then
        cat "$directory/initdb.log" >&2
        return 1
    fi
    cat >>"$directory/data/postgresql.conf" <<CONFIGURATION
listen_addresses = ''
unix_socket_directories = '$directory'
unix_socket_permissions = 0777
max_connections = 400
shared_buffers = 256MB
max_wal_size = 4GB
fsync = ${LEGACY_RECEIPTS_POSTGRES_FSYNC:-off}
CONFIGURATION
    resume "$directory" || return 1
    echo "$directory"
}

# Signals the first process before its children, so it starts no new ones meanwhile.
signal() {
    local first child
    first=$(head -n 1 "$2/data/postmaster.pid")
    kill "-$1" "$first"
    for child in $(pgrep -P "$first"); do kill "-$1" "$child" 2>/dev/null || true; done
}

remove() {
    [ -d "$1/data" ] || return 0
    # A suspended server cannot stop.
    signal CONT "$1" 2>/dev/null || true
    stop "$1" immediate 2>/dev/null || true
    rm -rf "$1"
}

variables() {
    echo "export LEGACY_RECEIPTS_POSTGRES='postgresql://postgres@/postgres?host=$1'"
    echo "export LEGACY_RECEIPTS_POSTGRES_DIRECTORY='$1'"
    echo "export LEGACY_RECEIPTS_POSTGRES_SCRIPT='$script'"
}

case "${1:-}" in
    start)
        directory=$(create)
        variables "$directory"
        ;;
    run)
        shift
        directory=$(create)
        trap 'remove "$directory"' EXIT
        eval "$(variables "$directory")"
        "$@"
        ;;
    stop) stop "$2" fast ;;
    crash) stop "$2" immediate ;;
    resume) resume "$2" ;;
    freeze) signal STOP "$2" ;;
    thaw) signal CONT "$2" ;;
    remove) remove "$2" ;;
    *)
        sed -n '2,17p' "$0" >&2
        exit 64
        ;;
esac
