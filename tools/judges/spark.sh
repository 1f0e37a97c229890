#!/usr/bin/env bash
# Runs tools/spark/job.py in Spark's local mode and compares its tables with the export of one machine. Takes about
# two minutes.
#
#     tools/judges/spark.sh PATH/TO/legacy-receipts
set -euo pipefail
cd "$(dirname "$0")/../.."
binary=$(realpath "$1")
source tools/install.sh
command -v java >/dev/null || install_packages openjdk-17-jre-headless

venv=.build/spark
[ -x "$venv/bin/pip" ] || python3 -m venv --clear "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check -r tools/spark/requirements.txt

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export PYSPARK_PYTHON=$PWD/$venv/bin/python3 SPARK_LOCAL_IP=127.0.0.1
"$PYSPARK_PYTHON" tools/judges/spark/compare_tables.py "$binary" "$folder"
