import AppStoreModels
import LegacyReceipts
import Purchases
import ReceiptForge
import Testing
import TransactionStore
import VerifyReceipt

/// An iOS 6 receipt that states its own refund is never answered as valid because of older documents (Reference.md
/// V2.1).
@Suite struct RefundedTransactionReceiptTests {
    private static let scope = StoreScope(environment: .production, bundleId: bundleId)
    private static let id = "350000535213977"
    private static let refund = transactionDate.adding(days: 3)
    private static let now = transactionDate.adding(days: 9).milliseconds

    private static func refunded() throws -> [UInt8] {
        try transactionReceipt {
            $0.cancellationDate = refund
            $0.cancellationReason = "1"
        }
    }

    /// The period as another document states it, without a refund.
    private static func period(_ source: FactSource, at date: Int64) -> FactSet {
        let payload = JWSTransactionDecodedPayload {
            $0.originalTransactionId = id
            $0.transactionId = id
            $0.productId = monthly
            $0.purchaseDate = transactionDate.milliseconds
            $0.originalPurchaseDate = transactionDate.milliseconds
            $0.expiresDate = transactionDate.adding(months: 1).milliseconds
            $0.quantity = 1
            $0.type = .autoRenewableSubscription
        }
        let origin = FactOrigin(source: source, signedDate: date)
        return FactSet(
            scope: scope, transactions: [TransactionFact(payload: payload, legacy: nil, origin: origin)])
    }

