#!/usr/bin/env python3
"""Causes each failure of Documentation/RUNBOOK.md in a running server, and fixes it with the steps of the page.

    tools/judges/runbook.py PATH/TO/legacy-receipts [SECTION…]

Every expression and log line under "Symptom" of a section must hold during the failure, and every one under "Back to normal"
after the fix. A log line begins with the first code of its item and has the fields of the other codes, `name` or `name: value`.
A section without a scenario here fails. Needs PostgreSQL's programs and openssl.
"""
import contextlib
import json
import os
import re
import resource
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PATIENCE = 60
BUNDLE = "com.example.orchard"
PRODUCT = "com.example.orchard.premium.monthly"


class Failure(Exception):
    pass


def wait_for(what, check, patience=PATIENCE):
    end = time.monotonic() + patience
    while True:
        result = check()
        if result:
            return result
        if time.monotonic() > end:
            raise Failure(f"timed out after {patience} s: {what}")
        time.sleep(0.2)


def get(url, data=None, method=None, context=None):
    request = urllib.request.Request(url, data=data, method=method)
    try:
        with urllib.request.urlopen(request, timeout=2 * PATIENCE, context=context) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


class Process:
    """A command with a log. It is stopped at the end."""

    def __init__(self, binary, arguments, log, environment=None):
        self.log_path = log
        with open(log, "ab") as file:
            self.process = subprocess.Popen(
                [binary, *arguments], stdout=file, stderr=file, cwd=os.path.dirname(log),
                env={**os.environ, **(environment or {})})

    def text(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def events(self):
        """The lines of the log; a line that is not JSON is a message without fields."""
        for line in self.text().splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                yield {"message": line}

    def logs(self, message, *fields):
        """The events whose message begins like this and that have the fields, `name` or `name: value`."""
        def has(event, field):
            name, _, value = field.partition(": ")
            return name in event and value in ("", json.dumps(event[name]), event[name])

        return [event for event in self.events()
                if event["message"].startswith(message) and all(has(event, field) for field in fields)]

    def shows(self, expressions, messages):
        for expression in expressions:
            wait_for(f"`{expression}`", lambda: self.holds(expression))
        for line in messages:
            wait_for(f"the log line {line}", lambda: self.logs(*line))

    def suspend(self):
        """Returns when all threads are stopped."""
        self.process.send_signal(signal.SIGSTOP)
        os.waitpid(self.process.pid, os.WUNTRACED)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


class Shop(Process):
    """The local App Store. Its clock stands still except for a renewal, so it renews and refunds nothing by itself."""

    def __init__(self, binary, folder, name, *options):
        arguments = ["sandbox", "--port", "0", "--products", os.path.join(ROOT, "LegacyFixtures/products.yaml"),
                     "--bundle-id", BUNDLE, "--root-out", os.path.join(folder, name + ".pem"), "--clock", "stepped", *options]
        super().__init__(binary, arguments, os.path.join(folder, name + ".log"))
        self.address = wait_for("the local App Store listens", lambda: self.listening()).group(1)
        self.customers = 0

    def listening(self):
        if self.process.poll() is not None:
            raise Failure(self.text())
        return re.search(r"listens at (http:[^ ]*)\.$", self.text(), re.M)

    def call(self, method, path, value=None):
        data = None if value is None else json.dumps(value).encode()
        status, body = get(f"{self.address}/sandbox/v1/{path}", data, method)
        if status >= 300:
            raise Failure(f"{method} {path}: {status} {body[:200]!r}")
        return json.loads(body) if body else None

    def subscription(self, customer):
        """The id of the customer's subscription, which is also that of its first transaction."""
        known = json.dumps(self.call("GET", f"customers/{customer}"))
        return re.search(r'"originalTransactionId": ?"(\d+)"', known).group(1)

    def receipt(self):
        """The receipt of a new customer who has bought a subscription."""
        self.customers += 1
        name = f"customer{self.customers}"
        self.call("POST", "purchases", {"customer": name, "productId": PRODUCT})
        return self.call("GET", f"customers/{name}/receipt")["receipt-data"]


class Server(Process):
    def __init__(self, binary, folder, name, settings, environment=None):
        self.secure_port = None
        self.asks = 0
        self.settings = settings
        self.configuration = os.path.join(folder, name + ".json")
        self.write(settings)
        super().__init__(
            binary, ["serve", "--config", self.configuration], os.path.join(folder, name + ".log"), environment)
        listeners = len(settings.get("listeners", [0])) + 1
        found = wait_for("the server listens", lambda: self.listening(listeners))
        for event in found:
            if event["role"] == "admin":
                self.admin = f"http://127.0.0.1:{event['port']}"
            elif event["tls"]:
                self.secure_port = event["port"]
            else:
                self.address = f"http://127.0.0.1:{event['port']}"

    def write(self, settings):
        with open(self.configuration, "w", encoding="utf-8") as file:
            json.dump(settings, file)
        os.chmod(self.configuration, 0o600)

    def reload(self, **more):
        """Changes settings without a restart."""
        def reloads():
            return sum(event["message"] == "configuration reloaded" for event in self.events())

        before = reloads()
        self.settings = {**self.settings, **more}
        self.write(self.settings)
        self.process.send_signal(signal.SIGHUP)
        wait_for("the reload", lambda: reloads() > before)
        expect(not self.logs("these changes need a restart"), "the reload applies every change")

    def listening(self, count):
        found = [event for event in self.events() if event["message"] == "listening"]
        if self.process.poll() is not None:
            raise Failure(self.text())
        return found if len(found) == count else None

    def ask(self, receipt, password=None):
        """The reply."""
        self.asks += 1
        body = {"receipt-data": receipt}
        if password:
            body["password"] = password
        return json.loads(get(self.address + "/sandbox/verifyReceipt", json.dumps(body).encode())[1])

    def metrics(self):
        return get(self.admin + "/metrics")[1].decode()

    def holds(self, expression):
        """Whether the sum of the series satisfies a comparison such as `name{label="value"} > 0`."""
        match = re.fullmatch(r"(\w+)(?:\{(.*)\})?( - time\(\))? (==|>|<) ([0-9.]+)", expression)
        if not match:
            raise Failure(f"unsupported expression: {expression}")
        name, labels, since, operator, bound = match.groups()
        wanted = set(re.findall(r'\w+="[^"]*"', labels or ""))
        values = [
            float(line.rsplit(" ", 1)[1]) for line in self.metrics().splitlines()
            if re.match(name + r"[ {]", line) and wanted <= set(re.findall(r'\w+="[^"]*"', line))]
        if not values:
            return False
        value = sum(values) - (time.time() if since else 0)
        return {"==": value == float(bound), ">": value > float(bound), "<": value < float(bound)}[operator]


class PostgreSQL:
    def __init__(self):
        script = os.path.join(ROOT, "tools/postgres.sh")
        output = subprocess.run(["bash", script, "start"], capture_output=True, text=True, check=True).stdout
        values = dict(re.findall(r"^export (\w+)='(.*)'$", output, re.M))
        self.url, self.directory, self.script = (
            values["LEGACY_RECEIPTS_POSTGRES"], values["LEGACY_RECEIPTS_POSTGRES_DIRECTORY"], script)

    def control(self, command):
        subprocess.run(["bash", self.script, command, self.directory], check=True, capture_output=True)

    def query(self, sql):
        """The rows, without a header."""
        return subprocess.run(
            ["psql", self.url, "-XAtqc", sql], check=True, capture_output=True, text=True, timeout=60).stdout.split("\n")[:-1]

    def stop(self):
        with contextlib.suppress(subprocess.CalledProcessError):
            self.control("thaw")
        self.control("remove")


class Scene:
    """The resources of a scenario: a folder, a local App Store, and processes that are stopped at the end."""

    def __init__(self, binary, folder):
        self.binary, self.folder, self.processes = binary, folder, []
        # Like Apple's sandbox, this one sends a notification once: what a failure missed stays missing until the backfill.
        self.shop = self.keep(Shop(binary, folder, "shop", "--no-retries", "--key-out", os.path.join(folder, "key.p8")))
        self.roots = [os.path.join(folder, "shop.pem")]

    def keep(self, process):
        self.processes.append(process)
        return process

    def settings(self, **more):
        # A store that is only slow, because the machine is busy, does not hang: its answers and notifications count. Scenarios of
        # a store that hangs set `timeouts={}`, as on the page.
        return {
            "listen": {"port": 0}, "admin": {"port": 0},
            "store": {"url": "sqlite:" + os.path.join(self.folder, "store.sqlite")},
            "spool": {"path": os.path.join(self.folder, "spool.sqlite")},
            "timeouts": {"store": PATIENCE},
            "trust": {"roots": self.roots, "signed-data-roots": self.roots}, **more}

    def app(self, **more):
        return {"bundle-id": BUNDLE, **more}

    def freshness(self):
        key = {"issuer-id": "5a4db07e-0000-4000-8000-000000000001", "key-id": "SANDBOXKEY",
               "private-key-file": os.path.join(self.folder, "key.p8"), "sandbox-url": self.shop.address}
        return {"apps": [self.app()], "app-store-server": key,
                "endpoint": {"freshness": {"mode": "app-store", "maximum-age": 0}}}

    def serve(self, name="server", environment=None, **more):
        return self.keep(Server(self.binary, self.folder, name, self.settings(**more), environment))

    def run(self, *arguments, status=0):
        """What a command prints."""
        outcome = subprocess.run(
            [self.binary, *arguments], capture_output=True, text=True, timeout=120, cwd=self.folder)
        expect(outcome.returncode == status, f"{arguments}: {outcome.returncode} {outcome.stdout} {outcome.stderr}")
        return outcome.stdout + outcome.stderr

    def app_store(self, environment, server):
        """The options with which a command asks the local App Store. Commands name the option of its address differently."""
        return ["--bundle-id", BUNDLE, "--environment", environment, "--issuer-id",
                "5a4db07e-0000-4000-8000-000000000001", "--key-id", "SANDBOXKEY", "--private-key",
                os.path.join(self.folder, "key.p8"), server, self.shop.address, "--trust-root", self.roots[0]]

    def backfill(self, store):
        self.run("notifications", "backfill", "--store", store, *self.app_store("sandbox", "--server-url"))

    def enrich(self, store):
        # The answers are newer than the notifications.
        self.shop.call("POST", "clock", {"advance": 1000})
        self.run("enrich", "--store", store, *self.app_store("Sandbox", "--sandbox-url"))

    def stop(self):
        for process in reversed(self.processes):
            process.stop()


def expect(condition, what):
    if not condition:
        raise Failure(what)


def disk_full(scene, page):
    # A limit of the file size stands for a full disk. It can be removed without a restart.
    server = scene.serve()
    expect(server.ask(scene.shop.receipt())["status"] == 0, "answered before")
    size = max(os.path.getsize(os.path.join(scene.folder, name))
               for name in os.listdir(scene.folder) if ".sqlite" in name)
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    receipts = []

    def refused():
        receipts.append(scene.shop.receipt())
        return server.ask(receipts[-1])["status"] == 21005

    wait_for("21005", refused)
    server.shows(*page.symptom)
    expect(get(server.admin + "/readyz")[0] == 503, "/readyz is 503")
    # Requests are answered before there is space.
    spool = server.settings["spool"]
    server.reload(spool={**spool, "when-full": "answer"})
    expect(server.ask(scene.shop.receipt())["status"] == 0, "answered without keeping the receipt")
    wait_for("the line of a receipt that is not kept", lambda: server.logs("request", "status: 0", "notKept: true"))
    expect(get(server.admin + "/readyz")[0] == 200, "/readyz is 200 with when-full: answer")
    server.reload(spool=spool)
    expect(server.ask(receipts[-1])["status"] == 21005, "21005 as before")
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    wait_for("status 0", lambda: server.ask(receipts[-1])["status"] == 0)
    server.shows(*page.normal)


def database_away(scene, page):
    database = scene.keep(PostgreSQL())
    server = scene.serve(store={"url": database.url})
    receipt = scene.shop.receipt()
    expect(server.ask(receipt)["status"] == 0, "answered before")
    database.control("stop")
    wait_for("21005", lambda: server.ask(receipt)["status"] == 21005)
    new = scene.shop.receipt()
    expect(server.ask(new)["status"] == 21005, "21005 for a new receipt")
    server.shows(*page.symptom)
    scene.shop.call("PUT", "notifications/url", {"url": server.address + "/notifications/v2"})
    scene.shop.call("POST", f"subscriptions/{scene.shop.subscription('customer1')}/renew", {})
    server.shows(['legacy_receipts_http_responses_total{code="503"} > 0'], [])
    expect(get(server.admin + "/readyz")[0] == 503, "/readyz is 503")
    server.reload(endpoint={"when-store-fails": "receipt-only"})
    for each in receipt, new:
        expect(server.ask(each)["status"] == 0, "answered from the receipt")
    server.shows(["legacy_receipts_spool_entries > 0"], [
        ["request", "status: 0", "source: receipt", "storeFailed: true"], ["receipts go to the spool", "reason"]])
    server.reload(endpoint={})
    wait_for("21005", lambda: server.ask(receipt)["status"] == 21005)
    database.control("resume")
    wait_for("status 0", lambda: server.ask(receipt)["status"] == 0)
    server.shows(*page.normal)
    expect(len(server.ask(receipt)["latest_receipt_info"]) == 1, "the notification of the renewal is not stored")
    scene.backfill(database.url)
    wait_for("the renewal", lambda: len(server.ask(receipt)["latest_receipt_info"]) == 2)


def database_hangs(scene, page):
    database = scene.keep(PostgreSQL())
    server = scene.serve(store={"url": database.url}, timeouts={})
    receipt = scene.shop.receipt()
    wait_for("answered before", lambda: server.ask(receipt)["status"] == 0)
    database.control("freeze")
    wait_for("21005", lambda: server.ask(receipt)["status"] == 21005)
    server.shows(*page.symptom)
    server.reload(endpoint={"when-store-fails": "receipt-only"})
    expect(server.ask(receipt)["status"] == 0, "answered from the receipt")
    server.reload(endpoint={})
    database.control("thaw")
    wait_for("status 0", lambda: server.ask(receipt)["status"] == 0)
    server.shows(*page.normal)
    # A session blocks the others. The page has the query that finds it, and the one that ends it.
    find, end = re.findall(r"`(SELECT [^`]*)`", page.text)
    blocker = subprocess.Popen(
        ["psql", database.url, "-Xqc",
         "BEGIN; LOCK TABLE legacy_receipts.transactions IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(600)"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for("21005", lambda: server.ask(receipt)["status"] == 21005)
        def blocking():
            # A server waits for a hanging store only during a request.
            asking = threading.Thread(target=server.ask, args=[receipt])
            asking.start()
            rows = database.query(find)
            asking.join()
            found = [match.group(1) for row in rows if (match := re.match(r"\d+\|\{([\d,]+)\}", row))]
            return {each for group in found for each in group.split(",")}

        def ended():
            # A session can also wait for another one that waits, and the request can end before it waits.
            for process in blocking():
                database.query(end.replace("PID", process))
            return blocker.poll() is not None

        wait_for("the session that blocks is found, and has ended", ended)
    finally:
        blocker.kill()
    wait_for("status 0", lambda: server.ask(receipt)["status"] == 0)
    server.shows(*page.normal)


def spool_fills(scene, page):
    database = scene.keep(PostgreSQL())
    server = scene.serve(
        store={"url": database.url}, endpoint={"when-store-fails": "receipt-only"}, timeouts={})
    expect(server.ask(scene.shop.receipt())["status"] == 0, "answered before")
    database.control("stop")
    for _ in range(5):
        expect(server.ask(scene.shop.receipt())["status"] == 0, "answered from the receipt")
    server.shows(*page.symptom)
    database.control("resume")
    server.shows(*page.normal)
    spool_while_writers_wait(scene, page, database, server)
    spool_keeps_rejected(scene, page, database, server)


def spool_while_writers_wait(scene, page, database, server):
    def answered(*fields):
        """The lines of notifications. Each call sends one: on a busy machine, a single one can meet another answer."""
        scene.shop.receipt()
        return server.logs("request", "notificationType", *fields)

    # This lock stops writers, not readers.
    blocker = subprocess.Popen(
        ["psql", database.url, "-Xqc",
         "BEGIN; LOCK TABLE legacy_receipts.transactions IN SHARE MODE; SELECT pg_sleep(600)"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = "SELECT pg_terminate_backend(blocking) FROM pg_stat_activity, unnest(pg_blocking_pids(pid)) AS blocking"
    try:
        wait_for("receipts go to the spool", lambda: server.ask(scene.shop.receipt())["status"] == 0
                 and server.holds("legacy_receipts_spool_entries > 0"))
        server.shows([*page.symptom[0], "legacy_receipts_store_reading_hangs == 0"], page.symptom[1])
        scene.shop.call("PUT", "notifications/url", {"url": server.address + "/notifications/v2"})
        wait_for("the line of a notification that the store does not take", lambda: [
            line for line in answered("httpStatus: 503", "reason") if "timeout" in line["reason"]])

        def ended():
            # A lock shows only while a writer waits for it, which may itself wait for another one.
            database.query(end)
            return blocker.poll() is not None

        wait_for("the session that blocks is found, and has ended", ended)
    finally:
        blocker.kill()
    server.shows(*page.normal)
    wait_for("a notification is stored", lambda: answered("httpStatus: 200"))


def spool_keeps_rejected(scene, page, database, server):
    def receipts():
        return int(database.query("SELECT count(*) FROM legacy_receipts.receipts")[0])

    before = receipts()
    # The store works, and rejects each new receipt.
    database.query("ALTER TABLE legacy_receipts.receipts ADD CONSTRAINT rejection CHECK (false) NOT VALID")
    receipt = scene.shop.receipt()
    expect(server.ask(receipt)["status"] == 0, "a rejected receipt is answered")
    metric, line = re.search(r"`(\w+)` counts receipts that a working store rejects \(log: `([^`]*)`", page.text).groups()
    server.shows([f"{metric} == 1"], [[line, "receipt", "reason"]])
    database.query("ALTER TABLE legacy_receipts.receipts DROP CONSTRAINT rejection")
    # The server accepts another receipt. The rejected one is still not stored.
    expect(server.ask(scene.shop.receipt())["status"] == 0, "answered without the reason")
    wait_for("the next receipt is stored", lambda: receipts() == before + 1)
    server.shows([f"{metric} == 1"], [])
    server.stop()
    restarted = scene.serve(
        name="restarted", store=server.settings["store"], endpoint=server.settings["endpoint"], timeouts={})
    wait_for("the rejected receipt is stored", lambda: receipts() == before + 2)
    restarted.shows([*page.normal[0], f"{metric} == 0"], [])


def app_store_away(scene, page):
    server = scene.serve(**scene.freshness())
    receipt = scene.shop.receipt()
    wait_for("a query", lambda: server.ask(receipt)["status"] == 0
             and server.holds('legacy_receipts_app_store_refreshes_total{outcome="refreshed"} > 0'))
    scene.shop.suspend()
    expect("appStoreFailed" in asked(server, receipt), "answered from the store, because the App Store does not answer")
    server.shows(*page.symptom)
    # The server answers from the store and does not query.
    endpoint = server.settings["endpoint"]
    server.reload(endpoint={"freshness": {"mode": "store"}})
    line = asked(server, receipt)
    expect(line.get("source") == "store" and "appStoreFailed" not in line, f"answered from the store, not queried: {line}")
    server.reload(endpoint=endpoint)
    scene.shop.process.send_signal(signal.SIGCONT)
    asks_again(server, receipt)
    server.shows(*page.normal)
    # The App Store rejects this key as it rejects a revoked one.
    unknown = os.path.join(scene.folder, "unknown.p8")
    subprocess.run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", unknown],
                   check=True, capture_output=True)
    os.chmod(unknown, 0o600)
    key = server.settings["app-store-server"]
    server.reload(**{"app-store-server": {
        **key, "private-key-file": unknown, "production-url": scene.shop.address}})
    expect("appStoreFailed" in asked(server, receipt), "answered from the store, because the App Store rejects the key")
    trial = scene.run("serve", "--config", server.configuration, "--check", "--connect", status=1)
    expect("not accepted (401)" in trial, f"--check --connect says what is wrong: {trial}")
    server.reload(**{"app-store-server": key})
    asks_again(server, receipt)
    # Nothing listens at this address.
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        server.reload(**{"app-store-server": {**key, "sandbox-url": f"http://127.0.0.1:{silent.getsockname()[1]}"}})
        line = asked(server, receipt)
        expect({"appStoreFailed", "reason"} <= line.keys(), f"answered from the store, because nothing listens: {line}")
    server.reload(**{"app-store-server": key})
    asks_again(server, receipt)


def asked(server, receipt):
    """The line of a request with status 0. It comes after the answer, as that of the request before may."""
    expect(server.ask(receipt)["status"] == 0, "answered")
    return wait_for("the line of the request", lambda: server.logs("request", "status")[server.asks - 1:])[0]


def asks_again(server, receipt):
    """Waits until the server queries the App Store."""
    before = server.metrics()
    wait_for("a query", lambda: server.ask(receipt)["status"] == 0 and refreshed(server) > refreshed_in(before))


def refreshed_in(metrics):
    found = re.search(r'^legacy_receipts_app_store_refreshes_total\{outcome="refreshed"\} (\d+)', metrics, re.M)
    return int(found.group(1)) if found else 0


def refreshed(server):
    return refreshed_in(server.metrics())


# Adds two hours to the system's clock.
CLOCK = """
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = syscall(SYS_clock_gettime, clock, time);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += 7200;
    return result;
}
int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return 0;
}
time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}
"""


def wrong_clock(folder):
    """The environment of a process whose clock is two hours ahead."""
    source, library = os.path.join(folder, "clock.c"), os.path.join(folder, "clock.so")
    with open(source, "w", encoding="utf-8") as file:
        file.write(CLOCK)
    subprocess.run(["clang", "-shared", "-fPIC", "-o", library, source], check=True)
    return {"LD_PRELOAD": library}


def clock_wrong(scene, page):
    server = scene.serve(environment=wrong_clock(scene.folder), **scene.freshness())
    receipt = scene.shop.receipt()
    wait_for("an answer", lambda: server.ask(receipt)["status"] == 0)
    server.shows(*page.symptom)
    server.stop()
    cured = scene.serve(name="cured", **scene.freshness())
    wait_for("a query", lambda: cured.ask(receipt)["status"] == 0 and refreshed(cured) > 0)
    cured.shows(*page.normal)


def certificate_expires(scene, page):
    def certificate(days):
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
             str(days), "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout",
             os.path.join(scene.folder, "server.key"), "-out", os.path.join(scene.folder, "server.pem")],
            check=True, capture_output=True)
        os.chmod(os.path.join(scene.folder, "server.key"), 0o600)

    def expired():
        # A certificate for the same key, which expired yesterday.
        request = os.path.join(scene.folder, "server.csr")
        for arguments in (
                ["req", "-new", "-subj", "/CN=localhost", "-key", key, "-out", request],
                ["x509", "-req", "-in", request, "-signkey", key, "-days", "-1", "-out",
                 os.path.join(scene.folder, "server.pem")]):
            subprocess.run(["openssl", *arguments], check=True, capture_output=True)

    certificate(1)
    listener = {"port": 0, "tls": {"certificate": os.path.join(scene.folder, "server.pem"),
                                   "private-key": os.path.join(scene.folder, "server.key")}}
    settings = scene.settings(listeners=[{"port": 0}, listener])
    del settings["listen"]
    server = scene.keep(Server(scene.binary, scene.folder, "server", settings))
    server.shows(*page.symptom)
    key = os.path.join(scene.folder, "server.key")
    shutil.copy(key, key + ".old")
    expired()
    trial = scene.run("serve", "--config", server.configuration, "--check", "--connect", status=1)
    expect("has expired" in trial, f"--check --connect finds the expired certificate: {trial}")
    certificate(90)
    server.process.send_signal(signal.SIGHUP)
    server.shows(*page.normal)
    context = ssl.create_default_context(cafile=os.path.join(scene.folder, "server.pem"))
    expect(get(f"https://localhost:{server.secure_port}/verifyReceipt", b"{}", context=context)[0] == 200,
           "clients get the new certificate")
    shutil.copy(key + ".old", key)
    trial = scene.run("serve", "--config", server.configuration, "--check", "--connect", status=2)
    expect("server.key" in trial or "tls" in trial, f"--check --connect says that the key does not match: {trial}")


def secret_changed(scene, page):
    secrets = os.path.join(scene.folder, "secrets")

    def write(*lines):
        with open(secrets, "w", encoding="utf-8") as file:
            file.write("".join(line + "\n" for line in lines))
        os.chmod(secrets, 0o600)

    old, new = "0" * 31 + "1", "0" * 31 + "2"
    write(old)
    server = scene.serve(apps=[scene.app(**{"shared-secret-files": [secrets]})])
    receipt = scene.shop.receipt()
    expect(server.ask(receipt, old)["status"] == 0, "the old secret")
    expect(server.ask(receipt, new)["status"] == 21004, "the new secret is not known")
    server.shows(*page.symptom)
    write(new, old)
    server.process.send_signal(signal.SIGHUP)
    server.shows(*page.normal)
    expect(server.ask(receipt, new)["status"] == 0 and server.ask(receipt, old)["status"] == 0, "both secrets")
    write(new)
    server.process.send_signal(signal.SIGHUP)
    wait_for("the old secret is removed", lambda: server.ask(receipt, old)["status"] == 21004)
    # A reload without the last secret is rejected.
    server.write({**server.settings, "apps": [scene.app()]})
    server.process.send_signal(signal.SIGHUP)
    rejected = "the new configuration is invalid; the old one stays in use"
    wait_for("the rejection", lambda: any("shared-secrets" in event["error"] for event in server.logs(rejected, "error")))
    expect(server.ask(receipt, "0" * 32)["status"] == 21004, "the old secrets stay in use")
    server.stop()
    open_server = scene.serve(name="open", apps=[scene.app()])
    expect(open_server.ask(receipt, "0" * 32)["status"] == 0, "any password after a restart")


def restore(scene, page):
    server = scene.serve(apps=[scene.app()])
    scene.shop.call("PUT", "notifications/url", {"url": server.address + "/notifications/v2"})
    receipt = scene.shop.receipt()

    def transactions(server):
        return len(server.ask(receipt).get("latest_receipt_info", []))

    wait_for("the purchase", lambda: transactions(server) == 1)
    path = os.path.join(scene.folder, "store.sqlite")
    backup = os.path.join(scene.folder, "backup.sqlite")
    store = ["--store", "sqlite:" + path]

    def deliver():
        """The entries that a consumer gets. Acknowledges all of them."""
        return scene.run("ledger", "follow", *store, "--consumer", "shop", "--once", "--acknowledge-on-exit-0", "cat")

    deliver()
    positions = scene.run("ledger", "consumers", *store)
    scene.run("store", "backup", "--store", "sqlite:" + path, "--to", backup)
    # After the backup, a record is migrated, and the App Store is asked about it.
    records, user = os.path.join(scene.folder, "records.ndjson"), "user-of-customer2"
    with open(records, "w", encoding="utf-8") as file:
        json.dump({"user": user, "receipt": scene.shop.receipt()}, file)
    migrate = ["migrate", records, "--into", "sqlite:" + path, "--user-column", "user", "--trust-root", scene.roots[0]]

    def documents():
        """The kinds of documents about the purchases of the user."""
        found = json.loads(scene.run("customer", user, *store, "--json"))
        return {kind for match in found["matches"] for each in match["transactions"] for kind in each["documents"]}

    scene.run(*migrate)
    scene.enrich("sqlite:" + path)
    expect({"receipt", "appStoreServerAPI"} <= documents(), f"migrated and completed: {documents()}")
    scene.shop.call("POST", f"subscriptions/{scene.shop.subscription('customer1')}/renew", {})
    wait_for("the renewal", lambda: transactions(server) == 2)
    renewal = deliver()
    expect('"renewed"' in renewal, f"the consumer gets the renewal: {renewal}")
    expect(scene.run("ledger", "consumers", *store) != positions, "the consumer has acknowledged the renewal")
    server.stop()
    size = os.path.getsize(path)
    with open(path, "wb") as file:
        file.write(os.urandom(size))
    damaged = scene.keep(Process(
        scene.binary, ["serve", "--config", server.configuration], os.path.join(scene.folder, "damaged.log")))
    expect(damaged.process.wait(PATIENCE) != 0, "a damaged store is not opened")
    damaged.shows([], page.symptom[1][:1])
    for suffix in ("", "-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError):
            os.remove(path + suffix)
    shutil.copy(backup, path)
    scene.run("store", "check", "--store", "sqlite:" + path)
    restored = scene.serve(name="restored", apps=[scene.app()])
    expect(transactions(restored) == 1, "the backup does not have the renewal")
    restored.shows(page.symptom[0], page.symptom[1][1:])
    scene.backfill("sqlite:" + path)
    wait_for("the renewal is back", lambda: transactions(restored) == 2)
    scene.run("customer", user, *store, status=1)
    scene.run(*migrate)
    expect("receipt" in documents() and "appStoreServerAPI" not in documents(), f"migrated again: {documents()}")
    scene.enrich("sqlite:" + path)
    expect("appStoreServerAPI" in documents(), f"completed again: {documents()}")
    expect(scene.run("ledger", "consumers", *store) == positions, "the consumer has its position in the backup")
    renewal = deliver()
    expect('"renewed"' in renewal, f"the consumer gets the renewal again: {renewal}")
    restored.shows(*page.normal)
    restored.stop()
    restore_database(scene, page, receipt)


def restore_database(scene, page, receipt):
    # The commands of the page, with the database of this scene.
    database = scene.keep(PostgreSQL())
    server = scene.serve(
        name="database", store={"url": database.url}, endpoint={"when-store-fails": "receipt-only"})
    expect(server.ask(receipt)["status"] == 0, "answered before")
    # The backup has the receipt.
    server.shows(["legacy_receipts_spool_entries == 0"], [])
    dump = os.path.join(scene.folder, "backup.dump")
    scene.run("store", "backup", "--store", database.url, "--to", dump)
    before = scene.run("store", "check", "--store", database.url)
    # A receipt waits in the spool, which is kept.
    database.control("stop")
    expect(server.ask(scene.shop.receipt())["status"] == 0, "answered from the receipt")
    server.shows(["legacy_receipts_spool_entries > 0"], [])
    server.stop()
    database.control("resume")
    drop = re.search(r"psql \S+ -c '([^']*)'", page.text).group(1)
    database.query(drop)
    restore = re.search(r"`pg_restore (.*) postgres://\S+ backup\.dump`", page.text).group(1).split()
    subprocess.run(["pg_restore", *restore, database.url, dump], check=True, capture_output=True, timeout=120)
    expect(scene.run("store", "check", "--store", database.url) == before, "the backup has everything")
    server = scene.serve(name="database-restored", store={"url": database.url})
    expect(server.ask(receipt)["status"] == 0, "answered after the restore")
    server.shows(*page.normal)
    server.shows(["legacy_receipts_spool_entries == 0"], [])
    expect(scene.run("store", "check", "--store", database.url) != before, "the receipt in the spool is stored")


def consumption_requests_open(scene, page):
    rules, consents = (os.path.join(scene.folder, name) for name in ("rules.json", "consents.csv"))
    with open(rules, "w", encoding="utf-8") as file:
        json.dump({"rules": [{"answer": {"deliveryStatus": "DELIVERED", "sampleContentProvided": False}}]}, file)

    def consent(*rows):
        with open(consents + ".new", "w", encoding="utf-8") as file:
            file.write("\n".join(["transactionId,customerConsented", *rows]) + "\n")
        os.replace(consents + ".new", consents)

    # At first, the file of consents is missing.
    server = scene.serve(
        **{**scene.freshness(), "consumption": {"rules": rules, "customer-consented": consents, "interval": 1}})
    scene.shop.call("PUT", "notifications/url", {"url": server.address + "/notifications/v2"})
    transactions = []
    for _ in range(2):
        scene.shop.receipt()
        transactions.append(scene.shop.subscription(f"customer{scene.shop.customers}"))
        scene.shop.call("POST", f"transactions/{transactions[-1]}/request-refund", {"reason": "OTHER"})
    # Otherwise one is open before the server knows of the other, and again after the answer.
    server.shows(["legacy_receipts_consumption_requests_open == 2"], [])
    server.shows(page.symptom[0], page.symptom[1][:1])
    trial = scene.run("serve", "--config", server.configuration, "--check")
    expect("consumption.customer-consented" in trial, f"--check names the mistake: {trial}")
    consent()
    server.shows(page.symptom[0], page.symptom[1][1:])
    store = server.settings["store"]["url"]
    pending = ["app-store", "consumption", "--pending", "--store", store]
    listed = scene.run(*pending)
    expect(all(each in listed for each in transactions), f"--pending lists both: {listed}")
    consent(f"{transactions[0]},true")
    wait_for("one is left", lambda: server.holds("legacy_receipts_consumption_requests_open == 1"))
    tasks = json.loads(scene.run(*pending, "--json"))["tasks"]
    expect([task["transactionId"] for task in tasks] == transactions[1:], f"--pending lists the other: {tasks}")
    uuid = tasks[0]["notificationUUID"]
    scene.run("app-store", "consumption", "dismiss", uuid, "--store", store)
    server.shows(*page.normal)


def roll_back(scene, page):
    # Another server stands for Apple's endpoint and receives the client's unchanged request.
    server = scene.serve(apps=[scene.app()])
    receipt = scene.shop.receipt()
    expect(server.ask(receipt)["status"] == 0, "answered before")
    apple = scene.serve(
        name="apple", apps=[scene.app()], store={"url": "sqlite:" + os.path.join(scene.folder, "apple.sqlite")},
        spool={"path": os.path.join(scene.folder, "apple.spool")})
    expect(apple.ask(receipt)["status"] == 0, "the same request at the other address")
    server.shows(*page.symptom)
    # A recorded pair shows a refund of which the server got no notification.
    pairs = os.path.join(scene.folder, "pairs.ndjson")

    def compare(status):
        with open(pairs, "w", encoding="utf-8") as file:
            json.dump({"request": {"receipt-data": receipt}, "response": apple.ask(receipt)}, file)
        return scene.run("compare", pairs, "--config", server.configuration, "--store", server.settings["store"]["url"],
                         "--json", status=status)

    compare(0)
    # Shadow mode counts what the page names. Only our server hears of the refund of another customer.
    shadowing = scene.serve(
        name="shadowing", apps=[scene.app()], shadow={"url": apple.address + "/verifyReceipt"},
        store={"url": "sqlite:" + os.path.join(scene.folder, "shadowing.sqlite")},
        spool={"path": os.path.join(scene.folder, "shadowing.spool")})
    shadow, denied = "legacy_receipts_shadow_entitlements_total", re.search(
        r"shadow mode counts `(legacy_receipts_shadow_entitlements_total\{.*?\})`", page.text).group(1)
    other = scene.shop.receipt()
    for each in receipt, other:
        expect(shadowing.ask(each)["status"] == 0 and apple.ask(each)["status"] == 0, "both answer")
    shadowing.shows([shadow + '{granted="same"} == 2'], [])
    expect(not shadowing.holds(denied + " > 0"), "our answers and Apple's grant the same")
    scene.shop.call("PUT", "notifications/url", {"url": shadowing.address + "/notifications/v2"})
    scene.shop.call("POST", f"transactions/{scene.shop.subscription(f'customer{scene.shop.customers}')}/refund", {})
    wait_for("our answer has the refund", lambda: "cancellation_date" in json.dumps(shadowing.ask(other)))
    shadowing.shows([denied + " > 0"], [])
    scene.shop.call("PUT", "notifications/url", {"url": apple.address + "/notifications/v2"})
    scene.shop.call("POST", f"transactions/{scene.shop.subscription('customer1')}/refund", {})
    wait_for("Apple's answer has the refund", lambda: "cancellation_date" in json.dumps(apple.ask(receipt)))
    found = compare(1)
    expect('"cancelled"' in found, f"compare says why only our reply grants: {found}")
    scene.shop.call("PUT", "notifications/url", {"url": server.address + "/notifications/v2"})
    expect(server.ask(receipt)["status"] == 0, "answered after the return")
    server.shows(*page.normal)


TROUBLES = {
    "Disk full": disk_full,
    "Database away": database_away,
    "Database hangs": database_hangs,
    "Spool fills": spool_fills,
    "App Store away or hangs": app_store_away,
    "Clock wrong": clock_wrong,
    "Certificate expires": certificate_expires,
    "Shared secret changed": secret_changed,
    "Restore from a backup": restore,
    "Consumption requests stay open": consumption_requests_open,
    "Roll back to Apple": roll_back,
}


class Page:
    """A section of the page: the expressions and log lines of its two lists."""

    def __init__(self, title, text):
        self.title, self.text = title, re.sub(r"\s*\n\s*", " ", text)
        self.symptom = self.list(text, "Symptom")
        if not self.symptom[1]:
            raise Failure(f'"{title}" has no log line')
        self.normal = self.list(text, "Back to normal")

    def list(self, text, name):
        found = re.search(rf"^\*\*{name}\*\*\n\n((?:- .*\n(?:  .*\n)*)+)", text, re.M)
        if not found:
            raise Failure(f'"{self.title}" has no list "{name}"')
        items = [re.sub(r"\s*\n  ", " ", item).strip() for item in re.split(r"^- ", found.group(1), flags=re.M)]
        metrics = [re.match(r"Metric: `(.*?)`", item).group(1) for item in items if item.startswith("Metric: ")]
        messages = [re.findall(r"`(.*?)`", item) for item in items if item.startswith("Log: `")]
        return metrics, messages


terminations = []


def terminated(*_):
    # `timeout` sends the signal twice. The second one must not end the cleanup.
    terminations.append(True)
    if len(terminations) == 1:
        sys.exit("terminated")


def main():
    # At the time limit of CI. A database server that is left would run on.
    signal.signal(signal.SIGTERM, terminated)
    binary, wanted = os.path.abspath(sys.argv[1]), sys.argv[2:]
    with open(os.path.join(ROOT, "Documentation/RUNBOOK.md"), encoding="utf-8") as file:
        sections = re.split(r"^## ", file.read(), flags=re.M)[1:]
    pages = [Page(*section.split("\n", 1)) for section in sections]
    failed = sorted(set(TROUBLES) ^ {page.title for page in pages})
    for title in failed:
        print(f"FAILED {title}: the page or this program does not contain it")
    for page in pages:
        if page.title not in TROUBLES or (wanted and page.title not in wanted):
            continue
        with tempfile.TemporaryDirectory() as folder:
            scene = Scene(binary, folder)
            start = time.monotonic()
            try:
                TROUBLES[page.title](scene, page)
                print(f"ok     {page.title} ({time.monotonic() - start:.0f} s)", flush=True)
            except (Failure, OSError, subprocess.SubprocessError) as error:
                failed.append(page.title)
                print(f"FAILED {page.title}: {error}", flush=True)
                for process in scene.processes:
                    if isinstance(process, Server):
                        print(process.text()[-3000:])
            finally:
                try:
                    scene.stop()
                finally:
                    # Again, because the signal may have come meanwhile.
                    scene.stop()
    sys.exit(1 if failed else 0)


main()
