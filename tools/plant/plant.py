#!/usr/bin/env python3
"""Plants faults into a scratch copy of the sources, one build per fault, and lists the faults that no test detected.

    plant.py                        every fault of tools/plant/faults, each with the tests of its patch
    plant.py NAME...                these faults only
    plant.py --all NAME...          the whole suite in place of the named tests
    plant.py --together 8           groups of up to 8 faults share a build; each fault's own tests must fail
    plant.py --check                no build: every patch must name its rule and its tests, and must apply
    plant.py --list                 names and rules

A patch begins with lines of this form, followed by a diff of `git diff`:

    rule: the broken rule, in one sentence
    from: the document or table that states the rule
    file: the changed file
    test: Suite/function, a test that fails with the fault; several lines for several tests. A word after it names an
          argument with which the test must fail.

The copy has the content of the last commit. The exit status is 1 if a fault was not detected. It is 2 for an error in a patch, a
name, the build, or the tests without a fault.
"""

import argparse
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
FAULTS = ROOT / "tools" / "plant" / "faults"
HEADER = re.compile(r"^(rule|from|file|test): (.+)$")
# The output of Swift Testing for a test with arguments.
ARGUMENT = re.compile(r"recorded an issue with \d+ arguments? (.+?) at [\w+]+\.swift:")


class Problem(Exception):
    pass


class Fault:
    def __init__(self, path):
        self.path = path
        self.name = path.stem
        fields = {"rule": [], "from": [], "file": [], "test": []}
        text = path.read_text()
        for line in text.splitlines():
            if not line:
                break
            match = HEADER.match(line)
            if not match:
                raise Problem(f"{path.name}: not a line of a header: {line}")
            fields[match[1]].append(match[2].strip())
        for key in ("rule", "from", "file"):
            if len(fields[key]) != 1:
                raise Problem(f"{path.name}: the header needs one line `{key}:`")
        if not fields["test"]:
            raise Problem(f"{path.name}: the header names no test")
        changed = re.findall(r"^\+\+\+ b/(.+)$", text, re.MULTILINE)
        if changed != fields["file"]:
            raise Problem(f"{path.name}: the header names {fields['file'][0]}, the diff changes {', '.join(changed) or 'nothing'}")
        self.rule, self.source, self.file = (fields[key][0] for key in ("rule", "from", "file"))
        # With an empty argument, any failure counts.
        self.tests = [tuple((test + " ").split(" ")[:2]) for test in fields["test"]]
        if len(self.tests) > 1 and any(argument for _, argument in self.tests):
            raise Problem(f"{path.name}: a test with an argument stands alone")

    def is_apart_from(self, others):
        """Whether a failure of its tests is distinguishable from failures by the other faults."""
        theirs = {test: argument for other in others for test, argument in other.tests}
        mine = {(test, argument) for other in others for test, argument in other.tests}
        return all(
            test not in theirs or (argument and theirs[test] and (test, argument) not in mine)
            for test, argument in self.tests)

    def apply(self, folder, *options):
        """Whether the patch applies in the folder."""
        command = ["git", "-C", str(folder), "apply", *options, str(self.path)]
        return subprocess.run(command, capture_output=True, text=True)


def read_faults(names):
    faults = [Fault(path) for path in sorted(FAULTS.glob("*.patch"))]
    known = {fault.name: fault for fault in faults}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise Problem(f"no such fault: {', '.join(unknown)}")
    return [known[name] for name in names] or faults


def test_functions():
    """The names of all test functions, to find misspelled ones without a build."""
    found = set()
    for path in (ROOT / "Tests").rglob("*.swift"):
        found.update(re.findall(r"\bfunc (\w+)\s*[(<]", path.read_text()))
    return found


def check(faults):
    functions = test_functions()
    problems = []
    for fault in faults:
        result = fault.apply(ROOT, "--check")
        if result.returncode != 0:
            problems.append(f"{fault.path.name} does not apply any more:\n{result.stderr.strip()}")
        for test, _ in fault.tests:
            if test.rsplit("/", 1)[-1] not in functions:
                problems.append(f"{fault.path.name}: there is no test {test}")
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(faults)} faults, {len(problems)} problems")
    return 2 if problems else 0


def groups(faults, size, copy):
    """Groups whose patches apply on top of one another and whose tests differ."""
    left = list(faults)
    while left:
        group, later = [], []
        for fault in left:
            fits = len(group) < size and fault.is_apart_from(group) and fault.apply(copy.folder).returncode == 0
            (group if fits else later).append(fault)
        copy.restore()
        if not group:
            raise Problem(f"{left[0].path.name} does not apply")
        yield group
        left = later


