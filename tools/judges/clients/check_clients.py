"""Points inapppy, itunes-iap and pyinapp, unmodified, at a verifyReceipt endpoint and checks what they read.

    check_clients.py http://127.0.0.1:8080 [--presume]

--presume: the endpoint sends empty lists (endpoint.presume: lists).
"""

import sys

import inapppy
import itunesiap
import itunesiap.exceptions
import itunesiap.receipt
import itunesiap.request
import pyinapp
import pyinapp.errors

from fixtures import (BUNDLE_ID, CONSUMABLE, EARLY_SUBSCRIPTION, FORGED, IOS6, IOS6_EXPIRED, IOS6_SANDBOX, NO_RECEIPT,
                      PRODUCTION, REFUNDED, SANDBOX, SECRET, SUBSCRIPTION, WIDE, equal, raises, run)

BASE = sys.argv[1].rstrip("/")
PRODUCTION_URL = BASE + "/verifyReceipt"
SANDBOX_URL = BASE + "/sandbox/verifyReceipt"


# inapppy: override _change_url_by_sandbox to set the addresses, as its documentation says.

class Validator(inapppy.AppStoreValidator):
    def _change_url_by_sandbox(self):
        self.url = SANDBOX_URL if self.sandbox else PRODUCTION_URL


def inapppy_validate(fixture, secret=SECRET, retry=True, **options):
    return Validator(auto_retry_wrong_env_request=retry).validate(fixture.receipt, secret, **options)


def inapppy_reads_a_production_receipt():
    reply = inapppy_validate(PRODUCTION)
    equal(reply["environment"], "Production")
    equal(reply["receipt"]["bundle_id"], BUNDLE_ID)
    equal(sorted(entry["transaction_id"] for entry in reply["receipt"]["in_app"]), PRODUCTION.ids())


def inapppy_flips_to_the_sandbox():
    equal(inapppy_validate(SANDBOX)["environment"], "Sandbox")
    error = raises(inapppy.InAppPyValidationError, lambda: inapppy_validate(SANDBOX, retry=False))
    equal(error.raw_response, {"status": 21007})


def inapppy_flips_to_production():
    validator = Validator(sandbox=True, auto_retry_wrong_env_request=True)
    equal(validator.validate(PRODUCTION.receipt, SECRET)["environment"], "Production")


def inapppy_sees_every_renewal_newest_first():
    reply = inapppy_validate(SUBSCRIPTION)
    ids = [entry["transaction_id"] for entry in reply["latest_receipt_info"]]
    equal(ids, sorted(SUBSCRIPTION.ids(), key=int, reverse=True))
    equal(reply["latest_receipt_info"][0]["expires_date_ms"], SUBSCRIPTION.newest["expires_date_ms"])


def inapppy_leaves_out_old_renewals():
    reply = inapppy_validate(SUBSCRIPTION, exclude_old_transactions=True)
    equal([entry["transaction_id"] for entry in reply["latest_receipt_info"]], [SUBSCRIPTION.newest["transaction_id"]])


def inapppy_reads_the_latest_receipt_again():
    latest = inapppy_validate(SUBSCRIPTION)["latest_receipt"]
    reply = Validator().validate(latest, SECRET)
    equal(sorted(entry["transaction_id"] for entry in reply["receipt"]["in_app"]), SUBSCRIPTION.ids())


def inapppy_sees_an_expired_ios_6_subscription():
    error = raises(inapppy.InAppPyValidationError, lambda: inapppy_validate(IOS6_EXPIRED))
    equal(error.raw_response["status"], 21006)
    equal(error.raw_response["latest_expired_receipt_info"]["expires_date"], IOS6_EXPIRED.transaction["expires_date"])


def inapppy_tells_refusals_apart():
    cases = [
        (PRODUCTION.receipt, "f" * 32, 21004), (PRODUCTION.receipt, None, 21004), (FORGED.receipt, SECRET, 21003),
        (NO_RECEIPT, SECRET, 21002), ("not base64 at all", SECRET, 21002),
    ]
    for receipt, secret, status in cases:
        error = raises(inapppy.InAppPyValidationError, lambda: Validator().validate(receipt, secret))
        equal(error.raw_response["status"], status, receipt[:16])


