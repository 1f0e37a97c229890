#!/usr/bin/env python3
"""Records the requests of each method of Apple's own client (PyPI: app-store-server-library).

    record_apple_client.py

Runs a server on this machine, points Apple's client to it, calls every method once and prints one JSON object per call:

    {"endpoint": our name, "method": …, "path": …, "query": [[name, value], …], "contentType": …, "body": JSON or base64}

It fails if Apple's client has a method that is not called here, so new methods are noticed.
"""

import base64
import http.server
import json
import sys
import threading
import urllib.parse
import uuid
import warnings

from appstoreserverlibrary.api_client import AppStoreServerAPIClient, GetTransactionHistoryVersion
from appstoreserverlibrary.models.AccountTenure import AccountTenure
from appstoreserverlibrary.models.BulletPoint import BulletPoint
from appstoreserverlibrary.models.ConsumptionRequest import ConsumptionRequest
from appstoreserverlibrary.models.ConsumptionRequestV1 import ConsumptionRequestV1
from appstoreserverlibrary.models.ConsumptionStatus import ConsumptionStatus
from appstoreserverlibrary.models.DefaultConfigurationRequest import DefaultConfigurationRequest
from appstoreserverlibrary.models.DeliveryStatus import DeliveryStatus
from appstoreserverlibrary.models.DeliveryStatusV1 import DeliveryStatusV1
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.ExtendReasonCode import ExtendReasonCode
from appstoreserverlibrary.models.ExtendRenewalDateRequest import ExtendRenewalDateRequest
from appstoreserverlibrary.models.HeaderPosition import HeaderPosition
from appstoreserverlibrary.models.ImageSize import ImageSize
from appstoreserverlibrary.models.InAppOwnershipType import InAppOwnershipType
from appstoreserverlibrary.models.LifetimeDollarsPurchased import LifetimeDollarsPurchased
from appstoreserverlibrary.models.LifetimeDollarsRefunded import LifetimeDollarsRefunded
from appstoreserverlibrary.models.MassExtendRenewalDateRequest import MassExtendRenewalDateRequest
from appstoreserverlibrary.models.NotificationHistoryRequest import NotificationHistoryRequest
from appstoreserverlibrary.models.NotificationTypeV2 import NotificationTypeV2
from appstoreserverlibrary.models.PerformanceTestRequest import PerformanceTestRequest
from appstoreserverlibrary.models.Platform import Platform
from appstoreserverlibrary.models.PlayTime import PlayTime
from appstoreserverlibrary.models.RealtimeUrlRequest import RealtimeUrlRequest
from appstoreserverlibrary.models.RefundPreference import RefundPreference
from appstoreserverlibrary.models.RefundPreferenceV1 import RefundPreferenceV1
from appstoreserverlibrary.models.Status import Status
from appstoreserverlibrary.models.Subtype import Subtype
from appstoreserverlibrary.models.TransactionHistoryRequest import Order, ProductType, TransactionHistoryRequest
from appstoreserverlibrary.models.UpdateAppAccountTokenRequest import UpdateAppAccountTokenRequest
from appstoreserverlibrary.models.UploadMessageImage import UploadMessageImage
from appstoreserverlibrary.models.UploadMessageRequestBody import UploadMessageRequestBody
from appstoreserverlibrary.models.UserStatus import UserStatus
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

TRANSACTION = "700001234567890"
UUID = uuid.UUID("a1b2c3d4-e5f6-4789-8abc-def012345678")
OTHER_UUID = uuid.UUID("0f1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f")

HISTORY = TransactionHistoryRequest(
    startDate=123455, endDate=123456, productIds=["com.example.1", "com.example.2"],
    productTypes=[ProductType.CONSUMABLE, ProductType.AUTO_RENEWABLE],
    subscriptionGroupIdentifiers=["sub_group_id", "sub_group_id_2"],
    inAppOwnershipType=InAppOwnershipType.FAMILY_SHARED, sort=Order.DESCENDING)
