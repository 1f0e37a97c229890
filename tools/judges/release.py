#!/usr/bin/env python3
"""Runs tools/release.sh with a built command, and checks the files that it writes.

    tools/judges/release.py PATH/TO/legacy-receipts

The binary runs. The checksums are those of the files. The bill of materials contains the binary, each package of Package.swift with the
version and commit of Package.resolved, and each library that the binary links.
"""
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def problems(folder):
    names = sorted(os.listdir(folder))
    binary = names[0]
    if names != [binary, binary + ".cdx.json", binary + ".sha256"]:
        yield f"the files are {names}"
        return
    version = subprocess.run(
        [os.path.join(folder, binary), "--version"], capture_output=True, text=True, check=True).stdout.strip()
    if not binary.startswith(f"legacy-receipts-{version}-"):
        yield f"{binary} is version {version}"

    sums = dict(reversed(line.split("  ")) for line in read(folder, binary + ".sha256").splitlines())
    expected = {name: digest(os.path.join(folder, name)) for name in names[:2]}
    if sums != expected:
        yield f"the checksums are {sums}, the files have {expected}"

    bill = json.loads(read(folder, binary + ".cdx.json"))
    main = bill["metadata"]["component"]
    if (bill["bomFormat"], main["version"]) != ("CycloneDX", version):
        yield f"the bill of materials is of {bill['bomFormat']} {main['version']}"
    if main["hashes"] != [{"alg": "SHA-256", "content": expected[binary]}]:
        yield f"the bill of materials has other hashes: {main['hashes']}"
    components = {component["name"]: component for component in bill["components"]}
    pins = {pin["identity"]: pin for pin in json.loads(read(ROOT, "Package.resolved"))["pins"]}
    declared = {url.rsplit("/", 1)[1].removesuffix(".git").lower()
                for url in re.findall(r'\.package\(\s*url: "([^"]+)"', read(ROOT, "Package.swift"))}
    for name in sorted(declared | pins.keys()):
        state = pins.get(name, {}).get("state", {})
        component = components.get(name, {})
        commits = [item["value"] for item in component.get("properties", []) if item["name"] == "commit"]
        if not state or component.get("version") != state.get("version") or commits != [state["revision"]]:
            yield f"the package {name} of {state}: {component}"

    # readelf is not the program that the bill of materials comes from.
    header = subprocess.run(
        ["readelf", "-d", os.path.join(folder, binary)], capture_output=True, text=True, check=True).stdout
    libraries = re.findall(r"\(NEEDED\).*\[(.*)\]", header)
    # As the header of tools/release.sh and Documentation/Server.md say.
    if "libc.so.6" not in libraries:
        yield f"the binary is not linked with glibc: {libraries}"
    for name in libraries:
        if name not in components:
            yield f"the library {name} is missing"


def main():
    command = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        outcome = subprocess.run(
            ["bash", os.path.join(ROOT, "tools/release.sh"), folder], env={**os.environ, "RELEASE_COMMAND": command},
            capture_output=True, text=True)
        if outcome.returncode != 0:
            sys.exit(f"tools/release.sh failed: {outcome.stdout}{outcome.stderr}")
        found = list(problems(folder))
    for problem in found:
        print(f"FAILED {problem}")
    if not found:
        print("ok     binary, checksums, bill of materials")
    sys.exit(1 if found else 0)


main()
