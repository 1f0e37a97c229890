#!/usr/bin/env python3
"""Checks a running `legacy-receipts sandbox` with Apple's own server library (PyPI: app-store-server-library).

    check_sandbox.py FILE.json

The file contains one object: `url` of the sandbox, `root` (PEM) that signs its data, `key` (PEM), `keyId` and `issuerId` of its
In-App Purchase key, and `bundleId`. The sandbox sells the products of the project's tests and has a stepped clock.

The control API makes the purchases. Apple's code does the rest: AppStoreServerAPIClient sends the requests, with its host
overridden, and SignedDataVerifier verifies each JWS with only the sandbox's root. Every method of Apple's client for the App Store
Server API is called.

Exit status: 0 everything matches Apple's library, 1 it does not (the reason is printed).
"""

import base64
import json
import sys
import traceback
import urllib.request
import uuid

import requests
from appstoreserverlibrary.api_client import APIError, APIException, AppStoreServerAPIClient, GetTransactionHistoryVersion
from appstoreserverlibrary.models.AccountTenure import AccountTenure
from appstoreserverlibrary.models.ConsumptionRequest import ConsumptionRequest
from appstoreserverlibrary.models.ConsumptionRequestV1 import ConsumptionRequestV1
from appstoreserverlibrary.models.ConsumptionStatus import ConsumptionStatus
from appstoreserverlibrary.models.DeliveryStatus import DeliveryStatus
from appstoreserverlibrary.models.DeliveryStatusV1 import DeliveryStatusV1
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.ExtendReasonCode import ExtendReasonCode
from appstoreserverlibrary.models.ExtendRenewalDateRequest import ExtendRenewalDateRequest
from appstoreserverlibrary.models.LifetimeDollarsPurchased import LifetimeDollarsPurchased
from appstoreserverlibrary.models.LifetimeDollarsRefunded import LifetimeDollarsRefunded
from appstoreserverlibrary.models.MassExtendRenewalDateRequest import MassExtendRenewalDateRequest
from appstoreserverlibrary.models.NotificationHistoryRequest import NotificationHistoryRequest
from appstoreserverlibrary.models.NotificationTypeV2 import NotificationTypeV2
from appstoreserverlibrary.models.OrderLookupStatus import OrderLookupStatus
from appstoreserverlibrary.models.Platform import Platform
from appstoreserverlibrary.models.PlayTime import PlayTime
from appstoreserverlibrary.models.RefundPreference import RefundPreference
from appstoreserverlibrary.models.SendAttemptResult import SendAttemptResult
from appstoreserverlibrary.models.Status import Status
from appstoreserverlibrary.models.TransactionHistoryRequest import Order, ProductType, TransactionHistoryRequest
from appstoreserverlibrary.models.Type import Type
from appstoreserverlibrary.models.UpdateAppAccountTokenRequest import UpdateAppAccountTokenRequest
from appstoreserverlibrary.models.UserStatus import UserStatus
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier

# Seconds. The sandbox shares its processors with other tests, so an answer may take long.
PATIENCE = 600

COINS, UNLOCK, BASIC = "com.example.app.coins", "com.example.app.unlock", "com.example.app.basic"


class Wrong(Exception):
    pass


def expect(condition, what):
    if not condition:
        raise Wrong(what)