CONSUMPTION = ConsumptionRequest(
    customerConsented=True, deliveryStatus=DeliveryStatus.UNDELIVERED_QUALITY_ISSUE, sampleContentProvided=False,
    consumptionPercentage=50000, refundPreference=RefundPreference.GRANT_PRORATED)
CONSUMPTION_V1 = ConsumptionRequestV1(
    customerConsented=True, consumptionStatus=ConsumptionStatus.NOT_CONSUMED, platform=Platform.NON_APPLE,
    sampleContentProvided=False, deliveryStatus=DeliveryStatusV1.DID_NOT_DELIVER_DUE_TO_SERVER_OUTAGE,
    appAccountToken=str(UUID), accountTenure=AccountTenure.TEN_DAYS_TO_THIRTY_DAYS, playTime=PlayTime.ONE_DAY_TO_FOUR_DAYS,
    lifetimeDollarsRefunded=LifetimeDollarsRefunded.ONE_THOUSAND_DOLLARS_TO_ONE_THOUSAND_NINE_HUNDRED_NINETY_NINE_DOLLARS_AND_NINETY_NINE_CENTS,
    lifetimeDollarsPurchased=LifetimeDollarsPurchased.TWO_THOUSAND_DOLLARS_OR_GREATER,
    userStatus=UserStatus.LIMITED_ACCESS, refundPreference=RefundPreferenceV1.NO_PREFERENCE)
EXTENSION = ExtendRenewalDateRequest(
    extendByDays=45, extendReasonCode=ExtendReasonCode.CUSTOMER_SATISFACTION, requestIdentifier=str(UUID))
MASS_EXTENSION = MassExtendRenewalDateRequest(
    extendByDays=45, extendReasonCode=ExtendReasonCode.SERVICE_ISSUE_OR_OUTAGE, requestIdentifier=str(UUID),
    storefrontCountryCodes=["USA", "MEX"], productId="com.example.productId")
NOTIFICATIONS = NotificationHistoryRequest(
    startDate=1698148900000, endDate=1698148950000, notificationType=NotificationTypeV2.SUBSCRIBED,
    notificationSubtype=Subtype.INITIAL_BUY, transactionId="999733843", onlyFailures=True)
MESSAGE = UploadMessageRequestBody(
    header="Don’t go", body="Grüße / 再见 \"x\"", image=UploadMessageImage(OTHER_UUID, "alt"),
    headerPosition=HeaderPosition.ABOVE_IMAGE, bulletPoints=[BulletPoint("Point", OTHER_UUID, "alt point")])

