"""Migrates stored receipts on a Spark cluster: the tables of `legacy-receipts export`, as Parquet.

    spark-submit tools/spark/job.py --input s3a://shop/receipts --format parquet --column receipt --user-column user_id \
        --binary ./legacy-receipts --output s3a://shop/purchases --partitions 400

Three stages; README.md explains them:

1. examine: `migrate --stream` on each partition gives the ids that each record states.
2. connect: records that share an id, directly or through other records, belong to one component.
3. resolve: `migrate --into` and `export` on partitions of whole components give the rows of all tables.

Every stage ends with Parquet files, which Spark's committer writes once per task. So a failed or killed task runs again without loss or duplicates.
"""

import argparse
import contextlib
import datetime
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from pyspark import SparkFiles
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

# Members of a line of `migrate --stream` that identify the customer; see `customers` in Documentation/Export.md. More ids than
# the store uses are harmless: a partition then resolves several customers together.
IDENTITIES = ("originalTransactionId", "previousOriginalTransactionId", "appTransactionId", "appAccountToken")
# Ids of zeros only, such as the nil UUID, identify nothing. The store does not use them either.
MEANINGLESS = re.compile(r"[0-]*\Z")
# For rows of a CSV file with more or fewer fields than the header.
MALFORMED = "_malformed_row"


def arguments():
    parser = argparse.ArgumentParser(description="Migrates stored receipts to Parquet tables on Spark.")
    parser.add_argument("--input", required=True, help="a path that Spark can read, or the name of a table with --format table")
    parser.add_argument(
        "--format", default="parquet", help="ndjson, table, or a data source of Spark: csv, parquet, orc, jdbc … (default: parquet)")
    parser.add_argument("--option", action="append", default=[], metavar="KEY=VALUE", help="an option of the data source")
    parser.add_argument("--select", help="comma-separated columns to read; default: all")
    parser.add_argument("--binary", required=True, help="the released legacy-receipts; Spark copies it to the workers")
    parser.add_argument("--output", required=True, help="the folder for the tables, which must not exist")
    parser.add_argument("--partitions", type=int, default=200, help="the number of partitions of each stage (default: 200)")
    parser.add_argument("--at", help="the moment of statuses and entitlements (default: now)")
    parser.add_argument("--catalog", action="append", default=[], metavar="FILE", help="a product catalog")
    both = parser.add_argument_group("options of migrate")
    both.add_argument("--column", action="append", default=[], help="a column with receipts")
    both.add_argument("--user-column", help="the column with your id of the user")
    both.add_argument("--carry", action="append", default=[], help="a column to keep with the user")
    both.add_argument("--columns-appear-later", action="store_true", help="the first records may lack a named column")
    both.add_argument("--trust-root", action="append", default=[], metavar="FILE")
    both.add_argument("--intermediate", action="append", default=[], metavar="FILE")
    both.add_argument("--accept-xcode", action="store_true")
    both.add_argument("--environment", action="append", default=[])
    both.add_argument("--bundle-id", action="append", default=[])
    both.add_argument("--signed-only", action="store_true")
    both.add_argument("--max-size", type=int)
    return parser.parse_args()


class Tool:
    """The binary and its options, as the workers need them."""

    def __init__(self, options, context, at):
        def share(path):
            context.addFile(path)
            return SharedFile(os.path.basename(path))

        shared = [options.binary, *options.trust_root, *options.intermediate, *options.catalog]
        names = [os.path.basename(path) for path in shared]
        if len(set(names)) < len(names):
            sys.exit("The binary, certificates and catalogs need different file names: Spark copies them into one folder.")

        self.binary = share(options.binary)
        # Spark runs one task on each core, so each process of the binary uses one.
        self.records = ["--jobs", "1", "--input-format", "ndjson", "--quiet"]
        for column in options.column:
            self.records += ["--column", column]
        for name in ("environment", "bundle_id"):
            for value in getattr(options, name):
                self.records += ["--" + name.replace("_", "-"), value]
        for name in ("trust_root", "intermediate"):
            for path in getattr(options, name):
                self.records += ["--" + name.replace("_", "-"), share(path)]
        if options.accept_xcode:
            self.records.append("--accept-xcode")
        if options.signed_only:
            self.records.append("--signed-only")
        if options.max_size:
            self.records += ["--max-size", str(options.max_size)]

        self.users = []
        if options.user_column:
            self.users += ["--user-column", options.user_column]
        for column in options.carry:
            self.users += ["--carry", column]

        self.tables = ["--at", at]
        for path in options.catalog:
            self.tables += ["--catalog", share(path)]

    def command(self, *words):
        return [SparkFiles.get(word.name) if isinstance(word, SharedFile) else word for word in (self.binary, *words)]

    def plan(self):
        return self.command("plan", "-", *self.records, *self.users)

    # The first records of a partition can lack a column that other partitions have. `check_columns` checks those of the input.

    def stream(self):
        return self.command("migrate", "-", "--stream", "--columns-appear-later", *self.records)

    def migrate(self, store, count):
        return self.command(
            "migrate", "-", "--into", store, "--expect-records", str(count), "--columns-appear-later", *self.records,
            *self.users)

    def export(self, store, folder, form="ndjson"):
        return self.command("export", "--store", store, "--to", folder, "--format", form, *self.tables)


