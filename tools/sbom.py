#!/usr/bin/env python3
"""Prints the software bill of materials of a built command as CycloneDX 1.5 JSON: the Swift packages with the versions and commits
of Package.resolved, and the system libraries that the command loads, with their Debian or Ubuntu packages."""
import argparse
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys


def swift_packages(path):
    with open(path, encoding="utf-8") as file:
        pins = json.load(file)["pins"]
    for pin in sorted(pins, key=lambda pin: pin["identity"]):
        state, location = pin["state"], pin["location"].removesuffix(".git")
        version = state.get("version") or state["revision"]
        place = re.sub(r"^[a-z]+://([^@/]*@)?", "", location)
        purl = f"pkg:swift/{place}@{version}"
        yield {
            "type": "library", "bom-ref": purl, "name": pin["identity"], "version": version, "purl": purl,
            "externalReferences": [{"type": "vcs", "url": location}],
            "properties": [{"name": "commit", "value": state["revision"]}],
        }


def debian_package(library):
    """The package that installed a file, with its version; None without dpkg."""
    if shutil.which("dpkg-query") is None:
        return None
    for path in (library, os.path.realpath(library)):
        # If /lib is a link to /usr/lib, packages use either path for their files.
        for name in (path, path.removeprefix("/usr"), "/usr" + path):
            found = subprocess.run(["dpkg-query", "--search", name], capture_output=True, text=True)
            if found.returncode == 0:
                package = found.stdout.split(":")[0]
                version = subprocess.run(
                    ["dpkg-query", "--show", "--showformat=${Version}\n", package], capture_output=True, text=True, check=True)
                return package, version.stdout.splitlines()[0]
    return None


def system_libraries(command):
    """The libraries that the command links directly. Their own dependencies belong to their packages."""
    system = platform.freedesktop_os_release()["ID"]
    header = subprocess.run(["objdump", "-p", command], capture_output=True, text=True, check=True).stdout
    paths = dict(re.findall(
        r"^\s*(\S+) => (\S+) \(", subprocess.run(["ldd", command], capture_output=True, text=True, check=True).stdout, re.M))
    for name in sorted(re.findall(r"^\s*NEEDED\s+(\S+)$", header, re.M)):
        component = {"type": "library", "bom-ref": f"file:{name}", "name": name}
        package = debian_package(paths[name]) if name in paths else None
        if package:
            component["version"] = package[1]
            component["purl"] = f"pkg:deb/{system}/{package[0]}@{package[1]}"
        yield component


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--command", required=True, help="the built command")
    parser.add_argument("--resolved", required=True, help="Package.resolved")
    arguments = parser.parse_args()
    with open(arguments.command, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    version = subprocess.run([arguments.command, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    components = [*swift_packages(arguments.resolved), *system_libraries(arguments.command)]
    main_component = {
        "type": "application", "bom-ref": "legacy-receipts", "name": "legacy-receipts", "version": version,
        "hashes": [{"alg": "SHA-256", "content": digest}],
    }
    json.dump({
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {"component": main_component},
        "components": components,
        "dependencies": [{"ref": "legacy-receipts", "dependsOn": [component["bom-ref"] for component in components]}],
    }, sys.stdout, indent=2)
    print()


main()