class Sandbox:
    """The control API."""

    def __init__(self, url):
        self.url = url

    def call(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/sandbox/v1/{path}", data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)

    def buy(self, product, customer="ada"):
        order = {"customer": customer, "productId": product, "offer": {"type": "none"}}
        return self.call("purchases", order)["transactionId"]


class PatientClient(AppStoreServerAPIClient):
    """Apple's client, which gives up after 30 seconds by itself."""

    def _execute_request(self, method, url, params, headers, json, data):
        return requests.request(method, url, params=params, headers=headers, json=json, data=data, timeout=PATIENCE)


class Counted:
    """Apple's client, and the names of its called methods."""

    def __init__(self, client):
        self.client = client
        self.called = set()

    def __getattr__(self, name):
        method = getattr(self.client, name)
        self.called.add(name)
        return method


def refused(code, call):
    try:
        call()
    except APIException as error:
        expect(error.api_error == code, f"expected {code!r}, found {error.api_error!r}")
        return
    raise Wrong(f"expected {code!r}, found success")


def check_purchases(sandbox, api, verifier):
    basic = sandbox.buy(BASIC)
    coins = [sandbox.buy(COINS) for _ in range(21)]
    bought = [basic] + coins
    ids, revision = [], None
    while True:
        page = api.get_transaction_history(basic, revision, TransactionHistoryRequest(sort=Order.ASCENDING),
                                           GetTransactionHistoryVersion.V2)
        ids += [verifier.verify_and_decode_signed_transaction(jws).transactionId for jws in page.signedTransactions]
        revision = page.revision
        if not page.hasMore:
            break
    expect(ids == bought, f"history: {ids}")
    filtered = api.get_transaction_history(
        basic, None, TransactionHistoryRequest(productTypes=[ProductType.AUTO_RENEWABLE]), GetTransactionHistoryVersion.V2)
    expect(len(filtered.signedTransactions) == 1, "history by type")
    info = verifier.verify_and_decode_signed_transaction(api.get_transaction_info(basic).signedTransactionInfo)
    expect(info.type == Type.AUTO_RENEWABLE_SUBSCRIPTION and info.price == 4990, f"transaction: {info}")
    app = verifier.verify_and_decode_app_transaction(api.get_app_transaction_info(basic).signedAppTransactionInfo)
    expect(app.appTransactionId == info.appTransactionId, f"app transaction: {app}")
    api.finish_transaction(coins[0])
    first = api.get_transaction_history(basic, None, TransactionHistoryRequest(), GetTransactionHistoryVersion.V1)
    expect(len(first.signedTransactions) == 20 and first.hasMore, "history V1")
    token = uuid.uuid4()
    api.set_app_account_token(basic, UpdateAppAccountTokenRequest(str(token)))
    info = verifier.verify_and_decode_signed_transaction(api.get_transaction_info(basic).signedTransactionInfo)
    expect(str(info.appAccountToken).lower() == str(token), "account token")
    order = api.look_up_order_id(sandbox.call(f"transactions/{basic}")["orderId"])
    expect(order.status == OrderLookupStatus.VALID and len(order.signedTransactions) == 1, f"order: {order}")
    refused(APIError.TRANSACTION_ID_NOT_FOUND, lambda: api.get_transaction_info("2000000999999999"))
    refused(APIError.INVALID_TRANSACTION_ID, lambda: api.get_transaction_info("x"))
    return basic, coins


def status_of(api, verifier, original):
    [group] = api.get_all_subscription_statuses(original).data
    [item] = group.lastTransactions
    info = verifier.verify_and_decode_renewal_info(item.signedRenewalInfo)
    expect(info.originalTransactionId == original, f"renewal info: {info}")
    verifier.verify_and_decode_signed_transaction(item.signedTransactionInfo)
    return item.status


def check_subscription(sandbox, api, verifier, basic):
    expect(status_of(api, verifier, basic) == Status.ACTIVE, "active")
    extended = api.extend_subscription_renewal_date(
        basic, ExtendRenewalDateRequest(10, ExtendReasonCode.CUSTOMER_SATISFACTION, str(uuid.uuid4())))
    expect(extended.success and extended.originalTransactionId == basic, f"extended: {extended}")
    mass = str(uuid.uuid4())
    accepted = api.extend_renewal_date_for_all_active_subscribers(
        MassExtendRenewalDateRequest(3, ExtendReasonCode.SERVICE_ISSUE_OR_OUTAGE, mass, ["USA"], BASIC))
    expect(accepted.requestIdentifier == mass, "mass extension")
    sandbox.call("clock", {"advance": 1000})
    done = api.get_status_of_subscription_renewal_date_extensions(mass, BASIC)
    expect(done.complete and done.succeededCount == 1 and done.failedCount == 0, f"mass extension: {done}")
    sandbox.call(f"subscriptions/{basic}/renew", {})
    sandbox.call(f"subscriptions/{basic}/fail-billing", {})
    sandbox.call(f"subscriptions/{basic}/renew", {})
    expect(status_of(api, verifier, basic) == Status.BILLING_GRACE_PERIOD, "grace")
    sandbox.call(f"subscriptions/{basic}/renew", {})
    expect(status_of(api, verifier, basic) == Status.BILLING_RETRY, "retry")
    latest = sandbox.call(f"subscriptions/{basic}/recover-billing", {})["transactionId"]
    sandbox.call(f"transactions/{latest}/refund", {})
    expect(status_of(api, verifier, basic) == Status.REVOKED, "revoked")
    sandbox.call("purchases", {"customer": "ada", "productId": BASIC,
                               "offer": {"type": "offer-code", "identifier": "SPRING"}})
    expect(status_of(api, verifier, basic) == Status.ACTIVE, "resubscribed")


def check_refunds(sandbox, api, verifier, basic, coins):
    sandbox.call(f"transactions/{coins[1]}/request-refund", {"reason": "UNINTENDED_PURCHASE"})
    api.send_consumption_information(coins[1], ConsumptionRequest(
        customerConsented=True, deliveryStatus=DeliveryStatus.DELIVERED, sampleContentProvided=False,
        consumptionPercentage=0, refundPreference=RefundPreference.GRANT_FULL))
    api.send_consumption_data(coins[2], ConsumptionRequestV1(
        customerConsented=True, consumptionStatus=ConsumptionStatus.NOT_CONSUMED, platform=Platform.APPLE,
        sampleContentProvided=False, deliveryStatus=DeliveryStatusV1.DELIVERED_AND_WORKING_PROPERLY,
        appAccountToken="", accountTenure=AccountTenure.ZERO_TO_THREE_DAYS, playTime=PlayTime.UNDECLARED,
        lifetimeDollarsRefunded=LifetimeDollarsRefunded.ZERO_DOLLARS,
        lifetimeDollarsPurchased=LifetimeDollarsPurchased.ZERO_DOLLARS, userStatus=UserStatus.ACTIVE))
    refused(APIError.INVALID_CUSTOMER_CONSENTED, lambda: api.send_consumption_information(
        coins[1], ConsumptionRequest(
            customerConsented=False, deliveryStatus=DeliveryStatus.DELIVERED, sampleContentProvided=False)))
    sandbox.call("clock", {"advance": 5000})
    refunds = api.get_refund_history(basic, None)
    found = [verifier.verify_and_decode_signed_transaction(jws) for jws in refunds.signedTransactions]
    expect(len(found) == 2 and found[-1].transactionId == coins[1], f"refunds: {found}")
    expect(found[-1].revocationDate is not None, "revocation date")


def check_notifications(sandbox, api, verifier):
    token = api.request_test_notification().testNotificationToken
    sandbox.call("clock")
    status = api.get_test_notification_status(token)
    expect(status.sendAttempts[0].sendAttemptResult == SendAttemptResult.SUCCESS, f"test: {status}")
    now = sandbox.call("clock")["now"]
    question = NotificationHistoryRequest(startDate=now - 86_400_000, endDate=now + 1_000)
    payloads, page_token = [], None
    while True:
        page = api.get_notification_history(page_token, question)
        payloads += [item.signedPayload for item in page.notificationHistory]
        page_token = page.paginationToken
        if not page.hasMore:
            break
    kinds = set()
    for payload in payloads:
        notification = verifier.verify_and_decode_notification(payload)
        expect(notification.version == "2.0", "version")
        kinds.add(notification.notificationType)
        if notification.data and notification.data.signedTransactionInfo:
            verifier.verify_and_decode_signed_transaction(notification.data.signedTransactionInfo)
        if notification.data and notification.data.signedRenewalInfo:
            verifier.verify_and_decode_renewal_info(notification.data.signedRenewalInfo)
    wanted = {
        NotificationTypeV2.SUBSCRIBED, NotificationTypeV2.ONE_TIME_CHARGE, NotificationTypeV2.DID_RENEW,
        NotificationTypeV2.DID_FAIL_TO_RENEW, NotificationTypeV2.GRACE_PERIOD_EXPIRED, NotificationTypeV2.REFUND,
        NotificationTypeV2.DID_CHANGE_RENEWAL_STATUS, NotificationTypeV2.CONSUMPTION_REQUEST,
        NotificationTypeV2.RENEWAL_EXTENDED, NotificationTypeV2.RENEWAL_EXTENSION, NotificationTypeV2.TEST,
    }
    expect(wanted <= kinds, f"notifications: {sorted(kind.value for kind in wanted - kinds)} are missing")
    return len(payloads)


def der(pem):
    lines = [line for line in pem.splitlines() if line and not line.startswith("-")]
    return base64.b64decode("".join(lines))


def main(arguments):
    if len(arguments) != 1:
        print("usage: check_sandbox.py FILE.json", file=sys.stderr)
        return 1
    with open(arguments[0], encoding="utf-8") as file:
        settings = json.load(file)
    sandbox = Sandbox(settings["url"])
    client = PatientClient(
        settings["key"].encode(), settings["keyId"], settings["issuerId"], settings["bundleId"], Environment.SANDBOX)
    client._base_url = settings["url"]
    api = Counted(client)
    verifier = SignedDataVerifier([der(settings["root"])], False, Environment.SANDBOX, settings["bundleId"])
    try:
        basic, coins = check_purchases(sandbox, api, verifier)
        check_subscription(sandbox, api, verifier, basic)
        check_refunds(sandbox, api, verifier, basic, coins)
        count = check_notifications(sandbox, api, verifier)
    except APIException as error:
        print(f"APIException: HTTP {error.http_status_code}, {error.raw_api_error}, {error.error_message}")
        traceback.print_exc(file=sys.stdout)
        return 1
    except Exception:
        traceback.print_exc(file=sys.stdout)
        return 1
    # Get Refund History V1 is not in Apple's client; the two versions of the history are one method.
    print(f"endpoints: {len(api.called) + 1}; notifications: {count}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
