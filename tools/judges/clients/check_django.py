"""Points iap (python-iap) and django-ios-storekit, unmodified, at a verifyReceipt endpoint and checks what they read.

    check_django.py http://127.0.0.1:8080 [--presume]

Both need Django. This program creates its settings and the tables of django-ios-storekit in memory.
"""

import base64
import datetime
import sys

import django
from django.conf import settings

from fixtures import (BUNDLE_ID, CONSUMABLE, FORGED, IOS6, IOS6_EXPIRED, NO_RECEIPT, PRODUCTION, REFUNDED, SANDBOX, SECRET,
                      SUBSCRIPTION, equal, raises, run)

BASE = sys.argv[1].rstrip("/")
PRODUCTION_URL = BASE + "/verifyReceipt"
SANDBOX_URL = BASE + "/sandbox/verifyReceipt"

PRODUCTS = {purchase["product_id"] for fixture in (PRODUCTION, SUBSCRIPTION, CONSUMABLE, REFUNDED)
            for purchase in fixture.purchases}

settings.configure(
    INSTALLED_APPS=["storekit"], DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    IAP_SETTINGS={"TRUSTED_ROOT_FILE": "", "SHARED_SECRET": SECRET, "PRODUCTION_BUNDLE_ID": BUNDLE_ID,
                  "PRODUCTION_PRODUCT_IDS": PRODUCTS})
django.setup()

# These imports need the settings above.
import iap  # noqa: E402
import iap.utils  # noqa: E402
from django.core.management import call_command  # noqa: E402
from storekit.appstore import AppStoreValidator  # noqa: E402
from storekit.errors import AppValidationError  # noqa: E402

call_command("migrate", run_syncdb=True, verbosity=0)


# iap: module variables of iap.utils.

iap.utils.PRODUCTION_VERIFICATION_URL = PRODUCTION_URL
iap.utils.SANDBOX_VERIFICATION_URL = SANDBOX_URL


def iap_validate(receipt):
    return iap.validate_receipt_with_apple(base64.b64decode(receipt))


def iap_reads_a_production_receipt():
    receipt = iap_validate(PRODUCTION.receipt)["receipt"]
    equal(receipt["_sandbox"], False)
    equal(receipt["bundle_id"], BUNDLE_ID)
    equal(sorted(entry["transaction_id"] for entry in receipt["in_app"]), PRODUCTION.ids())


def iap_flips_to_the_sandbox():
    content = iap_validate(SANDBOX.receipt)
    equal(content["receipt"]["_sandbox"], True)
    equal(content["environment"], "Sandbox")


def iap_decides_by_every_entry_whatever_its_order():
    years = datetime.timedelta(days=36_500)
    iap.validate_receipt_is_active(base64.b64decode(CONSUMABLE.receipt), years)
    # Every period is over, and refunded purchases do not count.
    raises(iap.NoActiveReceiptException,
           lambda: iap.validate_receipt_is_active(base64.b64decode(SUBSCRIPTION.receipt), years))
    refunded = next(purchase for purchase in REFUNDED.purchases if "cancellation_date_ms" in purchase)
    raises(iap.NoActiveReceiptException,
           lambda: iap.validate_receipt_is_active(base64.b64decode(REFUNDED.receipt), years,
                                                  product_id=refunded["product_id"]))


def iap_tells_refusals_apart():
    error = raises(iap.ReceiptValidationException, lambda: iap_validate(FORGED.receipt))
    equal(error.receipt["status"], 21003)
    error = raises(iap.ReceiptValidationException, lambda: iap_validate(NO_RECEIPT))
    equal(error.receipt["status"], 21002)
    error = raises(iap.ReceiptValidationException, lambda: iap_validate(IOS6_EXPIRED.receipt))
    equal(error.receipt["status"], 21006)
    iap.utils.IAP_SHARED_SECRET = "f" * 32
    try:
        error = raises(iap.ReceiptValidationException, lambda: iap_validate(SUBSCRIPTION.receipt))
    finally:
        iap.utils.IAP_SHARED_SECRET = SECRET
    equal(error.receipt["status"], 21004)


def iap_cannot_read_an_ios_6_reply_of_apple_either():
    # Replies to iOS 6 receipts have no in_app.
    raises(iap.NoPurchasesException, lambda: iap_validate(IOS6.receipt))


# django-ios-storekit: the attribute url.

def storekit_validate(fixture, secret=SECRET, url=PRODUCTION_URL, bundle_id=BUNDLE_ID):
    validator = AppStoreValidator(bundle_id)
    validator.url = url
    return validator.validate(fixture.receipt, secret)


def django_ios_storekit_reads_a_production_receipt_into_its_tables():
    responses = storekit_validate(PRODUCTION)
    equal(sorted(str(response.receipt.in_app.transaction_id) for response in responses), PRODUCTION.ids())
    expected = PRODUCTION.expected["receipt"]
    for response in responses:
        equal(response.environment, "Production")
        # It requires these numbers in every receipt.
        for key in ("adam_id", "app_item_id", "download_id", "version_external_identifier"):
            equal(getattr(response.receipt, key), expected[key], key)
        if response.pk is None or response.receipt.in_app.pk is None:
            raise AssertionError("not saved")


def django_ios_storekit_reads_the_sandbox():
    error = raises(AppValidationError, lambda: storekit_validate(SANDBOX))
    equal(error.response["status"], 21007)
    responses = storekit_validate(SANDBOX, url=SANDBOX_URL)
    equal(sorted(str(response.receipt.in_app.transaction_id) for response in responses), SANDBOX.ids())


def django_ios_storekit_tells_refusals_apart():
    for fixture, secret, status in [(SUBSCRIPTION, "f" * 32, 21004), (FORGED, SECRET, 21003), (IOS6_EXPIRED, SECRET, 21006)]:
        error = raises(AppValidationError, lambda: storekit_validate(fixture, secret))
        equal(error.response["status"], status)
    raises(AppValidationError, lambda: storekit_validate(PRODUCTION, bundle_id="com.example.other"))


def django_ios_storekit_cannot_read_an_ios_6_reply_of_apple_either():
    # Replies to iOS 6 receipts have no bundle_id.
    equal(raises(KeyError, lambda: storekit_validate(IOS6)).args, ("bundle_id",))


CHECKS = {
    client: [check for name, check in list(globals().items()) if name.startswith(prefix) and not name.endswith("_validate")]
    for client, prefix in (("iap", "iap_"), ("django-ios-storekit", "django_ios_storekit_"))
}

if __name__ == "__main__":
    sys.exit(1 if sum(run(client, checks) for client, checks in CHECKS.items()) else 0)
