import AppStoreModels
import LegacyReceipts
import Purchases
import ReceiptForge
import TestSupport
import Testing
import TransactionStore
import VerifyReceipt

/// The reply to an iOS 6 style receipt (Reference.md V4 and V2.1).
@Suite struct TransactionReceiptReplyTests {
    private static let running = transactionDate.milliseconds + 1_000
    private static let over = transactionDate.adding(months: 1).milliseconds
    private static let scope = StoreScope(environment: .production, bundleId: bundleId)
    private static let id = "350000535213977"

    private static func period(
        _ id: String, from date: ForgedInstant, months: Int64 = 1,
        _ change: (inout JWSTransactionDecodedPayload) -> Void = { _ in }
    ) -> TransactionFact {
        var payload = JWSTransactionDecodedPayload {
            $0.originalTransactionId = Self.id
            $0.transactionId = id
            $0.webOrderLineItemId = "350000012345679"
            $0.productId = monthly
            $0.purchaseDate = date.milliseconds
            $0.originalPurchaseDate = transactionDate.milliseconds
            $0.expiresDate = date.adding(months: months).milliseconds
            $0.quantity = 1
            $0.type = .autoRenewableSubscription
        }
        change(&payload)
        return TransactionFact(
            payload: payload, legacy: nil,
            origin: FactOrigin(source: .appStoreServerAPI, signedDate: date.milliseconds))
    }

    private static func renewal(
        at date: Int64 = running, _ change: (inout JWSRenewalInfoDecodedPayload) -> Void = { _ in }
    ) -> FactSet {
        StoreTests.renewal(.notificationV2, id, at: date, change)
    }

    private func reply(_ facts: [FactSet] = [], _ bytes: [UInt8]? = nil, now: Int64) async throws -> ReadReply {
        let store = MemoryStore()
        _ = try await store.apply(facts)
        return try await testEndpoint(store: store).ask(body(try bytes ?? transactionReceipt()), now: now)
    }

    @Test func theReceiptIsTheInnerListWithUnderscoresInItsOrder() async throws {
        let receipt = ForgedTransactionReceipt.production(
            product: tree, pod: "35", serial: "0000535213977", at: transactionDate)
        let bytes = try ForgedTransactionSignature.version2(at: transactionDate).signed(receipt)
        let reply = try await testEndpoint().ask(body(bytes))
        #expect(reply.keys == ["receipt", "status"])
        let expected = receipt.purchaseInfo.map { ($0.key.replacing("-", with: "_"), JSONValue.string($0.value)) }
        let members = try unwrap(reply.receipt?.members)
        #expect(members.map(\.key) == expected.map(\.0))
        #expect(members.map(\.value) == expected.map(\.1))
        #expect(reply.receipt?.text("bid") == bundleId)
        #expect(reply.receipt?.text("original_purchase_date_pst") == "2015-03-01 00:00:00 America/Los_Angeles")
    }

    @Test func aRunningSubscriptionIs0WithTheLatestReceipt() async throws {
        let bytes = try transactionReceipt()
        let reply = try await reply([], bytes, now: Self.running)
        #expect(reply.status == 0)
        #expect(reply.keys == ["receipt", "latest_receipt_info", "latest_receipt", "status"])
        #expect(reply.json["latest_receipt_info"] == reply.json["receipt"])
        #expect(reply.json["latest_receipt"]?.string == base64(bytes))
        #expect(reply.receipt?.text("expires_date") == String(Self.over))
        #expect(reply.receipt?.text("expires_date_formatted")?.hasSuffix(" Etc/GMT") == true)
    }

    @Test func anExpiredSubscriptionIs21006WithTheExpiredReceiptInfo() async throws {
        let reply = try await reply(now: Self.over)
        #expect(reply.status == 21006)
        #expect(reply.keys == ["receipt", "latest_expired_receipt_info", "status"])
        #expect(reply.json["latest_expired_receipt_info"] == reply.json["receipt"])
        #expect(try await self.reply(now: Self.over - 1).status == 0)
    }

    @Test func withoutAStoreTheReceiptDecides() async throws {
        let bytes = try transactionReceipt()
        #expect(try await testEndpoint().ask(body(bytes), now: Self.running).status == 0)
        #expect(try await testEndpoint().ask(body(bytes), now: Self.over).status == 21006)
    }

