#!/usr/bin/env python3
"""Checks our signed data (JWS) with Apple's own server library (PyPI: app-store-server-library, see ../requirements.txt).

    verify_signed_data.py < LINES.ndjson

Each line is one JSON object:

    kind         transaction, renewalInfo, appTransaction, notification or realtimeRequest
    jws          the compact serialization
    root         the one root to trust, DER in base64
    bundleId, appAppleId, environment   the parameters of Apple's verifier
    accepted     whether we verified it
    payload      if accepted: the members that we read, as JSON

A line agrees if both verifiers accept or both reject. If both accept, each member that we read must have the same value in the
signed JSON and in Apple's decoded model.

Exit status: 0 all lines agree, 1 a line does not (each is printed), 2 there is nothing to check.
"""

import base64
import json
import sys

from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.LibraryUtility import _get_cattrs_converter
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException

METHODS = {
    "transaction": "verify_and_decode_signed_transaction",
    "renewalInfo": "verify_and_decode_renewal_info",
    "appTransaction": "verify_and_decode_app_transaction",
    "notification": "verify_and_decode_notification",
    "realtimeRequest": "verify_and_decode_realtime_request",
}


def check(line):
    """The difference, or None."""
    verifier = SignedDataVerifier(
        [base64.b64decode(line["root"])], False, Environment(line["environment"]), line["bundleId"], line["appAppleId"]
    )
    try:
        model = getattr(verifier, METHODS[line["kind"]])(line["jws"])
    except VerificationException as refusal:
        return f"we accept it, Apple's library does not: {refusal}" if line["accepted"] else None
    if not line["accepted"]:
        return "we refuse it, Apple's library does not"
    apples = json.loads(json.dumps(_get_cattrs_converter(type(model)).unstructure(model), default=str))
    if line["payload"] != apples:
        return f"we read {line['payload']!r}, Apple's library {apples!r}"
    return None


def main():
    agreed = disagreed = 0
    for number, text in enumerate(sys.stdin, start=1):
        line = json.loads(text)
        difference = check(line)
        if difference is None:
            agreed += 1
        else:
            disagreed += 1
            print(f"line {number} ({line['kind']}): {difference}")
    if agreed + disagreed == 0:
        print("there are no lines: nothing was checked", file=sys.stderr)
        return 2
    print(f"agree: {agreed}; disagree: {disagreed}")
    return 1 if disagreed else 0


if __name__ == "__main__":
    sys.exit(main())
