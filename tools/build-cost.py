#!/usr/bin/env python3
"""Builds the release of the command from scratch and prints the cost of each package: the processor seconds of its compilers (user
and system) and the lines of the built modules. tools/build-cost.py [SCRATCH FOLDER]"""
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCES = (".swift", ".c", ".cc", ".cpp", ".h", ".S")
WRAPPER = """#!/bin/bash
module=- before=
for argument in "$@"; do [ "$before" = {option} ] && module=$argument; before=$argument; done
exec {time} --append --output {log} --format "$module %U %S" {compiler} "$@"
"""


def wrap(folder, compiler, option, log):
    """A program that runs a compiler and appends the module and the time to a log."""
    path = os.path.join(folder, compiler)
    with open(path, "w", encoding="utf-8") as file:
        file.write(WRAPPER.format(option=option, time=shutil.which("time"), log=log, compiler=shutil.which(compiler)))
    os.chmod(path, 0o755)
    return path


def seconds_of_modules(log):
    seconds = collections.Counter()
    with open(log, encoding="utf-8") as file:
        for line in file:
            fields = line.rsplit(None, 2)
            if len(fields) != 3 or fields[0] == "-":
                continue
            # Swift's compiler receives the name of the module, C's compiler the path of the object file.
            built = re.search(r"/([^/]+)\.build/", fields[0])
            seconds[built.group(1) if built else fields[0]] += float(fields[1]) + float(fields[2])
    return seconds


def folders_of_modules(checkouts):
    folders = {}
    for package in sorted(os.listdir(checkouts)):
        for parent, children, _ in os.walk(os.path.join(checkouts, package)):
            # GRDB's sources are outside the usual folder.
            if os.path.basename(parent) == "Sources" or parent == os.path.join(checkouts, package):
                for child in children:
                    folders.setdefault(child, (package, os.path.join(parent, child)))
    # The folder of this module has another name.
    if "System" in folders:
        folders["SystemPackage"] = folders["System"]
    for module in os.listdir(os.path.join(ROOT, "Sources")):
        folders[module.replace("-", "_")] = ("legacy-receipts", os.path.join(ROOT, "Sources", module))
    return folders


def lines(folder):
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            if name.endswith(SOURCES):
                with open(os.path.join(parent, name), "rb") as file:
                    total += sum(1 for _ in file)
    return total


def main():
    if shutil.which("time") is None:
        sys.exit("GNU time is missing; on Debian: apt-get install time")
    scratch = sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log")
        environment = dict(
            os.environ, SWIFT_EXEC=wrap(folder, "swiftc", "-module-name", log), CC=wrap(folder, "clang", "-o", log))
        subprocess.run(
            ["swift", "build", "-c", "release", "--product", "legacy-receipts", "--scratch-path", scratch],
            cwd=ROOT, env=environment, check=True, stdout=sys.stderr)
        seconds = seconds_of_modules(log)
    folders = folders_of_modules(os.path.join(scratch, "checkouts"))
    packages, sizes = collections.Counter(), collections.Counter()
    for module, time in seconds.items():
        package, place = folders.get(module, (module, None))
        packages[package] += time
        sizes[package] += lines(place) if place else 0
    print("| package | seconds | lines |\n|---|---|---|")
    for package, time in packages.most_common():
        print(f"| {package} | {time:.0f} | {sizes[package]:,} |")
    print(f"| all | {sum(packages.values()):.0f} | {sum(sizes.values()):,} |")


main()