class SharedFile:
    """A file that Spark has copied to each worker, under this name."""

    def __init__(self, name):
        self.name = name


# Workers


@contextlib.contextmanager
def scratch():
    """A folder that is deleted at the end of a task. If a worker is killed, Spark deletes it together with its own folders."""
    parent = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0] or None
    folder = tempfile.mkdtemp(prefix="legacy-receipts-", dir=parent)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def check(status, command, errors):
    """Exit code 1 says that records were quarantined. Anything else fails the task, and Spark runs it again."""
    if status not in (0, 1):
        with open(errors, encoding="utf-8", errors="replace") as file:
            raise RuntimeError(f"{command[1]} ended with {status}: {file.read()[-2000:]}")


def run(command, folder, records=os.devnull):
    errors = os.path.join(folder, "errors")
    with open(records, "rb") as standard_input, open(errors, "wb") as standard_error:
        status = subprocess.run(
            command, stdin=standard_input, stdout=subprocess.DEVNULL, stderr=standard_error, cwd=folder, check=False
        ).returncode
    check(status, command, errors)


def identities(line):
    """The ids of the customer in one line of `migrate --stream`, as numbers. Two ids with one number do no harm."""
    found = set()
    for name in ("transaction", "renewalInfo", "appTransaction"):
        payload = line.get(name)
        if payload is None:
            continue
        for member in IDENTITIES:
            # A transaction without an original transaction id is filed under its own id.
            value = payload.get(member) or (payload.get("transactionId") if member == "originalTransactionId" else None)
            if isinstance(value, str) and not MEANINGLESS.match(value):
                kind = "originalTransactionId" if member == "previousOriginalTransactionId" else member
                found.add(f"{kind} {value.lower()}")
        # A receipt without purchases is identified by its SHA-256.
        if name == "appTransaction" and "sha256" in line["source"]:
            found.add("receiptDigest " + line["source"]["sha256"])
    return {int.from_bytes(hashlib.blake2b(id.encode(), digest_size=8).digest(), "big", signed=True) for id in found}


def examine(tool):
    """Stage 1, for `mapPartitions`: (record, is malformed) to (record, is malformed, ids of the customer)."""

    def examined(rows):
        with scratch() as folder:
            path, errors = os.path.join(folder, "records.ndjson"), os.path.join(folder, "errors")
            count = 0
            with open(path, "wb") as file:
                for record, malformed in rows:
                    if malformed:
                        yield record, True, []
                    # A blank line is no record.
                    elif record.strip(b" \t\r"):
                        file.write(record + b"\n")
                        count += 1
            if count == 0:
                return
            command = tool.stream()
            with open(path, "rb") as standard_input, open(errors, "wb") as standard_error:
                process = subprocess.Popen(command, stdin=standard_input, stdout=subprocess.PIPE, stderr=standard_error)
            try:
                done, ids = 0, set()
                with open(path, "rb") as records:
                    # The results are in the order of the records. A line with the output `records` ends each record.
                    for text in process.stdout:
                        line = json.loads(text)
                        if line["output"] != "records":
                            ids |= identities(line)
                            continue
                        done += 1
                        if line["source"]["line"] != done:
                            raise RuntimeError(f"Expected the results of record {done}, found {line['source']['line']}.")
                        yield records.readline().removesuffix(b"\n"), False, list(ids)
                        ids = set()
                check(process.wait(), command, errors)
                if done != count:
                    raise RuntimeError(f"{count} records were written to the filter, and {done} came back.")
            finally:
                process.kill()
                process.wait()
                process.stdout.close()

    return examined