CALLS = [
    ("getTransactionHistory", lambda c: c.get_transaction_history(
        TRANSACTION, "rev+is/on=", HISTORY, GetTransactionHistoryVersion.V2)),
    ("getTransactionHistoryV1", lambda c: c.get_transaction_history(
        TRANSACTION, None, TransactionHistoryRequest(), GetTransactionHistoryVersion.V1)),
    ("getTransactionInfo", lambda c: c.get_transaction_info(TRANSACTION)),
    ("getAppTransactionInfo", lambda c: c.get_app_transaction_info(TRANSACTION)),
    ("getAllSubscriptionStatuses", lambda c: c.get_all_subscription_statuses(
        TRANSACTION, [Status.ACTIVE, Status.BILLING_GRACE_PERIOD])),
    ("getRefundHistory", lambda c: c.get_refund_history(TRANSACTION, "rev+is/on=")),
    ("lookUpOrderId", lambda c: c.look_up_order_id("W002182")),
    ("sendConsumptionInformation", lambda c: c.send_consumption_information(TRANSACTION, CONSUMPTION)),
    ("sendConsumptionInformationV1", lambda c: c.send_consumption_data(TRANSACTION, CONSUMPTION_V1)),
    ("extendSubscriptionRenewalDate", lambda c: c.extend_subscription_renewal_date(TRANSACTION, EXTENSION)),
    ("extendRenewalDateForAllActiveSubscribers",
     lambda c: c.extend_renewal_date_for_all_active_subscribers(MASS_EXTENSION)),
    ("getStatusOfRenewalDateExtensions", lambda c: c.get_status_of_subscription_renewal_date_extensions(
        str(UUID), "com.example.1")),
    ("getNotificationHistory", lambda c: c.get_notification_history("a+b/c=", NOTIFICATIONS)),
    ("requestTestNotification", lambda c: c.request_test_notification()),
    ("getTestNotificationStatus", lambda c: c.get_test_notification_status("8cd2974c-f905-492a-bf9a")),
    ("setAppAccountToken", lambda c: c.set_app_account_token(TRANSACTION, UpdateAppAccountTokenRequest(str(UUID)))),
    ("finishTransaction", lambda c: c.finish_transaction(TRANSACTION)),
    ("uploadImage", lambda c: c.upload_image(UUID, b"\x89PNG", ImageSize.BULLET_POINT)),
    ("deleteImage", lambda c: c.delete_image(UUID)),
    ("getImageList", lambda c: c.get_image_list()),
    ("uploadMessage", lambda c: c.upload_message(UUID, MESSAGE)),
    ("deleteMessage", lambda c: c.delete_message(UUID)),
    ("getMessageList", lambda c: c.get_message_list()),
    ("configureDefaultMessage", lambda c: c.configure_default_message(
        "com.example.1", "en-US", DefaultConfigurationRequest(UUID))),
    ("deleteDefaultMessage", lambda c: c.delete_default_message("com.example.1", "en-US")),
    ("getDefaultMessage", lambda c: c.get_default_message("com.example.1", "en-US")),
    ("configureRealtimeURL", lambda c: c.configure_realtime_url(RealtimeUrlRequest("https://example.com/retention?a=b"))),
    ("deleteRealtimeURL", lambda c: c.delete_realtime_url()),
    ("getRealtimeURL", lambda c: c.get_realtime_url()),
    ("initiatePerformanceTest", lambda c: c.initiate_performance_test(PerformanceTestRequest(TRANSACTION))),
    ("getPerformanceTestResults", lambda c: c.get_performance_test_results(str(UUID))),
]


class Recorder(http.server.BaseHTTPRequestHandler):
    seen = []
    # Every member that some class of Apple's library requires.
    answer = json.dumps({"messageIdentifier": str(UUID), "realtimeURL": "https://example.com"}).encode()

    def record(self):
        parts = urllib.parse.urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        content_type = self.headers.get("Content-Type")
        if not body:
            value = None
        elif content_type == "application/json":
            value = json.loads(body)
        else:
            value = base64.b64encode(body).decode()
        self.seen.append({
            "method": self.command, "path": parts.path,
            "query": [list(pair) for pair in urllib.parse.parse_qsl(parts.query, keep_blank_values=True)],
            "contentType": content_type, "accept": self.headers.get("Accept"),
            "scheme": (self.headers.get("Authorization") or "").split(" ")[0], "body": value})
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(self.answer)))
        self.end_headers()
        self.wfile.write(self.answer)

    do_GET = do_PUT = do_POST = do_DELETE = record

    def log_message(self, *_):
        pass


class Spy:
    """Forwards calls, and records the called methods."""

    def __init__(self, client):
        self.client = client
        self.called = set()

    def __getattr__(self, name):
        self.called.add(name)
        return getattr(self.client, name)


def main():
    warnings.simplefilter("ignore", DeprecationWarning)
    server = http.server.HTTPServer(("127.0.0.1", 0), Recorder)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    key = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    client = AppStoreServerAPIClient(key, "KEY", "issuer", "com.example.app", Environment.LOCAL_TESTING)
    client._base_url = f"http://127.0.0.1:{server.server_port}"
    spy = Spy(client)
    for endpoint, call in CALLS:
        call(spy)
        print(json.dumps({"endpoint": endpoint, **Recorder.seen[-1]}))
    if len(Recorder.seen) != len(CALLS):
        print("a call sent no request, or more than one", file=sys.stderr)
        return 1
    missing = {name for name in dir(client) if not name.startswith("_")} - spy.called
    if missing:
        print(f"Apple's client has methods that are not called here: {sorted(missing)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
