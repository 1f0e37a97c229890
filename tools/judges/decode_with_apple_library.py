#!/usr/bin/env python3
"""Checks our JSON with Apple's own server library (PyPI: app-store-server-library).

    python3 -m venv venv && venv/bin/pip install -r requirements.txt
    venv/bin/python decode_with_apple_library.py FILE.ndjson

Each line of the file is one JSON object with one of these forms:

    {"transaction": {...}}       a JWSTransactionDecodedPayload
    {"renewalInfo": {...}}       a JWSRenewalInfoDecodedPayload
    {"appTransaction": {...}}    an AppTransaction
    {"notification": {...}}      a ResponseBodyV2DecodedPayload
    {"enumeration": "Environment", "values": [...]}   every known value of one of Apple's enumerations

The output lines of a migration have these forms too. The members that `migrate` writes next to a payload (provenance, source
and so on) are ignored.

A payload is decoded as in Apple's verifier after the signature check. A line agrees if every member that we wrote is a field of
Apple's model, and if encoding the decoded model gives the same members with the same values and JSON types. An enumeration
agrees if it has exactly Apple's values.

Exit status: 0 all lines agree, 1 a line does not (each is printed with its line and field), 2 the file cannot be checked.
"""

import collections
import importlib
import json
import sys
import typing

import attr
from appstoreserverlibrary.models.AppTransaction import AppTransaction
from appstoreserverlibrary.models.JWSRenewalInfoDecodedPayload import JWSRenewalInfoDecodedPayload
from appstoreserverlibrary.models.JWSTransactionDecodedPayload import JWSTransactionDecodedPayload
from appstoreserverlibrary.models.LibraryUtility import _get_cattrs_converter
from appstoreserverlibrary.models.ResponseBodyV2DecodedPayload import ResponseBodyV2DecodedPayload

MODELS = {
    "transaction": JWSTransactionDecodedPayload,
    "renewalInfo": JWSRenewalInfoDecodedPayload,
    "appTransaction": AppTransaction,
    "notification": ResponseBodyV2DecodedPayload,
}

# Members that Apple documents but its library lacks (App Store Server Notifications 2.16 and later, App Store Server API 1.22
# and later).
DOCUMENTED_ONLY = {
    "AppTransaction": {"storeType"},
    "JWSRenewalInfoDecodedPayload": {"multiSeatInfo", "renewalQuantity"},
    "JWSTransactionDecodedPayload": {
        "additionalTransactionReason", "multiSeatInfo", "previousOriginalTransactionId"},
    "ResponseBodyV2DecodedPayload": {"unclaimInfo"},
    "ExternalPurchaseToken": {"tokenExpirationDate", "tokenType"},
}
DOCUMENTED_ONLY_VALUES = {
    "InAppOwnershipType": {"ASSIGNED"},
    "NotificationTypeV2": {"UNCLAIM_SEATS"},
    "Subtype": {"CREATED", "ACTIVE_TOKEN_REMINDER", "SEATS", "INCREASE_QUANTITY", "DECREASE_QUANTITY"},
}
DOCUMENTED_ONLY_ENUMERATIONS = {"AdditionalTransactionReason", "InvitationManagement", "StoreType"}

# Our names that differ from the names in Apple's Python library.
ENUMERATION_NAMES = {"ProductType": "Type", "SubscriptionStatus": "Status"}


class Disagreement(Exception):
    def __init__(self, field, reason):
        super().__init__(f"{field}: {reason}")


def unique_members(pairs):
    """Rejects duplicate names. Python's decoder keeps the last one silently."""
    names = collections.Counter(name for name, _ in pairs)
    for name, count in names.items():
        if count > 1:
            raise Disagreement(name, "the member occurs twice")
    return dict(pairs)


def json_fields(model):
    """JSON name -> type, for a class of Apple's library."""
    attr.resolve_types(model)
    # The library stores an enumeration parsed ("main") and unparsed ("raw"). The JSON has the name of the first.
    return {f.name: f.type for f in attr.fields(model) if f.metadata.get("typeOfField") != "raw"}


def nested_model(declared):
    """The class of Apple's library inside Optional[...] or List[...]; None if there is none."""
    for argument in typing.get_args(declared):
        found = nested_model(argument)
        if found:
            return found
    return declared if attr.has(declared) else None


def without_documented_only(model, value, path):
    """A copy of the object without the members that Apple's library lacks. Other unknown members are errors."""
    fields = json_fields(model)
    kept = {}
    for name, member in value.items():
        here = f"{path}.{name}"
        if name in DOCUMENTED_ONLY.get(model.__name__, ()):
            if name in fields:
                raise Disagreement(here, "Apple's library has it now: remove it from DOCUMENTED_ONLY")
            continue
        if name not in fields:
            raise Disagreement(here, f"not a field of Apple's {model.__name__}")
        inner = nested_model(fields[name])
        if inner and isinstance(member, dict):
            member = without_documented_only(inner, member, here)
        elif inner and isinstance(member, list):
            member = [without_documented_only(inner, one, f"{here}[{i}]") for i, one in enumerate(member)]
        kept[name] = member
    return kept


