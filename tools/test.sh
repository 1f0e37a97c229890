#!/usr/bin/env bash
# Installs the requirements and runs all checks: format, documentation, tests with and without optimization, warnings as errors.
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/install.sh
install_packages libssl-dev libxml2-dev libsqlite3-dev libpq-dev libbz2-dev libzstd-dev zlib1g-dev pkg-config binutils openssl curl python3 python3-venv postgresql bzip2 zstd

export LEGACY_RECEIPTS_WARNINGS_AS_ERRORS=1
# SwiftPM passes the traits to the compiler in the order of a hash table. A fixed order keeps later runs from building all
# of our targets again.
export SWIFT_DETERMINISTIC_HASHING=1
# curl and Python would ask a proxy of the machine for the servers of the tests, which are on this machine.
export no_proxy="127.0.0.1,localhost${no_proxy:+,$no_proxy}"
export NO_PROXY="127.0.0.1,localhost${NO_PROXY:+,$NO_PROXY}"
# All tests at once need more open files and memory than a small machine has.
width=(--experimental-maximum-parallelization-width 24)
# The tests that need a database server: those with PostgreSQL in their name, and suites whose tests run on each engine. They run
# in a program of their own and fewer at once, because each takes memory for servers. They wait most of the time, so the other
# tests and a build may run beside them.
database=(--experimental-maximum-parallelization-width 8 --filter 'PostgreSQL|DatabaseSourceTests|DatabaseExportTests')

# The tests of many connections need most of a machine's open files, so nothing runs beside them in their program.
many=(--filter 'aThousandConnectionsAreServed|tenThousandSilent')

# beside NAME COMMAND…: runs a step beside those that follow. `ended NAME` waits for it and prints what it printed. The step is
# a process group, so that all of it ends with this script.
declare -A running
beside() {
    local name=$1
    shift
    mkdir -p .build
    set -m
    "$@" >".build/$name.log" 2>&1 &
    set +m
    running[$name]=$!
}
ended() {
    local status=0
    wait "${running[$1]}" || status=$?
    unset "running[$1]"
    cat ".build/$1.log"
    [ "$status" -eq 0 ] || { echo "Failed: $1, exit status $status."; return 1; }
}
# `timeout` is a group of its own, and passes the signal on.
end_all() {
    local name child
    for name in "${!running[@]}"; do
        for child in $(pgrep -P "${running[$name]}" timeout || true); do kill "$child" 2>/dev/null || true; done
        kill -- "-${running[$name]}" 2>/dev/null || true
    done
}
trap end_all EXIT

# last_in_line COMMAND…: runs a command with the processor time that others leave.
last_in_line() (
    # A shell with less priority cannot be given more.
    renice -n 15 -p "$BASHPID" >/dev/null 2>&1 || true
    "$@"
)

step() { printf '\n== %s (after %d s)\n' "$1" "$SECONDS"; }

# Runs tests with a time limit in seconds, and lists the failed tests at the end of the output. Hash tables have a random
# order in the tests, as in a released program.
tests() {
    local log limit=$1 status=0
    log=$(mktemp .build/tests.XXXXXX)
    shift
    env -u SWIFT_DETERMINISTIC_HASHING timeout --kill-after=30 "$limit" "$@" 2>&1 | tee "$log" || status=$?
    [ "$status" -ne 0 ] || { rm "$log"; return 0; }
    step "Failed"
    if [ "$status" -ge 124 ]; then
        echo "The tests did not end within $limit seconds. Those that had not ended:"
        python3 tools/unended_tests.py "$log"
    fi
    grep -aE '✘|recorded an issue|error:' "$log" | cut -c1-400 | tail -n 100
    return 1
}

format() { git ls-files -z '*.swift' | xargs -0 swift format lint --strict --configuration .swift-format; }
beside format format

step "Rooms"
python3 tools/rooms

step "Planted faults still apply"
python3 tools/plant/plant.py --check

step "Packages from PyPI for the outside checks"
venv=.build/judges
[ -x "$venv/bin/pip" ] || python3 -m venv --clear "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check -r tools/judges/requirements.txt
export LEGACY_RECEIPTS_PYTHON="$PWD/$venv/bin/python3"

# The packages are compiled once, as for a release, for both runs of the tests. For the first run, our own targets are compiled
# as in debug: not optimized, with assertions.
unoptimized() { LEGACY_RECEIPTS_UNOPTIMIZED=1 "$@"; }
binaries=$(swift build -c release --show-bin-path)

step "Build, not optimized"
beside minimal bash tools/minimal.sh
unoptimized build -c release --build-tests

step "Format, and what one library alone fetches"
ended format
ended minimal

