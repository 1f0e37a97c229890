"""Compares the tables of tools/spark/job.py with the export of one machine: spark.sh calls it with the binary and a folder."""

import collections
import csv
import json
import os
import pathlib
import random
import subprocess
import sys

from pyspark.sql import SparkSession

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools/spark"))
import job  # noqa: E402

FIXTURES = ROOT / "LegacyFixtures"
OPTIONS = ["--column", "receipt", "--user-column", "account", "--carry", "country"]
TRUST = ["--trust-root", str(FIXTURES / "trust/root.der")]
TABLES = ["--catalog", str(FIXTURES / "products.yaml"), "--at", "2024-06-01"]
PARTITIONS = 5
# The differences on a cluster that README.md lists: the places of records, and with CSV files and tables the text of
# a record.
PLACES = {"input", "line", "element", "row", "byteOffset"}
RECORD = {"sha256", "length", "original"}


def step(text):
    print(f"\n-- {text}", flush=True)


def rows():
    """Rows (account, receipt, country) in a random order: every receipt of LegacyFixtures several times, and recorded replies."""
    dice = random.Random(14)
    found = []
    for path in sorted(FIXTURES.glob("*/receipt.b64")):
        receipt = path.read_text(encoding="utf-8").strip()
        for _ in range(dice.randint(1, 3)):
            found.append((f"u-{dice.randint(1, 40)}", receipt, dice.choice(["de", "fr", ""])))
    found += [("x-1", line, "it") for line in (FIXTURES / "inputs/customers.ndjson").read_text(encoding="utf-8").splitlines()]
    for customer in range(60):
        for purchase in range(dice.randint(1, 4)):
            # A reply with the purchases of two customers. No signed document connects them.
            ids = [f"7{customer:05}{purchase % 2}", f"7{dice.randint(0, 59):05}0"][: dice.randint(1, 2)]
            found.append((f"v-{customer}", json.dumps(reply(ids)), "ü, \"quoted\"\nsecond line"))
    found += [("w-1", "", "de"), ("w-2", "NULL", "de"), ("w-3", "530009999999999", "de"), ("", "no receipt", "")]
    dice.shuffle(found)
    return found


def reply(ids):
    purchases = [
        {
            "quantity": "1", "product_id": "com.example.orchard.premium.monthly", "transaction_id": id,
            "original_transaction_id": id, "purchase_date_ms": "1609459200000", "original_purchase_date_ms": "1609459200000",
            "expires_date_ms": "1612137600000", "is_trial_period": "false",
        }
        for id in ids
    ]
    return {
        "status": 0, "environment": "Production",
        "receipt": {"bundle_id": "com.example.orchard", "request_date_ms": "1609459300000", "in_app": purchases},
    }


