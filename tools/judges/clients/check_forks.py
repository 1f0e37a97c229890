"""Points inapppy2 and itunes-iap2, unmodified, at a verifyReceipt endpoint and checks what they read.

    check_forks.py http://127.0.0.1:8080 [--presume]

They have the module names of inapppy and itunes-iap, so they need a separate environment.
"""

import asyncio
import sys
import warnings

import inapppy
import inapppy.asyncio
import itunesiap
import itunesiap.core
import itunesiap.exceptions

from fixtures import (BUNDLE_ID, FORGED, IOS6, IOS6_EXPIRED, NO_RECEIPT, PRODUCTION, SANDBOX, SECRET, SUBSCRIPTION, equal,
                      raises, run)

BASE = sys.argv[1].rstrip("/")
PRODUCTION_URL = BASE + "/verifyReceipt"
SANDBOX_URL = BASE + "/sandbox/verifyReceipt"


# inapppy2: the addresses are set in _change_url_by_sandbox, before each request.

class Addresses:
    def _change_url_by_sandbox(self):
        self.url = SANDBOX_URL if self.sandbox else PRODUCTION_URL


class Validator(Addresses, inapppy.AppStoreValidator):
    pass


class AsynchronousValidator(Addresses, inapppy.asyncio.AppStoreValidator):
    pass


def inapppy2_validate(fixture, secret=SECRET, retry=True, **options):
    validator = Validator(BUNDLE_ID, auto_retry_wrong_env_request=retry)
    return validator.validate(fixture.receipt, secret, **options)


def inapppy2_reads_a_production_receipt():
    reply = inapppy2_validate(PRODUCTION)
    equal(reply["environment"], "Production")
    equal(sorted(entry["transaction_id"] for entry in reply["receipt"]["in_app"]), PRODUCTION.ids())


def inapppy2_flips_to_the_sandbox():
    equal(inapppy2_validate(SANDBOX)["environment"], "Sandbox")
    error = raises(inapppy.InAppPyValidationError, lambda: inapppy2_validate(SANDBOX, retry=False))
    equal(error.raw_response, {"status": 21007})


def inapppy2_sees_every_renewal_newest_first():
    reply = inapppy2_validate(SUBSCRIPTION)
    ids = [entry["transaction_id"] for entry in reply["latest_receipt_info"]]
    equal(ids, sorted(SUBSCRIPTION.ids(), key=int, reverse=True))


def inapppy2_leaves_out_old_renewals():
    reply = inapppy2_validate(SUBSCRIPTION, exclude_old_transactions=True)
    equal([entry["transaction_id"] for entry in reply["latest_receipt_info"]], [SUBSCRIPTION.newest["transaction_id"]])


def inapppy2_reads_the_sandbox_with_asyncio():
    async def reply():
        validator = AsynchronousValidator(BUNDLE_ID, auto_retry_wrong_env_request=True)
        # Its __aenter__ returns nothing.
        async with validator:
            return await validator.validate(SANDBOX.receipt, SECRET)

    equal(asyncio.run(reply())["environment"], "Sandbox")


def inapppy2_tells_refusals_apart():
    cases = [(PRODUCTION.receipt, "f" * 32, 21004), (FORGED.receipt, SECRET, 21003), (NO_RECEIPT, SECRET, 21002),
             (IOS6_EXPIRED.receipt, SECRET, 21006)]
    for receipt, secret, status in cases:
        error = raises(inapppy.InAppPyValidationError, lambda: Validator(BUNDLE_ID).validate(receipt, secret))
        equal(error.raw_response["status"], status)


# itunes-iap2: module variables of itunesiap.core. It sends no Content-Type and checks no certificate.

itunesiap.core.RECEIPT_PRODUCTION_VALIDATION_URL = PRODUCTION_URL
itunesiap.core.RECEIPT_SANDBOX_VALIDATION_URL = SANDBOX_URL


def itunes_iap2_request(fixture, secret=SECRET, **modes):
    return itunesiap.Request(fixture.receipt, secret, **modes)


def itunes_iap2_reads_a_production_receipt():
    request = itunes_iap2_request(PRODUCTION)
    receipt = request.verify()
    equal(receipt.status, 0)
    equal(receipt.bundle_id, BUNDLE_ID)
    equal(sorted(entry["transaction_id"] for entry in receipt.in_app), PRODUCTION.ids())
    if not receipt.latest_receipt:
        raise AssertionError("no latest_receipt")


def itunes_iap2_flips_to_the_sandbox():
    receipt = itunes_iap2_request(SANDBOX, use_sandbox=True).verify()
    equal(sorted(entry["transaction_id"] for entry in receipt.in_app), SANDBOX.ids())
    error = raises(itunesiap.exceptions.InvalidReceipt, lambda: itunes_iap2_request(SANDBOX).verify_from(PRODUCTION_URL))
    equal(error.status, 21007)


def itunes_iap2_reads_an_ios_6_receipt():
    receipt = itunes_iap2_request(IOS6).verify()
    equal(receipt.transaction_id, IOS6.transaction["transaction_id"])
    equal(receipt.product_id, IOS6.transaction["product_id"])


def itunes_iap2_tells_refusals_apart():
    for fixture, secret, status in [(SUBSCRIPTION, "f" * 32, 21004), (FORGED, SECRET, 21003), (IOS6_EXPIRED, SECRET, 21006)]:
        request = itunes_iap2_request(fixture, secret)
        error = raises(itunesiap.exceptions.InvalidReceipt, lambda: request.verify_from(PRODUCTION_URL))
        equal(error.status, status)


def itunes_iap2_raises_the_wrong_error_without_a_sandbox_whatever_the_server():
    # itunes-iap2 has `raise e` after the `except` block of `e`, where Python 3 has deleted the name.
    raises(UnboundLocalError, lambda: itunes_iap2_request(FORGED).verify())


CHECKS = {
    client: [check for name, check in list(globals().items()) if name.startswith(prefix)
             and not name.endswith(("_validate", "_request"))]
    for client, prefix in (("inapppy2", "inapppy2_"), ("itunes-iap2", "itunes_iap2_"))
}

if __name__ == "__main__":
    # itunes-iap2 switches certificate checks off at each request.
    warnings.simplefilter("ignore")
    sys.exit(1 if sum(run(client, checks) for client, checks in CHECKS.items()) else 0)