    private static func statuses(
        _ receipts: [[UInt8]], knowing facts: [FactSet] = [], _ kind: StoreKind,
        _ change: (inout EndpointConfiguration) -> Void = { _ in }
    ) async throws -> [Int] {
        try await kind.withStore { store in
            _ = try await store.apply(facts)
            let endpoint = try testEndpoint(store: store, change)
            var statuses: [Int] = []
            for bytes in receipts {
                let reply = try await endpoint.ask(body(bytes), now: now)
                statuses.append(reply.status)
                // The endpoint learns it too, unless the machine is too busy for that.
                if reply.reply.facts.isNotKept {
                    _ = try await store.apply([VerifyReceiptEndpoint.facts(of: bytes)])
                }
                guard reply.status == 21006 else { continue }
                #expect(reply.json["cancellation_date_ms"] == .string(String(refund.milliseconds)))
                #expect(reply.json["latest_receipt_info"] == nil && reply.json["latest_receipt"] == nil)
                let info = reply.json["latest_expired_receipt_info"]
                #expect(info?["cancellation_date_ms"] == .string(String(refund.milliseconds)))
            }
            return statuses
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aRefundCountsWhicheverReceiptOfThePurchaseComesFirst(_ kind: StoreKind) async throws {
        let (before, after) = (try transactionReceipt(), try Self.refunded())
        #expect(try await Self.statuses([before, after, before], kind) == [0, 21006, 21006])
        #expect(try await Self.statuses([after, before, after], kind) == [21006, 21006, 21006])
    }

    @Test(arguments: StoreKind.allCases)
    func anAppReceiptFromBeforeTheRefundDoesNotTakeItBack(_ kind: StoreKind) async throws {
        let between = Self.period(.receipt, at: transactionDate.adding(days: 1).milliseconds)
        let receipts = [try Self.refunded(), try transactionReceipt()]
        #expect(try await Self.statuses(receipts, knowing: [between], kind) == [21006, 21006])
    }

    @Test(arguments: StoreKind.allCases)
    func aRefundCountsWithoutStoringReceiptsToo(_ kind: StoreKind) async throws {
        let between = Self.period(.receipt, at: transactionDate.adding(days: 1).milliseconds)
        let statuses = try await Self.statuses([Self.refunded()], knowing: [between], kind) {
            $0.learnsFromReceipts = false
        }
        #expect(statuses == [21006])
    }

    @Test(arguments: [FactSource.receipt, .appStoreServerAPI])
    func aDocumentOfTheSameDateTakesNoSignedRefundBack(_ source: FactSource) async throws {
        let same = Self.period(source, at: Self.refund.milliseconds)
        #expect(try await Self.statuses([Self.refunded()], knowing: [same], .sqlite) == [21006])
    }

    @Test func aRefundUnderAnotherOriginalIdCounts() async throws {
        let payload = JWSTransactionDecodedPayload {
            $0.originalTransactionId = "350000999999999"
            $0.transactionId = Self.id
            $0.productId = monthly
            $0.purchaseDate = transactionDate.milliseconds
            $0.expiresDate = transactionDate.adding(months: 1).milliseconds
            $0.revocationDate = Self.refund.milliseconds
            $0.type = .autoRenewableSubscription
        }
        let origin = FactOrigin(source: .notificationV2, signedDate: Self.refund.milliseconds)
        let refund = FactSet(
            scope: Self.scope, transactions: [TransactionFact(payload: payload, legacy: nil, origin: origin)])
        let receipts = [try transactionReceipt(), try transactionReceipt()]
        #expect(try await Self.statuses(receipts, knowing: [refund], .sqlite) == [21006, 21006])
    }

    @Test func aLaterSignedTransactionTakesTheRefundBack() async throws {
        let reversed = Self.period(.appStoreServerAPI, at: Self.refund.milliseconds + 1)
        #expect(try await Self.statuses([Self.refunded()], knowing: [reversed], .sqlite) == [0])
    }

    @Test func anAppReceiptKeepsItsOwnRefundAgainstOneOfTheSameSecond() async throws {
        let refunded = month(0).with { $0.cancellationDate = .seconds(created.adding(days: -1)) }
        for learns in [true, false] {
            let store = MemoryStore()
            _ = try await store.apply([VerifyReceiptEndpoint.facts(of: appReceipt([month(0)]))])
            let endpoint = try testEndpoint(store: store) { $0.learnsFromReceipts = learns }
            let reply = try await endpoint.ask(body(appReceipt([refunded])))
            #expect(reply.latest?.first?.text("cancellation_date") == "2024-03-14 10:20:30 Etc/GMT")
        }
    }

    // MARK: latest_receipt

    /// A period of the submitted subscription after the first, which another kind of document stated.
    private static func renewal(_ id: String) -> FactSet {
        let payload = JWSTransactionDecodedPayload {
            $0.originalTransactionId = Self.id
            $0.transactionId = id
            $0.productId = monthly
            $0.purchaseDate = transactionDate.adding(months: 1).milliseconds
            $0.originalPurchaseDate = transactionDate.milliseconds
            $0.expiresDate = transactionDate.adding(months: 2).milliseconds
            $0.quantity = 1
            $0.type = .autoRenewableSubscription
        }
        let origin = FactOrigin(source: .receipt, signedDate: transactionDate.adding(months: 1).milliseconds + 1)
        return FactSet(
            scope: scope, identities: [CustomerIdentity(.originalTransactionId, "350000535299999")],
            transactions: [TransactionFact(payload: payload, legacy: nil, origin: origin)])
    }

    private static func reply(knowing known: [UInt8]) async throws -> ReadReply {
        try await StoreKind.sqlite.withStore { store in
            _ = try await store.apply([renewal("350000535219999"), VerifyReceiptEndpoint.facts(of: known)])
            let now = transactionDate.adding(months: 1).milliseconds + 86_400_000
            return try await testEndpoint(store: store).ask(body(transactionReceipt()), now: now)
        }
    }

    @Test func theReceiptOfAnotherSubscriptionIsNotHandedOut() async throws {
        let weekly = try transactionReceipt {
            $0.productId = "com.example.orchard.weekly"
            $0.transactionId = "350000535299999"
            $0.originalTransactionId = "350000535299999"
            $0.purchaseDate = transactionDate.adding(months: 1).adding(days: 1)
            $0.originalPurchaseDate = $0.purchaseDate
            $0.expiresDate = transactionDate.adding(months: 1).adding(days: 8)
        }
        let reply = try await Self.reply(knowing: weekly)
        #expect(reply.status == 0)
        #expect(reply.json["latest_receipt_info"]?["transaction_id"] == .string("350000535219999"))
        #expect(reply.json["latest_receipt"]?.string == base64(try transactionReceipt()))
    }

    @Test func theReceiptOfALaterPeriodIsHandedOutUnlessItWasRefunded() async throws {
        for isRefunded in [false, true] {
            let later = try transactionReceipt {
                $0.transactionId = "350000535215555"
                $0.originalTransactionId = Self.id
                $0.purchaseDate = transactionDate.adding(days: 5)
                if isRefunded { $0.cancellationDate = transactionDate.adding(days: 6) }
            }
            let reply = try await Self.reply(knowing: later)
            #expect(reply.status == 0)
            #expect(reply.json["latest_receipt_info"]?["transaction_id"] == .string("350000535219999"))
            #expect(reply.json["latest_receipt"]?.string == base64(isRefunded ? try transactionReceipt() : later))
        }
    }
}
