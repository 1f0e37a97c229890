#!/usr/bin/env python3
"""Compares our requests, responses and enumerations of the App Store Server API with Apple's own library.

    compare_models.py < MODELS.ndjson

Each line of the input has one of these forms:

    {"model": "HistoryResponse", "value": {...}}        a class of Apple's library and our JSON for it, every member set
    {"enumeration": "PlayTime", "values": [...]}        every known value of one of Apple's enumerations
    {"errorCodes": [[4000000, "GeneralBadRequest"], ...], "retryable": [...]}

A model agrees if Apple's class accepts every member of ours and returns the same values, and if ours contains every member of
Apple's class.

Exit status: 0 all lines agree, 1 a line does not, 2 there was nothing to compare.
"""

import importlib
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from appstoreserverlibrary.api_client import APIError  # noqa: E402
from appstoreserverlibrary.models.LibraryUtility import _get_cattrs_converter  # noqa: E402
from decode_with_apple_library import Disagreement, compare, json_fields, nested_model  # noqa: E402



def model_named(name):
    return getattr(importlib.import_module(f"appstoreserverlibrary.models.{name}"), name)


def all_members(model, value, path):
    """Checks that our value has exactly the members of Apple's class, at every level."""
    fields = json_fields(model)
    if set(value) != set(fields):
        raise Disagreement(path, f"members that differ: {sorted(set(value) ^ set(fields))}")
    for name, member in value.items():
        inner = nested_model(fields[name])
        for one in member if isinstance(member, list) else [member]:
            if inner and isinstance(one, dict):
                all_members(inner, one, f"{path}.{name}")


def judge_model(name, value):
    model = model_named(name)
    all_members(model, value, name)
    converter = _get_cattrs_converter(model)
    fixed = {n: v for n, v in value.items() if n not in ("operation", "version")} if "operation" in value else value
    try:
        decoded = converter.structure(fixed, model)
    except Exception as error:
        causes = "; ".join(str(cause) for cause in getattr(error, "exceptions", [error]))
        raise Disagreement(name, f"Apple's library cannot decode it: {causes}") from error
    # Through JSON, because some of Apple's enumerations come back as objects.
    compare(value, json.loads(json.dumps(converter.unstructure(decoded))), name)


def judge_enumeration(name, values):
    module, _, cls = name.rpartition(".")
    apples = {m.value for m in getattr(importlib.import_module(f"appstoreserverlibrary.models.{module or cls}"), cls)}
    if set(values) != apples:
        raise Disagreement(name, f"values that differ: {sorted(set(values) ^ apples)}")


def judge_errors(codes, retryable):
    apples = {error.value: error.name.replace("_", "").lower().removesuffix("error") for error in APIError}
    ours = {code: name.lower() for code, name in codes}
    for code in apples.keys() | ours.keys():
        if ours.get(code) != apples.get(code):
            raise Disagreement(str(code), f"{ours.get(code)} instead of {apples.get(code)}")
    if set(retryable) != {error.value for error in APIError if "RETRYABLE" in error.name}:
        raise Disagreement("retryable", f"{retryable}")


def main():
    agreed = disagreed = 0
    for number, text in enumerate(sys.stdin, start=1):
        line = json.loads(text)
        try:
            if "model" in line:
                judge_model(line["model"], line["value"])
            elif "enumeration" in line:
                judge_enumeration(line["enumeration"], line["values"])
            else:
                judge_errors(line["errorCodes"], line["retryable"])
            agreed += 1
        except (Disagreement, ModuleNotFoundError) as error:
            disagreed += 1
            print(f"line {number}: {error}")
    print(f"agree: {agreed}; disagree: {disagreed}")
    return 1 if disagreed else 0 if agreed else 2


if __name__ == "__main__":
    sys.exit(main())