def write_inputs(spark, folder):
    records = rows()
    (folder / "csv").mkdir()
    for place in range(3):
        with open(folder / f"csv/{place}.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["account", "receipt", "country"])
            writer.writerows(records[place::3])
            # Rows with too few and too many fields. They must not grant a purchase.
            receipt = (FIXTURES / "auto-renewable/receipt.b64").read_text(encoding="utf-8").strip().replace("\n", "")
            writer.writerow([receipt])
            writer.writerow(["thief", receipt, "de", str(place)])
    with open(folder / "records.ndjson", "wb") as file:
        for account, receipt, country in records:
            row = {"account": account, "receipt": receipt, "country": country, "number": 12345678901234567890}
            file.write(json.dumps(row).encode() + b"\n")
        file.write(b'no JSON\n\n \t\r\n{"account":"\xff","receipt":"MII"}\n')
    # Few records have the column, so most partitions have none of them.
    with open(folder / "sparse.ndjson", "w", encoding="utf-8") as file:
        file.writelines(json.dumps({"account": f"n-{number}"}) + "\n" for number in range(20))
        file.write(json.dumps({"account": "u-1", "receipt": json.dumps(reply(["7000000"]))}) + "\n")
    spark.createDataFrame(records, "account string, receipt string, country string").repartition(3).write.parquet(
        str(folder / "parquet"))
    with open(folder / "parquet.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["account", "receipt", "country"], *records])


def check_components(spark, folder):
    """Compares the components of long chains, trees and loops with a union-find."""
    dice = random.Random(15)
    names = [dice.randint(-(2**63), 2**63 - 1) for _ in range(120)]
    pairs = [(names[i], names[i + 1]) for i in range(50)]
    pairs += [(names[i], names[dice.randint(52, 79)]) for i in range(52, 80)]
    pairs += [(names[i], names[80 + (i - 79) % 40]) for i in range(80, 120, 3)]
    edges = {(max(pair), min(pair)) for pair in pairs if pair[0] != pair[1]}
    parents = {}

    def root(name):
        while parents.setdefault(name, name) != name:
            name = parents[name]
        return name

    for pair in edges:
        roots = sorted(root(name) for name in pair)
        parents[roots[1]] = roots[0]
    expected = {name: root(name) for name in parents if root(name) != name}
    found, rounds = job.connect(
        spark.createDataFrame(sorted(edges), "id bigint, least bigint"),
        lambda frame, name: frame.localCheckpoint())
    assert {row.id: row.least for row in found.collect()} == expected
    assert found.count() == len(expected)
    print(f"{len(names)} ids, {len(set(expected.values()))} components, {rounds} rounds")


def one_machine(binary, inputs, folder, *options):
    store = f"sqlite:{folder}.sqlite"
    migration = subprocess.run(
        [binary, "migrate", *inputs, "--into", store, "--quiet", *OPTIONS, *TRUST, *options], capture_output=True, check=False)
    assert migration.returncode == 1, migration.stderr
    subprocess.run([binary, "export", "--store", store, "--to", folder, *TABLES], check=True, capture_output=True)


def spark_job(binary, folder, *options, environment=None):
    work = folder.with_suffix(".local")
    work.mkdir()
    spark = [
        # A task may fail four times.
        "spark-submit", "--master", "local[2,4]", "--driver-memory", "768m", "--conf", "spark.ui.enabled=false",
        "--conf", f"spark.local.dir={work}", "--conf", "spark.log.level=ERROR",
    ]
    command = [
        str(pathlib.Path(sys.executable).parent / spark[0]), *spark[1:], str(ROOT / "tools/spark/job.py"), "--binary", str(binary),
        "--output", str(folder), "--partitions", str(PARTITIONS), *OPTIONS, *TRUST, *TABLES, *options,
    ]
    run = subprocess.run(
        command, env={**os.environ, "TMPDIR": str(work), **(environment or {})}, capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(run.stderr[-8000:])
    print(run.stdout.strip())
    left = [path for path in work.rglob("*") if path.name.startswith("legacy-receipts-") or path.suffix == ".sqlite"]
    assert not left, left
    assert not (folder / "_work").exists()


def compare(spark, expected_folder, folder, ignored, tables=None):
    """Compares row for row, each with the same number of occurrences: all tables, or some."""
    for path in sorted(expected_folder.glob("*.ndjson")):
        if tables and path.stem not in tables:
            continue
        ignores = ignored if path.stem == "quarantine" else set()
        expected, found = collections.Counter(), collections.Counter()
        for line in path.read_text(encoding="utf-8").splitlines():
            row = {}
            for name, value in json.loads(line).items():
                is_json = isinstance(value, (dict, list))
                row[name] = json.dumps(value, ensure_ascii=False, separators=(",", ":")) if is_json else value
            expected[canonical(row, ignores)] += 1
        frame = spark.read.parquet(str(folder / path.stem))
        for row in frame.collect():
            found[canonical({name: value for name, value in row.asDict().items() if value is not None}, ignores)] += 1
        assert expected, f"{path.stem} is empty, so the comparison says nothing."
        missing, extra = expected - found, found - expected
        assert not missing and not extra, (
            f"{path.stem}: missing {list(missing)[:3]}, not of one machine {list(extra)[:3]}"[:4000])
        print(f"{path.stem}: {expected.total()} rows")
    types = dict(spark.read.parquet(str(folder / "transactions")).dtypes)
    assert (types["purchaseDate"], types["isTrialPeriod"], types["documents"]) == ("bigint", "boolean", "string"), types


def canonical(row, ignores):
    row = {name: value for name, value in row.items() if name not in ignores}
    # Its message states numbers that Spark does not have.
    if row.get("reason") == "columnCount":
        row.pop("message", None)
    return json.dumps(row, sort_keys=True)


def main():
    binary, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    spark = (
        SparkSession.builder.master("local[2]").config("spark.ui.enabled", False)
        .config("spark.ui.showConsoleProgress", False).config("spark.sql.shuffle.partitions", 2)
        .config("spark.local.dir", str(folder / "check.local")).config("spark.driver.memory", "512m").getOrCreate())
    spark.sparkContext.setLogLevel("ERROR")

    step("Components")
    check_components(spark, folder)
    write_inputs(spark, folder)

    step("A folder of CSV files, with four processes killed")
    kills = folder / "kills"
    kills.mkdir()
    one_machine(binary, sorted((folder / "csv").iterdir()), folder / "one-csv")
    spark_job(
        ROOT / "tools/judges/spark/killer.sh", folder / "spark-csv", "--input", str(folder / "csv"), "--format", "csv",
        environment={"SPARK_CHECK_BINARY": str(binary), "SPARK_CHECK_KILLS": str(kills)})
    killed = {path.name for path in kills.iterdir() if path.is_dir()}
    assert killed == {"filter", "filter-worker", "migration", "export-worker"}, killed
    runs = collections.Counter((kills / "log").read_text(encoding="utf-8").split())
    # Each partition once, and once more for each kill.
    assert runs == {"examine": PARTITIONS + 2, "resolve": PARTITIONS + 2}, runs
    compare(spark, folder / "one-csv", folder / "spark-csv", PLACES | RECORD)

    step("A Parquet folder")
    one_machine(binary, [folder / "parquet.csv"], folder / "one-parquet")
    spark_job(binary, folder / "spark-parquet", "--input", str(folder / "parquet"))
    compare(spark, folder / "one-parquet", folder / "spark-parquet", PLACES | RECORD)

    step("NDJSON, the same bytes")
    one_machine(binary, [folder / "records.ndjson"], folder / "one-ndjson")
    spark_job(binary, folder / "spark-ndjson", "--input", str(folder / "records.ndjson"), "--format", "ndjson")
    compare(spark, folder / "one-ndjson", folder / "spark-ndjson", PLACES)

    step("NDJSON with the column of the receipts in one record")
    one_machine(binary, [folder / "sparse.ndjson"], folder / "one-sparse")
    spark_job(binary, folder / "spark-sparse", "--input", str(folder / "sparse.ndjson"), "--format", "ndjson")
    compare(spark, folder / "one-sparse", folder / "spark-sparse", PLACES, {"quarantine", "transactions"})
    spark.stop()


main()
