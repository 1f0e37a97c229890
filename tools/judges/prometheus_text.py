#!/usr/bin/env python3
"""Checks the text of /metrics with the parser of PyPI's prometheus-client.

    python3 prometheus_text.py http://127.0.0.1:9090/metrics

It also checks rules that the parser ignores: every family has a help text and a type, histograms are cumulative and end with
+Inf, which equals their count, and no family appears twice.

Exit status: 0 valid, 1 invalid (each fault is printed).
"""

import collections
import sys
import urllib.request

from prometheus_client.parser import text_string_to_metric_families


def faults(text):
    seen = collections.Counter()
    for family in text_string_to_metric_families(text):
        seen[family.name] += 1
        if family.type == "unknown":
            yield f"{family.name}: no type"
        if not family.documentation:
            yield f"{family.name}: no help"
        for sample in family.samples:
            if sample.value != sample.value or sample.value < 0:
                yield f"{sample.name}: {sample.value}"
        if family.type == "histogram":
            yield from histogram_faults(family)
    yield from (f"{name}: {count} times" for name, count in seen.items() if count > 1)
    if len(seen) < 10:
        yield f"only {len(seen)} families"


def histogram_faults(family):
    buckets, counts = collections.defaultdict(list), {}
    for sample in family.samples:
        labels = tuple(sorted((key, value) for key, value in sample.labels.items() if key != "le"))
        if sample.name.endswith("_bucket"):
            buckets[labels].append((float(sample.labels["le"]), sample.value))
        elif sample.name.endswith("_count"):
            counts[labels] = sample.value
    for labels, series in buckets.items():
        bounds = [bound for bound, _ in series]
        values = [value for _, value in series]
        if bounds != sorted(bounds) or bounds[-1] != float("inf"):
            yield f"{family.name}{labels}: bounds {bounds}"
        if values != sorted(values) or values[-1] != counts.get(labels):
            yield f"{family.name}{labels}: counts {values}, {counts.get(labels)}"


def main():
    with urllib.request.urlopen(sys.argv[1], timeout=10) as response:
        kind = response.headers["Content-Type"]
        text = response.read().decode("utf-8")
    found = list(faults(text))
    if not kind.startswith("text/plain; version=0.0.4"):
        found.append(f"Content-Type {kind}")
    for fault in found:
        print(fault)
    print(f"{len(text.splitlines())} lines, {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
