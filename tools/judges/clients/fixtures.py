"""Shared by the checks of all clients: receipts of LegacyFixtures with their contents, and a list of failures. The expectations do
not come from our code: the forge writes expected.json from the description of the receipt."""

import base64
import json
import pathlib
import sys
import traceback

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "LegacyFixtures"
BUNDLE_ID = "com.example.orchard"

# The server must have this secret, see run.sh.
SECRET = "0123456789abcdef0123456789abcdef"


class Fixture:
    def __init__(self, name):
        folder = FOLDER / name
        self.name = name
        self.expected = json.loads((folder / "expected.json").read_text())
        text = folder / "receipt.b64"
        self.receipt = (
            text.read_text() if text.exists() else base64.b64encode((folder / "receipt.der").read_bytes()).decode())

    @property
    def purchases(self):
        return self.expected["receipt"]["in_app"]

    @property
    def transaction(self):
        """The one purchase of an iOS 6 receipt."""
        return self.expected["receipt"]

    @property
    def newest(self):
        return max(self.purchases, key=lambda purchase: int(purchase["transaction_id"]))

    def ids(self):
        return sorted(purchase["transaction_id"] for purchase in self.purchases)


PRODUCTION = Fixture("production-sha256")
SANDBOX = Fixture("sandbox-sha256")
# Its last period ended long ago.
SUBSCRIPTION = Fixture("auto-renewable-renewals")
# From the time before receipts stated the ownership type.
EARLY_SUBSCRIPTION = Fixture("auto-renewable-2016")
CONSUMABLE = Fixture("consumable")
REFUNDED = Fixture("non-consumable-refunded")
WIDE = Fixture("ids-beyond-2-53")
IOS6 = Fixture("ios6-v2-production")
IOS6_SANDBOX = Fixture("ios6-v2-sandbox")
IOS6_EXPIRED = Fixture("ios6-v2-subscription")
FORGED = Fixture("flipped-signature-bit")
NO_RECEIPT = base64.b64encode(b"foobar").decode()


def equal(found, expected, what=""):
    if found != expected:
        raise AssertionError(f"{what}: found {found!r}, expected {expected!r}")


def raises(kind, call):
    """The exception of a call that must fail."""
    try:
        result = call()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}, but {result!r}")


def run(client, checks):
    """Runs the checks and exits with 1 if one fails."""
    failed = 0
    for check in checks:
        try:
            check()
            print(f"ok      {client}: {check.__name__.replace('_', ' ')}")
        except Exception:
            failed += 1
            print(f"FAILED  {client}: {check.__name__.replace('_', ' ')}")
            traceback.print_exc(file=sys.stdout)
    print(f"{client}: {len(checks) - failed} of {len(checks)}")
    return failed