class Copy:
    """The folder for planting faults."""

    def __init__(self, options):
        self.options = options
        self.is_temporary = options.checkout is None
        if self.is_temporary:
            self.parent = tempfile.mkdtemp(prefix="plant-")
            self.folder = pathlib.Path(self.parent) / "copy"
            self.git(ROOT, "worktree", "add", "--quiet", "--detach", str(self.folder), "HEAD")
        else:
            self.folder = pathlib.Path(options.checkout).resolve()
            if self.git(self.folder, "status", "--porcelain", "--untracked-files=no"):
                raise Problem(f"{self.folder} has changes; commit them first")

    @staticmethod
    def git(folder, *arguments):
        result = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True)
        if result.returncode != 0:
            raise Problem(f"git {' '.join(arguments)}: {result.stderr.strip()}")
        return result.stdout.strip()

    def plant(self, group):
        for fault in group:
            result = fault.apply(self.folder)
            if result.returncode != 0:
                raise Problem(f"{fault.path.name} does not apply: {result.stderr.strip()}")

    def restore(self):
        self.git(self.folder, "checkout", "--quiet", "--", "Sources")

    def remove(self):
        if self.is_temporary:
            subprocess.run(["git", "-C", str(ROOT), "worktree", "remove", "--force", str(self.folder)], capture_output=True)
            shutil.rmtree(self.parent, ignore_errors=True)

    def swift(self, *arguments):
        """Exit status and output. The status is None after a timeout."""
        command = shlex.split(self.options.swift) + list(arguments)
        process = subprocess.Popen(
            command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
        try:
            output, _ = process.communicate(timeout=self.options.patience)
            return process.returncode, output
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            return None, output
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise

    def build(self):
        status, output = self.swift("build", "--build-tests")
        if status != 0:
            errors = [line for line in output.splitlines() if "error:" in line][:10] or output.splitlines()[-10:]
            raise Problem("the build fails:\n" + "\n".join(errors))

    def test(self, tests):
        """Runs tests; an empty list stands for the whole suite.

        The names of those that failed, each with the arguments that it failed with; None if the run was cut short, by a
        crash or by the time limit.
        """
        names = sorted({test for test, _ in tests})
        filters = [part for name in names for part in ("--filter", name.replace("/", r".*/") + r"\(")]
        width = [] if tests else ["--experimental-maximum-parallelization-width", "24"]
        with tempfile.TemporaryDirectory(prefix="plant-") as folder:
            report = pathlib.Path(folder) / "tests.xml"
            status, output = self.swift("test", "--skip-build", "--xunit-output", str(report), *filters, *width)
            # Swift Testing writes its report next to XCTest's.
            found = report.with_name("tests-swift-testing.xml")
            if status is None or not found.exists():
                return None
            cases = xml.etree.ElementTree.parse(found).getroot().iter("testcase")
            results = [(case.get("classname", "") + "/" + case.get("name", ""), case.find("failure") is not None)
                       for case in cases]
        for name in names:
            if not any(is_named(case, name) for case, _ in results):
                raise Problem(f"there is no test {name}")
        arguments = " ".join(ARGUMENT.findall(output))
        return {case: arguments for case, has_failed in results if has_failed}


def is_named(case, test):
    """Whether a case of the report, Module.Suite.Suite/function(label:), is the test Suite/function."""
    place, _, function = case.rpartition("/")
    suite, _, name = test.rpartition("/")
    return function.split("(")[0] == name and (not suite or suite in place.split("."))


def failures(failed, fault):
    """The tests of a fault that failed; `failed` is what ``Copy.test`` returns."""
    return sorted(
        test for test, argument in fault.tests for case, arguments in failed.items()
        if is_named(case, test) and (not argument or re.search(rf"\b{re.escape(argument)}\b", arguments)))


def verdict(copy, fault, options):
    """Whether a test detected a fault that was planted alone or whose group crashed, and which test."""
    failed = copy.test([] if options.all else fault.tests)
    if failed is None:
        return "the tests did not end"
    return ", ".join(sorted(failed) if options.all else failures(failed, fault))


def run(faults, options):
    copy = Copy(options)
    unnoticed, problems = [], []
    try:
        if not options.skip_baseline:
            copy.build()
            failed = copy.test([] if options.all else [test for fault in faults for test in fault.tests])
            if failed is None or failed:
                raise Problem(f"tests fail without any fault: {', '.join(sorted(failed or ['the run was cut short']))}")
        for group in list(groups(faults, options.together or 1, copy)):
            began = time.monotonic()
            try:
                copy.plant(group)
                copy.build()
                together = None
                if len(group) > 1:
                    together = copy.test([test for fault in group for test in fault.tests])
                for fault in group:
                    if together is None:
                        found = verdict(copy, fault, options)
                    else:
                        found = ", ".join(failures(together, fault))
                    print(f"{'caught   ' if found else 'UNNOTICED'}  {fault.name}: {fault.rule} ({found or 'all passed'})", flush=True)
                    if not found:
                        unnoticed.append(fault.name)
            except Problem as problem:
                names = ", ".join(fault.name for fault in group)
                problems.append(names)
                print(f"PROBLEM    {names}: {problem}", flush=True)
            finally:
                copy.restore()
            print(f"           {len(group)} planted, {time.monotonic() - began:.0f} s", flush=True)
    finally:
        copy.remove()
    print(f"{len(faults)} faults, {len(unnoticed)} unnoticed, {len(problems)} problems")
    for name in unnoticed:
        print(f"unnoticed: {name}")
    return 2 if problems else 1 if unnoticed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="a fault, without .patch")
    parser.add_argument("--check", action="store_true", help="only check that every patch applies")
    parser.add_argument("--list", action="store_true", help="list the faults")
    parser.add_argument("--all", action="store_true", help="run the whole suite for each fault")
    parser.add_argument("--together", type=int, metavar="N", help="plant up to N independent faults in one build")
    parser.add_argument("--skip-baseline", action="store_true", help="do not run the tests without a fault first")
    parser.add_argument("--checkout", metavar="FOLDER", help="plant in this clean checkout, which may be built already")
    parser.add_argument("--swift", default="swift", metavar="COMMAND", help="the command for `build` and `test`")
    parser.add_argument("--patience", type=int, default=1200, metavar="SECONDS", help="limit of one build or test run")
    options = parser.parse_args()
    if options.together and options.all:
        parser.error("--together needs the tests of each fault: it excludes --all")
    try:
        faults = read_faults(options.names)
        if options.list:
            for fault in faults:
                print(f"{fault.name}: {fault.rule} ({fault.source})")
            return 0
        if options.check:
            return check(faults)
        return run(faults, options)
    except Problem as problem:
        print(f"plant.py: {problem}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    # SIGTERM removes the copy, like Ctrl-C.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