# itunes-iap: class attributes. It sends no Content-Type.

itunesiap.request.RequestBase.PRODUCTION_VALIDATION_URL = PRODUCTION_URL
itunesiap.request.RequestBase.SANDBOX_VALIDATION_URL = SANDBOX_URL


def itunesiap_verify(fixture, secret=SECRET, env=itunesiap.env.review):
    return itunesiap.verify(fixture.receipt, secret, env=env)


def itunes_iap_reads_a_production_receipt():
    response = itunesiap_verify(PRODUCTION)
    equal(response.status, 0)
    equal(response.receipt.bundle_id, BUNDLE_ID)
    equal(response.receipt.application_version, PRODUCTION.expected["receipt"]["application_version"])
    equal(response.receipt.receipt_creation_date_ms, int(PRODUCTION.expected["receipt"]["receipt_creation_date_ms"]))
    equal(sorted(purchase.transaction_id for purchase in response.receipt.in_app), PRODUCTION.ids())
    equal({purchase.quantity for purchase in response.receipt.in_app}, {1})
    equal({purchase.is_trial_period for purchase in response.receipt.in_app}, {False})
    last = max(PRODUCTION.purchases, key=lambda purchase: purchase["original_purchase_date_ms"])
    equal(response.receipt.last_in_app.transaction_id, last["transaction_id"])


def itunes_iap_flips_to_the_sandbox():
    response = itunesiap_verify(SANDBOX)
    equal(sorted(purchase.transaction_id for purchase in response.receipt.in_app), SANDBOX.ids())
    error = raises(itunesiap.exceptions.InvalidReceipt,
                   lambda: itunesiap_verify(SANDBOX, env=itunesiap.env.production))
    equal(error.status, 21007)


def itunes_iap_sees_every_renewal_with_its_dates():
    response = itunesiap_verify(SUBSCRIPTION)
    info = response.latest_receipt_info
    equal([purchase.transaction_id for purchase in info], sorted(SUBSCRIPTION.ids(), key=int, reverse=True))
    expected = {purchase["transaction_id"]: purchase for purchase in SUBSCRIPTION.purchases}
    for purchase in info:
        milliseconds = int(expected[purchase.transaction_id]["expires_date_ms"])
        equal(purchase.expires_date_ms, milliseconds)
        # The text and the number are the same time.
        equal(int(purchase.expires_date.timestamp()) * 1000, milliseconds)
        equal(int(purchase.purchase_date.timestamp()) * 1000, purchase.purchase_date_ms)
    if not response.latest_receipt:
        raise AssertionError("no latest_receipt")


def itunes_iap_reads_a_subscription_of_2016():
    response = itunesiap_verify(EARLY_SUBSCRIPTION)
    equal([purchase.transaction_id for purchase in response.latest_receipt_info], EARLY_SUBSCRIPTION.ids())


def itunes_iap_asks_for_the_renewals():
    response = itunesiap_verify(SUBSCRIPTION)
    if "--presume" in sys.argv:
        equal(response.pending_renewal_info, [])
    else:
        # The renewal is unknown here. The client treats an absent member as an error, with Apple's replies too.
        raises(itunesiap.receipt.MissingFieldError, lambda: response.pending_renewal_info)


def itunes_iap_sees_a_refund():
    response = itunesiap_verify(REFUNDED)
    refunded = [purchase for purchase in REFUNDED.purchases if "cancellation_date_ms" in purchase]
    found = [purchase for purchase in response.receipt.in_app if "cancellation_date_ms" in purchase]
    equal([purchase.cancellation_date_ms for purchase in found],
          [int(purchase["cancellation_date_ms"]) for purchase in refunded])


def itunes_iap_reads_an_ios_6_receipt():
    response = itunesiap_verify(IOS6)
    equal([purchase.transaction_id for purchase in response.receipt.in_app], [IOS6.transaction["transaction_id"]])
    equal(response.receipt.in_app[0].purchase_date_ms, int(IOS6.transaction["purchase_date_ms"]))
    equal(itunesiap_verify(IOS6_SANDBOX).receipt.in_app[0].product_id, IOS6_SANDBOX.transaction["product_id"])


