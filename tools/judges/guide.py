#!/usr/bin/env python3
"""Runs the commands of MIGRATION.md, "A weekend on LegacyFixtures", unchanged.

    tools/judges/guide.py PATH/TO/legacy-receipts

All blocks run in one shell, in a new folder. A block must end with status 0, or with N if it contains "# exit status N". Its output
must contain the lines of the next text block, in their order. "…" as a line, or at the end of a line, stands for any text.
"""
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HEADING = "## A weekend on LegacyFixtures"
PATIENCE = 300


def blocks(text):
    """The pairs of a command block and the expected lines."""
    section = text.split(f"\n{HEADING}\n", 1)[1].split("\n## ", 1)[0]
    found = re.findall(r"^```(sh|text)\n(.*?)^```$", section, re.M | re.S)
    pairs = []
    for kind, body in found:
        if kind == "sh":
            pairs.append((body, []))
        else:
            pairs[-1] = (pairs[-1][0], body.splitlines())
    return pairs


def missing(expected, printed):
    """The first expected line that is missing or out of order; None if there is none."""
    rest = iter(printed)
    for line in expected:
        if line.strip() == "…":
            continue
        start, is_open = (line[:-1].rstrip(), True) if line.endswith("…") else (line, False)
        if not any(other.startswith(start) if is_open else other.rstrip() == start for other in rest):
            return line
    return None


def await_free(port):
    """Waits until nothing listens at a port of the guide. Another server would answer in place of the guide's."""
    end = time.monotonic() + PATIENCE
    while True:
        with socket.socket() as trial:
            if trial.connect_ex(("127.0.0.1", port)) != 0:
                return
        if time.monotonic() > end:
            sys.exit(f"Another program listens at the port {port} of MIGRATION.md.")
        time.sleep(0.1)


def stop(shell):
    """Ends the servers that the blocks started, and waits for their end."""
    end = time.monotonic() + PATIENCE
    try:
        os.killpg(shell.pid, signal.SIGTERM)
        while time.monotonic() < end:
            # A shell that has ended belongs to its group until somebody asks for its status.
            shell.poll()
            os.killpg(shell.pid, 0)
            time.sleep(0.1)
        os.killpg(shell.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


terminations = []


def terminated(*_):
    # `timeout` sends the signal twice. The second one must not end the cleanup.
    terminations.append(True)
    if len(terminations) == 1:
        sys.exit("terminated")


def main():
    # At the time limit of CI. A server that is left would answer in the next run, because the guide has a fixed port.
    signal.signal(signal.SIGTERM, terminated)
    with open(os.path.join(ROOT, "MIGRATION.md"), encoding="utf-8") as file:
        pairs = blocks(file.read())
    if len(pairs) < 5:
        sys.exit(f"MIGRATION.md has {len(pairs)} blocks under {HEADING!r}; are they still found?")
    for port in re.findall(r"--port (\d+)", "".join(commands for commands, _ in pairs)):
        await_free(int(port))
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "bin"))
        os.symlink(os.path.abspath(sys.argv[1]), os.path.join(folder, "bin/legacy-receipts"))
        os.symlink(os.path.join(ROOT, "LegacyFixtures"), os.path.join(folder, "LegacyFixtures"))
        script = "set -o pipefail\n"
        for number, (commands, _) in enumerate(pairs):
            script += f"{{\n{commands}}} >out.{number} 2>err.{number}\necho $? >status.{number}\n"
        environment = dict(os.environ, PATH=f"{folder}/bin:{os.environ['PATH']}")
        shell = subprocess.Popen(["bash", "-c", script], cwd=folder, env=environment, start_new_session=True)
        try:
            shell.wait(timeout=PATIENCE)
        finally:
            try:
                stop(shell)
            finally:
                # Again, because the signal may have come meanwhile.
                stop(shell)
        failures = 0
        for number, (commands, expected) in enumerate(pairs):
            def read(name):
                with open(os.path.join(folder, f"{name}.{number}"), encoding="utf-8") as file:
                    return file.read()
            wanted = re.search(r"# exit status (\d+)", commands)
            problem = None
            if read("status").strip() != (wanted.group(1) if wanted else "0"):
                problem = f"exit status {read('status').strip()}"
            elif (line := missing(expected, read("out").splitlines())) is not None:
                problem = f"does not print: {line}"
            print(("FAILED" if problem else "ok    ") + "  " + commands.splitlines()[0])
            if problem:
                failures += 1
                print(f"{problem}\n--- printed\n{read('out')}\n--- standard error\n{read('err')}")
        sys.exit(1 if failures else 0)


main()