# The optimized libraries are compiled while the tests run. Both would have to wait otherwise: a test for its own time limits and
# servers, a module for those it needs. So the tests are first in line for the processors. The compiler replaces the programs, so
# the tests use copies, which find each other in their folder.
copies=$PWD/.build/unoptimized
mkdir -p "$copies"
# A program that an interrupted run has left may still run, and cannot be overwritten.
cp --remove-destination "$binaries"/legacy-receipts{,-fixtures,-store-loader,PackageTests.xctest} "$copies"
bundle=$copies/legacy-receiptsPackageTests.xctest
unoptimized_tests() {
    tests 1800 "$bundle" --testing-library swift-testing "${width[@]}"
    LEGACY_RECEIPTS_MANY_CONNECTIONS=1 tests 300 "$bundle" --testing-library swift-testing "${many[@]}"
    DEMO_COMMAND=$copies/legacy-receipts timeout --kill-after=30 300 bash tools/demo.sh
}
unoptimized_database() {
    tests 1200 bash tools/postgres.sh run "$bundle" --testing-library swift-testing "${database[@]}"
}
beside unoptimized unoptimized_tests
beside unoptimized_database unoptimized_database

step "Build of the command, optimized, beside the tests"
touch .build/optimized.begin
last_in_line build -c release --product legacy-receipts

command=$PWD/.build/optimized/legacy-receipts
mkdir -p "$(dirname "$command")"
cp --remove-destination "$binaries/legacy-receipts" "$command"

# outside_check NAME COMMAND…: a check of the command by another program, with a time limit. Each takes a few minutes on an idle
# machine, and three times as long on a slow one.
outside_check() {
    local name=$1 limit=900 status=0
    shift
    step "$name"
    timeout --kill-after=30 "$limit" "$@" || status=$?
    if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then echo "The step '$name' did not end within $limit seconds."; fi
    return "$status"
}

# Other programs check the command: browsers, promtool, Spark, and programs of this repository that start it.
outside_checks() {
    outside_check "Demonstration, optimized" env DEMO_COMMAND="$command" bash -c 'bash tools/demo.sh >/dev/null'
    outside_check "Files of a release" python3 tools/judges/release.py "$command"
    outside_check "The weekend of MIGRATION.md" python3 tools/judges/guide.py "$command"
    outside_check "Runbook" python3 tools/judges/runbook.py "$command"
    outside_check "Alerts" bash tools/judges/alerts.sh
    if command -v chromium >/dev/null || outside_check "Installation of Chromium" bash -c 'source tools/install.sh; install_packages chromium'; then
        outside_check "Report in Chromium" bash tools/judges/report_page.sh "$command"
        outside_check "Inspector in Chromium" python3 tools/judges/inspector_page.py "$command"
    else
        echo "NOT RUN: this system has no package chromium."
    fi
    outside_check "Spark" bash tools/judges/spark.sh "$command"
    step "End of the outside checks"
}
server_checks() {
    outside_check "Outside checks of the server" bash tools/judges/server.sh "$command"
    outside_check "Unmodified clients from PyPI" env CLIENT_CHECKS_COMMAND="$command" bash tools/judges/clients/run.sh
    step "End of the outside checks of the server"
}

# The outside checks wait for servers, browsers and Java most of the time. So they run beside the compiler and the tests.
beside outside_checks outside_checks
beside server_checks server_checks

step "Build of what only the tests use, optimized"
last_in_line build -c release --product legacy-receipts-store-loader
for target in TransactionStoreConformance TestSupport; do last_in_line build -c release --target "$target"; done

step "Tests, not optimized, and on PostgreSQL, and the demonstration"
ended unoptimized_database
ended unoptimized

step "Tests, linked with the optimized libraries"
# Their own code is never optimized, so it is not compiled again.
python3 tools/link_tests.py "$binaries" .build/optimized.begin
documents() { DOCUMENTED_BUILD=$binaries bash tools/docs.sh; }
beside documents documents

# Not with `swift test`, which waits until another one has ended.
optimized_database() {
    tests 1200 bash tools/postgres.sh run "$binaries/legacy-receiptsPackageTests.xctest" --testing-library swift-testing \
        "${database[@]}"
}
beside optimized_database optimized_database
released=0
tests 1500 swift test -c release --skip-build "${width[@]}" || released=1
ended optimized_database || released=1

step "Documentation, and outside checks of the command"
checked=0
ended documents || checked=1
ended outside_checks || checked=1
ended server_checks || checked=1
[ "$released" -eq 0 ] && [ "$checked" -eq 0 ] || { echo "Failed: tests $released, outside checks $checked."; exit 1; }
LEGACY_RECEIPTS_MANY_CONNECTIONS=1 tests 300 swift test -c release --skip-build "${many[@]}"

# Last, because SwiftPM removes the packages from .build that the benchmark does not need.
step "Benchmark compiles"
cp Package.resolved tools/benchmark/Package.resolved
build -c release --package-path tools/benchmark --scratch-path .build
step "End"