    @Test func theReplyShowsTheRenewal() async throws {
        let running = try await reply([Self.renewal()], now: Self.running)
        #expect(running.json["auto_renew_status"] == .integer(1))
        #expect(running.json["auto_renew_product_id"] == .string("com.example.orchard.yearly"))
        #expect(running.json["expiration_intent"] == nil && running.json["is_in_billing_retry_period"] == nil)
        func ended(at date: Int64) async throws -> ReadReply {
            let renewal = Self.renewal(at: date) {
                $0.autoRenewStatus = .off
                $0.expirationIntent = .billingError
                $0.isInBillingRetryPeriod = true
            }
            return try await reply([renewal], now: Self.over)
        }
        let expired = try await ended(at: Self.over)
        #expect(expired.status == 21006)
        #expect(expired.json["auto_renew_status"] == .integer(0))
        #expect(expired.json["expiration_intent"] == .string("2"))
        #expect(expired.json["is_in_billing_retry_period"] == .string("1"))
        // Said before the period began, it is about an older one.
        let older = try await ended(at: transactionDate.milliseconds - 1)
        #expect(older.status == 21006 && older.json["auto_renew_status"] == .integer(0))
        #expect(older.json["expiration_intent"] == nil && older.json["is_in_billing_retry_period"] == nil)
    }

    @Test func theReplyShowsTheRenewalUnderTheOtherOriginalIdOfTheTransaction() async throws {
        let other = "350000999999999"
        let period = Self.period(Self.id, from: transactionDate) { $0.originalTransactionId = other }
        let renewal = StoreTests.renewal(.notificationV2, other, at: Self.over) {
            $0.autoRenewStatus = .off
            $0.expirationIntent = .billingError
        }
        let reply = try await StoreKind.sqlite.withStore { store in
            _ = try await store.apply([FactSet(scope: Self.scope, transactions: [period]), renewal])
            return try await testEndpoint(store: store).ask(body(transactionReceipt()), now: Self.over)
        }
        #expect(reply.status == 21006)
        #expect(reply.json["auto_renew_status"] == .integer(0))
        #expect(reply.json["expiration_intent"] == .string("2"))
    }

    @Test func theNewestKnownPeriodDecides() async throws {
        let renewed = FactSet(
            scope: Self.scope,
            transactions: [Self.period("350000535219999", from: transactionDate.adding(months: 1))])
        let reply = try await reply([renewed], now: Self.over + 1)
        #expect(reply.status == 0)
        #expect(reply.receipt?.text("transaction_id") == Self.id)
        let latest = try unwrap(reply.json["latest_receipt_info"]?.object)
        #expect(latest.text("transaction_id") == "350000535219999")
        #expect(latest.text("original_transaction_id") == Self.id)
        #expect(latest.text("expires_date") == String(transactionDate.adding(months: 2).milliseconds))
        #expect(latest.text("expires_date_formatted") == "2015-05-01 08:00:00 Etc/GMT")
        #expect(latest.text("expires_date_formatted_pst") == "2015-05-01 01:00:00 America/Los_Angeles")
        #expect(latest.text("purchase_date_pst") == "2015-04-01 01:00:00 America/Los_Angeles")
        #expect(latest.text("bid") == bundleId && latest.text("app_item_id") == "612345678")
        #expect(latest.text("item_id") == "871234567" && latest.text("quantity") == "1")
        // The device that bought the renewal is not known.
        #expect(latest["unique_identifier"] == nil && latest["bvrs"] == nil)
        #expect(latest.members.allSatisfy { $0.value.string != nil })
        #expect(reply.reply.facts.transactionsFromStore == 1)
        #expect(try await self.reply([renewed], now: transactionDate.adding(months: 2).milliseconds).status == 21006)
    }

    @Test func theNewestTransactionReceiptIsHandedOutInItsOwnShape() async throws {
        let endpoint = try testEndpoint(store: MemoryStore())
        let renewal = try transactionReceipt {
            $0.transactionId = "350000535219999"
            $0.originalTransactionId = Self.id
            $0.purchaseDate = transactionDate.adding(months: 1)
            $0.originalPurchaseDate = transactionDate
            $0.expiresDate = transactionDate.adding(months: 2)
            $0.uniqueVendorIdentifier = "7E57A11C-0000-4000-8000-00000000BEEF"
        }
        let now = transactionDate.adding(months: 1).milliseconds + 5
        let own = try await endpoint.ask(body(renewal), now: now)
        let reply = try await endpoint.ask(body(transactionReceipt()), now: now)
        #expect(reply.status == 0)
        #expect(reply.json["latest_receipt_info"] == own.json["receipt"])
        #expect(reply.json["latest_receipt"]?.string == base64(renewal))
        let later = try await endpoint.ask(
            body(transactionReceipt()), now: transactionDate.adding(months: 3).milliseconds)
        #expect(later.status == 21006)
        #expect(later.json["latest_expired_receipt_info"] == own.json["receipt"])
        #expect(later.json["latest_receipt"] == nil)
    }