def resolve(tool, tables):
    """Stage 3, for `mapPartitions`: (record, is malformed) of whole components to (table, row as JSON)."""
    json_columns = {table: [name for name, kind in columns if kind == "JSONB"] for table, columns in tables.items()}

    def resolved(rows):
        with scratch() as folder:
            path = os.path.join(folder, "records.ndjson")
            count = malformed_rows = 0
            with open(path, "wb") as file:
                for record, malformed in rows:
                    if malformed:
                        malformed_rows += 1
                        yield "quarantine", json.dumps(column_count(bytes(record)))
                    else:
                        file.write(record + b"\n")
                        count += 1
            yield "records", json.dumps({"records": count + malformed_rows})
            if count == 0:
                return
            store = "sqlite:" + os.path.join(folder, "store.sqlite")
            run(tool.migrate(store, count), folder, path)
            os.remove(path)
            run(tool.export(store, os.path.join(folder, "tables")), folder)
            for table in tables:
                with open(os.path.join(folder, "tables", table + ".ndjson"), encoding="utf-8", newline="\n") as file:
                    for line in file:
                        row = json.loads(line)
                        if table == "quarantine":
                            # Places within a partition depend on the run and are useless to a reader.
                            for name in ("input", "line", "byteOffset"):
                                row.pop(name, None)
                        for name in json_columns[table]:
                            if name in row:
                                row[name] = json.dumps(row[name], ensure_ascii=False, separators=(",", ":"))
                        yield table, json.dumps(row)

    return resolved


def column_count(row):
    """The quarantine of a CSV row that Spark could not divide into the columns of the header."""
    return {
        "sha256": hashlib.sha256(row).hexdigest(), "reason": "columnCount", "verdict": "notAReceipt",
        "message": "The row does not have as many fields as the header.", "kind": "unrecognized",
        "length": len(row), "original": row.decode(errors="replace"),
    }


# Driver


def read(spark, options):
    """The records, as the bytes of a JSON object for each row, and whether they are a malformed row of a CSV file instead."""
    settings = dict(option.split("=", 1) for option in options.option)
    if options.format == "ndjson":
        # As bytes, because a schema would leave out members and change numbers.
        lines = spark.read.options(**{"lineSep": "\n", **settings}).text(options.input)
        return lines.select(F.col("value").cast("binary").alias("record"), F.lit(False).alias("malformed"))

    malformed = F.lit(None).cast("string")
    if options.format == "table":
        table = spark.read.table(options.input)
    elif options.format == "csv":
        # RFC 4180: a quote is doubled, and line feeds may stand in fields. Files with another header are an error.
        csv = {"header": True, "multiLine": True, "escape": '"', "enforceSchema": False, "mode": "PERMISSIVE", **settings}
        schema = spark.read.options(**csv).csv(options.input).schema
        table = spark.read.options(**csv, columnNameOfCorruptRecord=MALFORMED).csv(
            options.input, schema=schema.add(MALFORMED, "string"))
        malformed = F.col(MALFORMED)
    else:
        source = spark.read.format(options.format).options(**settings)
        table = source.load() if options.format == "jdbc" else source.load(options.input)

    names = options.select.split(",") if options.select else [name for name in table.columns if name != MALFORMED]
    columns = [F.col(f"`{name}`") for name in names]
    if options.format == "csv" and "nullValue" not in settings:
        # Spark reads empty fields as null. For `migrate` they are empty texts.
        columns = [F.coalesce(column, F.lit("")).alias(name) for name, column in zip(names, columns)]
    # Binary columns become base64. Null stays a member, as in a table.
    record = F.to_json(F.struct(*columns), {"ignoreNullFields": "false"})
    return table.select(F.coalesce(malformed, record).cast("binary").alias("record"), malformed.isNotNull().alias("malformed"))


def check_columns(tool, records):
    """Stops the job if the first records show that the name of a column is wrong."""
    first = [bytes(row.record) for row in records.where("NOT malformed").limit(100).collect()]
    with scratch() as folder:
        path = os.path.join(folder, "records.ndjson")
        with open(path, "wb") as file:
            file.writelines(record + b"\n" for record in first)
        try:
            run(tool.plan(), folder, path)
        except RuntimeError as error:
            sys.exit(str(error))


def connect(edges, save):
    """Stage 2: for each id its component, which is the smallest id that it is connected with.

    Alternates large stars and small stars (Kiveris et al., Connected Components in MapReduce and Beyond, 2014) until each id is
    connected with the smallest one alone. The rounds grow with the logarithm of the longest chain, and nothing but edges is
    held in memory. The edges lead from `id` to a smaller `least`.
    """
    rounds = 0
    while True:
        several = edges.groupBy("id").count().where("count > 1")
        inner = edges.join(edges.select(F.col("least").alias("id")), "id", "leftsemi")
        if several.isEmpty() and inner.isEmpty():
            return edges, rounds
        rounds += 1
        both = edges.union(edges.select(F.col("least").alias("id"), F.col("id").alias("least")))
        smallest = both.groupBy("id").agg(F.least(F.col("id"), F.min("least")).alias("smallest"))
        large = both.join(smallest, "id").where("least > id").select(F.col("least").alias("id"), F.col("smallest").alias("least"))
        large = save(large.distinct(), f"large-{rounds}")
        smallest = large.groupBy("id").agg(F.min("least").alias("smallest"))
        small = large.join(smallest, "id")
        edges = save(
            small.select("id", F.col("smallest").alias("least"))
            .union(small.where("least > smallest").select(F.col("least").alias("id"), F.col("smallest").alias("least")))
            .distinct(),
            f"small-{rounds}")