def itunes_iap_sees_an_expired_ios_6_subscription():
    error = raises(itunesiap.exceptions.InvalidReceipt, lambda: itunesiap_verify(IOS6_EXPIRED))
    equal(error.status, 21006)
    equal(error.receipt.expires_date_ms, int(IOS6_EXPIRED.transaction["expires_date"]))


def itunes_iap_tells_refusals_apart():
    for fixture, secret, status in [(SUBSCRIPTION, "f" * 32, 21004), (FORGED, SECRET, 21003)]:
        error = raises(itunesiap.exceptions.InvalidReceipt, lambda: itunesiap_verify(fixture, secret))
        equal(error.status, status)
    error = raises(itunesiap.exceptions.InvalidReceipt, lambda: itunesiap.verify(NO_RECEIPT, SECRET))
    equal(error.status, 21002)


# pyinapp: the attribute url.

def pyinapp_validate(fixture, secret=SECRET, url=PRODUCTION_URL, bundle_id=BUNDLE_ID):
    validator = pyinapp.AppStoreValidator(bundle_id)
    validator.url = url
    return validator.validate(fixture.receipt, secret)


def pyinapp_reads_a_production_receipt():
    purchases = pyinapp_validate(PRODUCTION)
    expected = {purchase["transaction_id"]: purchase for purchase in PRODUCTION.purchases}
    equal(sorted(purchase.transaction_id for purchase in purchases), PRODUCTION.ids())
    for purchase in purchases:
        equal(purchase.product_id, expected[purchase.transaction_id]["product_id"])
        equal(purchase.quantity, expected[purchase.transaction_id]["quantity"])


def pyinapp_reads_the_subscription_from_the_response():
    purchases = pyinapp_validate(SUBSCRIPTION)
    ids = [entry["transaction_id"] for entry in purchases[0].response["latest_receipt_info"]]
    equal(ids, sorted(SUBSCRIPTION.ids(), key=int, reverse=True))


def pyinapp_reads_ids_beyond_2_to_the_53():
    response = pyinapp_validate(WIDE)[0].response
    for key in ("adam_id", "app_item_id", "download_id", "version_external_identifier"):
        equal(response["receipt"][key], WIDE.expected["receipt"][key], key)
    equal(response["receipt"]["in_app"][0]["web_order_line_item_id"], WIDE.purchases[0]["web_order_line_item_id"])


def pyinapp_flips_to_the_sandbox():
    error = raises(pyinapp.errors.InAppValidationError, lambda: pyinapp_validate(SANDBOX))
    if "21007" not in repr(error.args) and "Sandbox receipt" not in repr(error.args):
        raise AssertionError(repr(error.args))
    equal([purchase.transaction_id for purchase in pyinapp_validate(SANDBOX, url=SANDBOX_URL)], SANDBOX.ids())


def pyinapp_reads_an_ios_6_receipt():
    purchases = pyinapp_validate(IOS6)
    equal([purchase.transaction_id for purchase in purchases], [IOS6.transaction["transaction_id"]])


def pyinapp_tells_refusals_apart():
    for fixture, secret, words in [(CONSUMABLE, "f" * 32, "Shared secret mismatch"),
                                   (FORGED, SECRET, "Receipt authentication"),
                                   (IOS6_EXPIRED, SECRET, "Subscription has expired")]:
        error = raises(pyinapp.errors.InAppValidationError, lambda: pyinapp_validate(fixture, secret))
        if words not in repr(error.args):
            raise AssertionError(f"{error.args!r} has no {words!r}")


CHECKS = {
    client: [check for name, check in list(globals().items()) if name.startswith(client.replace("-", "_") + "_")
             and name.count("_") > 1 and not name.endswith("_validate")]
    for client in ("inapppy", "itunes-iap", "pyinapp")
}

if __name__ == "__main__":
    sys.exit(1 if sum(run(client, checks) for client, checks in CHECKS.items()) else 0)