    @Test func aRefundIs21006BeforeThePeriodIsOver() async throws {
        let refunded = FactSet(
            scope: Self.scope,
            transactions: [
                Self.period(Self.id, from: transactionDate) {
                    $0.revocationDate = transactionDate.milliseconds + 500
                    $0.revocationReason = .issueWithinApp
                }
            ])
        let reply = try await reply([refunded], now: Self.running)
        #expect(reply.status == 21006)
        #expect(reply.json["cancellation_date_ms"] == .string(String(transactionDate.milliseconds + 500)))
        #expect(reply.json["cancellation_reason"] == .string("1"))
        let expired = try unwrap(reply.json["latest_expired_receipt_info"]?.object)
        #expect(expired.text("cancellation_date") == "2015-03-01 08:00:00 Etc/GMT")
        #expect(reply.receipt?["cancellation_date"] == nil)
    }

    @Test func aRefundInTheReceiptItselfIs21006() async throws {
        let bytes = try transactionReceipt {
            $0.cancellationDate = transactionDate.adding(days: 1)
            $0.cancellationReason = "0"
        }
        let reply = try await testEndpoint().ask(body(bytes), now: transactionDate.adding(days: 2).milliseconds)
        #expect(reply.status == 21006)
        #expect(reply.json["cancellation_reason"] == .string("0"))
        #expect(reply.json["latest_expired_receipt_info"] == reply.json["receipt"])
    }

    @Test func aPeriodThatRunsCountsMoreThanOneThatWasRefunded() async throws {
        let facts = FactSet(
            scope: Self.scope,
            transactions: [
                Self.period("350000535219998", from: transactionDate.adding(days: 1), months: 12) {
                    $0.revocationDate = transactionDate.adding(days: 2).milliseconds
                },
                Self.period("350000535219999", from: transactionDate.adding(days: 3)),
            ])
        let reply = try await reply([facts], now: transactionDate.adding(days: 4).milliseconds)
        #expect(reply.status == 0)
        #expect(reply.json["latest_receipt_info"]?["transaction_id"] == .string("350000535219999"))
    }

    @Test func aPeriodThatAnUpgradeEndedDoesNotCount() async throws {
        let facts = FactSet(
            scope: Self.scope,
            transactions: [
                Self.period("350000535219998", from: transactionDate.adding(days: 1), months: 12) {
                    $0.isUpgraded = true
                },
                Self.period("350000535219999", from: transactionDate.adding(days: 3)),
            ])
        let reply = try await reply([facts], now: transactionDate.adding(days: 4).milliseconds)
        #expect(reply.json["latest_receipt_info"]?["transaction_id"] == .string("350000535219999"))
        let later = try await self.reply([facts], now: transactionDate.adding(months: 6).milliseconds)
        #expect(later.status == 21006)
    }

    @Test func otherSubscriptionsOfTheCustomerDoNotCount() async throws {
        let other = FactSet(
            scope: Self.scope, identities: [CustomerIdentity(.originalTransactionId, Self.id)],
            transactions: [
                Self.period("350000535219999", from: transactionDate, months: 24) {
                    $0.originalTransactionId = "350000535219999"
                }
            ])
        #expect(try await reply([other], now: Self.over).status == 21006)
    }

    @Test func ofOnePeriodUnderSeveralIdsTheSmallestIsThePurchase() async throws {
        let endpoint = try testEndpoint(store: MemoryStore())
        let purchase = try transactionReceipt()
        let restored = try transactionReceipt {
            $0.transactionId = "350000535214999"
            $0.originalTransactionId = Self.id
            $0.uniqueVendorIdentifier = "7E57A11C-0000-4000-8000-00000000BEEF"
        }
        for order in [[purchase, restored, purchase], [purchase, purchase, restored]] {
            var last: ReadReply?
            for bytes in order { last = try await endpoint.ask(body(bytes), now: Self.running) }
            let latest = try unwrap(last?.json["latest_receipt_info"]?.object)
            #expect(latest.text("transaction_id") == Self.id)
            #expect(latest.text("unique_vendor_identifier") == "7E57A11C-0000-4000-8000-00000000F06E")
            #expect(last?.json["latest_receipt"]?.string == base64(purchase))
        }
    }

    @Test func storingKeepsTheNewestReceipt() async throws {
        let store = MemoryStore()
        let endpoint = try testEndpoint(store: store)
        _ = try await endpoint.ask(body(transactionReceipt()), now: Self.running)
        _ = try await endpoint.ask(body(transactionReceipt()), now: Self.running)
        // The second time only the facts were new, not the receipt.
        #expect(try await store.counts().receipts == 1)
        let silent = try testEndpoint(store: MemoryStore()) { $0.learnsFromReceipts = false }
        #expect(try await silent.ask(body(transactionReceipt()), now: Self.running).status == 0)
    }
}
