#!/usr/bin/env python3
"""Links the tests again, with libraries that were compiled since.

CI compiles the tests once. Their own code is never optimized, so the same objects are linked with the unoptimized libraries and,
when those are compiled with optimization, once more with these. The link is SwiftPM's own command from its build manifest.

usage: link_tests.py BUILD_FOLDER BEGIN

BUILD_FOLDER is the folder of the products, as `swift build --show-bin-path` prints it. BEGIN is a file that was written before the
compilation of the optimized libraries: every object of a library must be newer, or nothing is linked.
"""
import json
import os
import subprocess
import sys


def link_command(folder):
    """The arguments of the command that links the test bundle."""
    triple, configuration = os.path.split(folder.rstrip("/"))
    manifest = os.path.join(os.path.dirname(triple), configuration + ".yaml")
    bundle = os.path.join(folder, "legacy-receiptsPackageTests.xctest")
    with open(manifest) as lines:
        outputs = None
        for line in lines:
            line = line.strip()
            if line.startswith("outputs: "):
                outputs = json.loads(line[len("outputs: "):])
            elif line.startswith("args: ") and outputs == [bundle]:
                return json.loads(line[len("args: "):])
    sys.exit(f"{manifest} has no command that links {bundle}.")


def objects(arguments):
    for argument in arguments:
        if argument.startswith("@"):
            with open(argument[1:]) as names:
                for name in names:
                    yield name.strip().strip("'\"")
        elif argument.endswith(".o"):
            yield argument


def libraries(package):
    """The modules that are compiled with optimization: the libraries, and what the tests ask whether they are."""
    return {name.replace("-", "_") for name in os.listdir(os.path.join(package, "Sources"))} | {"TestSupport"}


def main():
    folder, begin = sys.argv[1:]
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    since = os.path.getmtime(begin)
    wanted = libraries(package)
    arguments = link_command(folder)
    found, old = set(), set()
    for path in objects(arguments):
        module = os.path.basename(os.path.dirname(path)).removesuffix(".build").replace("-", "_")
        if module in wanted:
            found.add(module)
            if os.path.getmtime(path) <= since:
                old.add(module)
    if not found or old:
        sys.exit(f"Not compiled with optimization: {', '.join(sorted(old)) or 'no library was found'}.")
    print(f"Linking the tests with the optimized {', '.join(sorted(found))}.")
    subprocess.run(arguments, check=True)


main()