def compare(ours, apples, path):
    """Equal values of equal JSON types: in Python alone, True == 1 and 1 == 1.0."""
    if type(ours) is not type(apples):
        raise Disagreement(path, f"we wrote {ours!r}, Apple's library gives back {apples!r}")
    if isinstance(ours, dict):
        for name in sorted(ours.keys() | apples.keys()):
            if name not in apples:
                raise Disagreement(f"{path}.{name}", "Apple's library does not give it back")
            if name not in ours:
                raise Disagreement(f"{path}.{name}", "Apple's library adds it")
            compare(ours[name], apples[name], f"{path}.{name}")
    elif isinstance(ours, list):
        if len(ours) != len(apples):
            raise Disagreement(path, f"we wrote {len(ours)} elements, Apple's library gives back {len(apples)}")
        for index, (one, other) in enumerate(zip(ours, apples)):
            compare(one, other, f"{path}[{index}]")
    elif ours != apples:
        raise Disagreement(path, f"we wrote {ours!r}, Apple's library gives back {apples!r}")


def judge_payload(kind, value):
    if not isinstance(value, dict):
        raise Disagreement(kind, "not an object")
    model = MODELS[kind]
    kept = without_documented_only(model, value, kind)
    converter = _get_cattrs_converter(model)
    try:
        decoded = converter.structure(kept, model)
    except Exception as error:
        causes = "; ".join(str(cause) for cause in getattr(error, "exceptions", [error]))
        raise Disagreement(kind, f"Apple's library cannot decode it: {causes}") from error
    compare(kept, converter.unstructure(decoded), kind)


def judge_enumeration(name, values):
    apples_name = ENUMERATION_NAMES.get(name, name)
    try:
        module = importlib.import_module(f"appstoreserverlibrary.models.{apples_name}")
    except ModuleNotFoundError:
        if name in DOCUMENTED_ONLY_ENUMERATIONS:
            return
        raise Disagreement(name, "no such enumeration in Apple's library") from None
    if name in DOCUMENTED_ONLY_ENUMERATIONS:
        raise Disagreement(name, "Apple's library has it now: remove it from DOCUMENTED_ONLY_ENUMERATIONS")
    apples = {member.value for member in getattr(module, apples_name)}
    extra = DOCUMENTED_ONLY_VALUES.get(name, set())
    if extra & apples:
        raise Disagreement(name, f"Apple's library knows {sorted(extra & apples)} now: take them out of the table")
    if set(values) != apples | extra:
        raise Disagreement(name, f"values that differ: {sorted(set(values) ^ (apples | extra))}")


MIGRATION_MEMBERS = {"provenance", "notes", "termStart", "standing", "asOf", "asOfKind", "source", "record"}


def judge_line(line):
    """Returns the kind of the line, or raises Disagreement."""
    record = json.loads(line, object_pairs_hook=unique_members)
    if not isinstance(record, dict):
        raise Disagreement("line", "not an object")
    if set(record) == {"enumeration", "values"}:
        judge_enumeration(record["enumeration"], record["values"])
        return "enumeration"
    record = {name: value for name, value in record.items() if name not in MIGRATION_MEMBERS}
    if len(record) != 1 or not set(record) <= set(MODELS):
        raise Disagreement("line", f"expected one of {sorted(MODELS)}, or enumeration and values; got {sorted(record)}")
    kind, value = next(iter(record.items()))
    judge_payload(kind, value)
    return kind


def main(arguments):
    if len(arguments) != 1:
        print("usage: decode_with_apple_library.py FILE.ndjson", file=sys.stderr)
        return 2
    agreed, disagreements = collections.Counter(), 0
    try:
        with open(arguments[0], encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                try:
                    agreed[judge_line(line)] += 1
                except (Disagreement, json.JSONDecodeError) as error:
                    disagreements += 1
                    print(f"line {number}: {error}")
    except (OSError, UnicodeDecodeError) as error:
        print(f"cannot read {arguments[0]}: {error}", file=sys.stderr)
        return 2
    if not agreed and not disagreements:
        print("the file has no lines: nothing was checked", file=sys.stderr)
        return 2
    counts = ", ".join(f"{kind} {count}" for kind, count in sorted(agreed.items())) or "none"
    print(f"agree: {counts}; disagree: {disagreements}")
    return 1 if disagreements else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
