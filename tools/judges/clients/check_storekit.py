"""Points storekit-python, unmodified, at a verifyReceipt endpoint and checks what it reads.

    check_storekit.py http://127.0.0.1:8080 [--presume]

--presume: the endpoint adds the member that this client requires (endpoint.presume: ownership-type).
"""

import sys

import pydantic
from storekit.app_store_receipts.client import ReceiptsClient
from storekit.app_store_receipts.exceptions import APIError, RetryableError
from storekit.models import Environment, InAppOwnershipType

from fixtures import (BUNDLE_ID, EARLY_SUBSCRIPTION, FORGED, IOS6, IOS6_EXPIRED, NO_RECEIPT, PRODUCTION, SANDBOX, SECRET,
                      SUBSCRIPTION, equal, raises, run)

# urljoin() keeps what is before the last slash.
BASE = sys.argv[1].rstrip("/") + "/"
PRESUMES = "--presume" in sys.argv


def verify(fixture, secret=SECRET, base=BASE, sandbox=True, **options):
    other = ReceiptsClient(BASE + "sandbox/", secret) if sandbox else None
    return ReceiptsClient(base, secret, sandbox_client=other).verify_receipt(fixture.receipt, **options)


def reads_a_production_receipt():
    body = verify(PRODUCTION)
    equal(body.environment, Environment.Production)
    equal(body.receipt.bundle_id, BUNDLE_ID)
    equal(body.receipt.adam_id, PRODUCTION.expected["receipt"]["adam_id"])
    equal(body.receipt.download_id, PRODUCTION.expected["receipt"]["download_id"])
    equal(sorted(purchase.transaction_id for purchase in body.receipt.in_app), PRODUCTION.ids())
    equal({purchase.in_app_ownership_type for purchase in body.receipt.in_app}, {InAppOwnershipType.Purchased})


def flips_to_the_sandbox():
    equal(verify(SANDBOX).environment, Environment.Sandbox)
    equal(raises(APIError, lambda: verify(SANDBOX, sandbox=False)).status, 21007)


def sees_every_renewal():
    body = verify(SUBSCRIPTION)
    equal(sorted(purchase.transaction_id for purchase in body.latest_receipt_info), SUBSCRIPTION.ids())
    last = body.get_last_transaction(SUBSCRIPTION.newest["product_id"])
    equal(last.transaction_id, SUBSCRIPTION.newest["transaction_id"])
    equal(last.expires_date_ms, int(SUBSCRIPTION.newest["expires_date_ms"]))
    equal(last.is_trial_period, False)
    if not body.latest_receipt:
        raise AssertionError("no latest_receipt")


def leaves_out_old_renewals():
    body = verify(SUBSCRIPTION, exclude_old_transactions=True)
    equal([purchase.transaction_id for purchase in body.latest_receipt_info], [SUBSCRIPTION.newest["transaction_id"]])


def reads_a_subscription_of_2016_where_the_endpoint_presumes_the_owner():
    if PRESUMES:
        body = verify(EARLY_SUBSCRIPTION)
        equal([purchase.transaction_id for purchase in body.latest_receipt_info], EARLY_SUBSCRIPTION.ids())
    else:
        # The receipt states no ownership type, and this client cannot read a purchase without it.
        error = raises(pydantic.ValidationError, lambda: verify(EARLY_SUBSCRIPTION))
        equal({problem["loc"][-1] for problem in error.errors()}, {"in_app_ownership_type"})


def cannot_read_an_ios_6_reply_of_apple_either():
    # Replies to iOS 6 receipts have no environment; this client requires it.
    error = raises(pydantic.ValidationError, lambda: verify(IOS6))
    equal({problem["loc"] for problem in error.errors()}, {("environment",)})


def tells_refusals_apart():
    for fixture, secret, status in [(SUBSCRIPTION, "f" * 32, 21004), (FORGED, SECRET, 21003), (IOS6_EXPIRED, SECRET, 21006)]:
        error = raises(APIError, lambda: verify(fixture, secret))
        equal(error.status, status)
        equal(isinstance(error, RetryableError), False)
    error = raises(RetryableError, lambda: ReceiptsClient(BASE, SECRET).verify_receipt(NO_RECEIPT))
    equal(error.status, 21002)


if __name__ == "__main__":
    checks = [
        reads_a_production_receipt, flips_to_the_sandbox, sees_every_renewal, leaves_out_old_renewals,
        reads_a_subscription_of_2016_where_the_endpoint_presumes_the_owner, cannot_read_an_ios_6_reply_of_apple_either,
        tells_refusals_apart,
    ]
    sys.exit(1 if run("storekit-python", checks) else 0)
