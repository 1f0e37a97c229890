#!/usr/bin/env python3
"""Prints the tests that started and did not end, from a log of `swift test`."""
import collections
import re
import sys

open_tests = collections.Counter()
with open(sys.argv[1], encoding="utf-8", errors="replace") as log:
    for line in log:
        if started := re.match(r"\W*Test (?!case |run )(.+) started\.$", line):
            open_tests[started[1]] += 1
        elif ended := re.match(r"\W*Test (?!case |run )(.+?)(?: with \d+ test cases?)? (?:passed|failed) after ", line):
            open_tests[ended[1]] -= 1
for name in sorted(name for name, count in open_tests.items() if count > 0):
    print(name)
