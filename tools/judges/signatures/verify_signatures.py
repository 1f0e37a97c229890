#!/usr/bin/env python3
"""Checks our signatures with the Python package cryptography, and compares them with those of Apple's own library for the same input.

    verify_signatures.py < REQUESTS.ndjson

Each line of the input is one JSON object with "privateKey" (PEM, a test key), "keyId", "issuerId", "bundleId", "kind", and:

    kind token                  "jws"
    kind promotionalOfferV1     "signature": {encodedSignature, productId, nonce, timestamp, keyId, offerIdentifier[,
                                appAccountToken]}
    kind promotionalOfferV2     "jws", "productId", "offerIdentifier"[, "transactionId"]
    kind introductoryOffer      "jws", "productId", "allowIntroductoryOffer", "transactionId"
    kind advancedCommerce       "jws", "model" (a class of Apple's library), "request" (its JSON)

A JWS agrees if its signature is valid, if Apple's library makes the same header and claims for the same input (except times and
nonces), and if its times and nonces have the right form.

Exit status: 0 all lines agree, 1 a line does not, 2 there was nothing to check.
"""

import base64
import importlib
import json
import sys
import time
import uuid

from appstoreserverlibrary.api_client import AppStoreServerAPIClient
from appstoreserverlibrary.jws_signature_creator import (
    AdvancedCommerceAPIInAppSignatureCreator,
    IntroductoryOfferEligibilitySignatureCreator,
    PromotionalOfferV2SignatureCreator,
)
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.LibraryUtility import _get_cattrs_converter
from appstoreserverlibrary.promotional_offer import PromotionalOfferSignatureCreator
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature


class Disagreement(Exception):
    pass


def expect(condition, reason):
    if not condition:
        raise Disagreement(reason)


def base64url(text):
    expect(not set(text) & set("+/="), "not unpadded base64url")
    return base64.b64decode(text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4), validate=True)


def opened(jws, public_key):
    """Header and claims, after the verification of the signature."""
    parts = jws.split(".")
    expect(len(parts) == 3, "not three parts")
    signature = base64url(parts[2])
    expect(len(signature) == 64, "the signature is not 64 bytes long")
    der = encode_dss_signature(int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big"))
    public_key.verify(der, f"{parts[0]}.{parts[1]}".encode("ascii"), ec.ECDSA(hashes.SHA256()))
    return json.loads(base64url(parts[0])), json.loads(base64url(parts[1]))


def is_lowercase_uuid(text):
    return isinstance(text, str) and str(uuid.UUID(text)) == text


def apples_token(line):
    client = AppStoreServerAPIClient(
        line["privateKey"].encode(), line["keyId"], line["issuerId"], line["bundleId"], Environment.SANDBOX)
    return client._generate_token()


def apples_jws(line):
    identity = (line["privateKey"].encode(), line["keyId"], line["issuerId"], line["bundleId"])
    if line["kind"] == "promotionalOfferV2":
        creator = PromotionalOfferV2SignatureCreator(*identity)
        return creator.create_signature(line["productId"], line["offerIdentifier"], line.get("transactionId"))
    if line["kind"] == "introductoryOffer":
        creator = IntroductoryOfferEligibilitySignatureCreator(*identity)
        return creator.create_signature(line["productId"], line["allowIntroductoryOffer"], line["transactionId"])
    model = getattr(importlib.import_module(f"appstoreserverlibrary.models.{line['model']}"), line["model"])
    request = {k: v for k, v in line["request"].items() if k not in ("operation", "version")}
    request = _get_cattrs_converter(model).structure(request, model)
    return AdvancedCommerceAPIInAppSignatureCreator(*identity).create_signature(request)


def without(claims, *names):
    return {name: value for name, value in claims.items() if name not in names}


def check_jws(line, public_key):
    header, claims = opened(line["jws"], public_key)
    apples_header, apples_claims = opened(apples_jws(line), public_key)
    expect(header == apples_header, f"header {header} instead of {apples_header}")
    expect(is_lowercase_uuid(claims["nonce"]), "the nonce is not a UUID in lower case")
    expect(type(claims["iat"]) is int and abs(claims["iat"] - time.time()) < 600, "iat is not now")
    if line["kind"] == "advancedCommerce":
        for one in (claims, apples_claims):
            one["request"] = json.loads(base64.b64decode(one["request"], validate=True))
        expect(claims["request"] == line["request"], "the request is another")
    ours, apples = without(claims, "nonce", "iat"), without(apples_claims, "nonce", "iat")
    expect(ours == apples, f"claims {ours} instead of {apples}")


def check_token(line, public_key):
    header, claims = opened(line["jws"], public_key)
    apples_header, apples_claims = opened(apples_token(line), public_key)
    expect(header == apples_header, f"header {header} instead of {apples_header}")
    # Apple's documentation requires iat, and Apple's library omits it.
    expect(without(claims, "iat", "exp") == without(apples_claims, "exp"), f"claims {claims}")
    expect(type(claims["iat"]) is int and type(claims["exp"]) is int, "times are not integers")
    expect(-600 < claims["iat"] - time.time() <= 0, "iat lies in the future or is old")
    expect(0 < claims["exp"] - claims["iat"] <= 3600, "it lives longer than an hour")


def check_offer_v1(line, public_key):
    offer = line["signature"]
    token = offer.get("appAccountToken", "")
    expect(offer["nonce"] == offer["nonce"].lower() and token == token.lower(), "not in lower case")
    fields = [line["bundleId"], line["keyId"], offer["productId"], offer["offerIdentifier"], token, offer["nonce"],
              str(offer["timestamp"])]
    signed = b"\xe2\x81\xa3".join(field.encode("utf-8") for field in fields)
    creator = PromotionalOfferSignatureCreator(line["privateKey"].encode(), line["keyId"], line["bundleId"])
    apples = creator.create_signature(
        offer["productId"], offer["offerIdentifier"], token.upper(), uuid.UUID(offer["nonce"]), offer["timestamp"])
    for signature in (apples, offer["encodedSignature"]):
        public_key.verify(base64.b64decode(signature, validate=True), signed, ec.ECDSA(hashes.SHA256()))


def check(line):
    public_key = serialization.load_pem_private_key(line["privateKey"].encode(), password=None).public_key()
    checks = {"token": check_token, "promotionalOfferV1": check_offer_v1}
    checks.get(line["kind"], check_jws)(line, public_key)


def main():
    agreed = disagreed = 0
    for number, text in enumerate(sys.stdin, start=1):
        try:
            check(json.loads(text))
            agreed += 1
        except (Disagreement, InvalidSignature, KeyError, ValueError, TypeError) as error:
            disagreed += 1
            print(f"line {number}: {type(error).__name__}: {error}")
    print(f"agree: {agreed}; disagree: {disagreed}")
    return 1 if disagreed else 0 if agreed else 2


if __name__ == "__main__":
    sys.exit(main())