def table_columns(tool):
    """The columns of all tables with their types, from the script for PostgreSQL of an empty export.

    The script makes the tables with the types of the files, where dates are numbers of milliseconds.
    """
    with tempfile.TemporaryDirectory() as folder:
        store = "sqlite:" + os.path.join(folder, "store.sqlite")
        run(tool.migrate(store, 0), folder)
        run(tool.export(store, os.path.join(folder, "tables"), "csv"), folder)
        with open(os.path.join(folder, "tables", "postgresql.sql"), encoding="utf-8") as file:
            script = file.read()
    return {
        table: re.findall(r"^    (\w+) (TEXT|BIGINT|BOOLEAN|JSONB)\b", body, re.MULTILINE)
        for table, body in re.findall(r"^CREATE TABLE (\w+) \((.*?)^\);", script, re.MULTILINE | re.DOTALL)
    }


class Folder:
    """A folder of any file system that Spark can write."""

    def __init__(self, spark, path):
        self.spark, self.path = spark, path.rstrip("/")
        jvm = spark.sparkContext._jvm
        self.hadoop_path = jvm.org.apache.hadoop.fs.Path
        self.system = self.hadoop_path(self.path).getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())

    def exists(self):
        return self.system.exists(self.hadoop_path(self.path))

    def delete(self, name):
        self.system.delete(self.hadoop_path(f"{self.path}/{name}"), True)

    def save(self, frame, name, *partition_columns):
        """Writes the rows and returns them as they stand there, so that no later stage computes them again."""
        frame.write.parquet(f"{self.path}/{name}", partitionBy=list(partition_columns) or None)
        return self.spark.read.schema(frame.schema).parquet(f"{self.path}/{name}")


def main():
    options = arguments()
    at = options.at or datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    spark = (
        SparkSession.builder.appName("legacy-receipts")
        .config("spark.sql.shuffle.partitions", options.partitions)
        .config("spark.sql.session.timeZone", "UTC")
        # Otherwise the number of fields of a row would be unknown.
        .config("spark.sql.csv.parser.columnPruning.enabled", "false")
        .getOrCreate())
    tool = Tool(options, spark.sparkContext, at)
    output = Folder(spark, options.output)
    if output.exists():
        sys.exit(f"{options.output} already exists.")
    tables = table_columns(tool)
    try:
        summary = migrate(spark, options, tool, tables, output)
    finally:
        # It contains the receipts.
        output.delete("_work")
    output.system.create(output.hadoop_path(f"{output.path}/_SUCCESS")).close()
    print(json.dumps({"at": at, **summary}))
    spark.stop()


def migrate(spark, options, tool, tables, output):
    def save(frame, name, *partition_columns):
        return output.save(frame, f"_work/{name}", *partition_columns)

    records = read(spark, options)
    if not options.columns_appear_later:
        check_columns(tool, records)
    if records.rdd.getNumPartitions() < options.partitions:
        records = records.repartition(options.partitions)
    examined = save(
        spark.createDataFrame(
            records.rdd.mapPartitions(examine(tool)), "record binary, malformed boolean, ids array<bigint>",
            verifySchema=False),
        "examined")
    count = examined.count()

    anchor = F.array_min("ids")
    edges = examined.select(anchor.alias("least"), F.explode("ids").alias("id")).where("id > least")
    components, rounds = connect(save(edges.select("id", "least").distinct(), "edges"), save)

    # A record without an id has no customer. Such records are spread evenly.
    grouped = (
        examined.withColumn("id", F.coalesce(anchor, F.xxhash64("record"))).join(components, "id", "left")
        .select("record", "malformed", F.coalesce("least", "id").alias("component"))
        .repartition(options.partitions, "component").select("record", "malformed"))
    rows = save(
        spark.createDataFrame(
            grouped.rdd.mapPartitions(resolve(tool, tables)), "table string, row string", verifySchema=False),
        "rows", "table")

    resolved = rows.where("table = 'records'").select(F.from_json("row", "records bigint").records.alias("records"))
    total = resolved.agg(F.sum("records")).first()[0] or 0
    if total != count:
        raise RuntimeError(f"{count} records were examined, and {total} resolved.")

    summary = {"records": count, "rounds": rounds, "tables": {}}
    for table, columns in tables.items():
        schema = ", ".join(f"`{name}` {'string' if kind in ('TEXT', 'JSONB') else kind}" for name, kind in columns)
        typed = F.from_json("row", schema, {"mode": "FAILFAST"}).alias("row")
        written = output.save(rows.where(F.col("table") == table).select(typed).select("row.*"), table)
        summary["tables"][table] = written.count()
    return summary


if __name__ == "__main__":
    main()
