#!/usr/bin/env bash
# Installs what the tests need and passes them: format, documentation, debug and release, warnings as errors.
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/install.sh
install_packages libssl-dev libxml2-dev pkg-config openssl python3 python3-venv

export LEGACY_RECEIPTS_WARNINGS_AS_ERRORS=1

step() { printf '\n== %s\n' "$1"; }

step "Format"
git ls-files -z '*.swift' | xargs -0 swift format lint --strict --configuration .swift-format

step "Outside judges from PyPI"
venv=.build/judges
[ -x "$venv/bin/python3" ] || python3 -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check -r tools/judges/requirements.txt
export LEGACY_RECEIPTS_PYTHON="$PWD/$venv/bin/python3"

step "Tests, debug"
swift build --build-tests
swift test --skip-build

step "Documentation"
bash tools/docs.sh

step "Demonstration, release"
bash tools/demo.sh

step "Tests, release"
swift build -c release --build-tests
swift test -c release --skip-build
