import AppStoreModels
import Purchases
import TestSupport
import Testing
import TransactionStore
import TransactionStoreConformance

/// A resolved transaction says of each field which document or rule gives it.
@Suite struct FieldSourceTests {
    private let later = Samples.june + Samples.day

    private var cancelled: LegacyTransactionFields {
        var fields = LegacyTransactionFields()
        fields.cancellationDate = later
        return fields
    }

    private func stated(_ source: FactSource, _ date: Int64) -> FieldSource {
        .stated(FactOrigin(source: source, signedDate: date))
    }

    @Test func aFieldWithoutAValueHasNoSource() throws {
        let joined = try unwrap(FactSupport.join(Samples.fact("1")))
        #expect(joined.source(of: .price) == nil)
        #expect(joined.source(of: .revocationDate) == nil)
        #expect(joined.source(of: .productId) == stated(.receipt, Samples.june))
    }

    @Test func fieldsMissingFromASignedTransactionComeFromTheReceipt() throws {
        let joined = try unwrap(
            FactSupport.join(
                Samples.fact("1") { $0.quantity = 2 },
                Samples.fact("1", source: .notificationV2, at: later) { $0.price = 990 }))
        #expect(joined.source(of: .quantity) == stated(.receipt, Samples.june))
        #expect(joined.source(of: .price) == stated(.notificationV2, later))
        #expect(joined.source(of: .productId) == stated(.notificationV2, later))
    }

    @Test func aNewerReceiptGivesItsOwnFieldsOnly() throws {
        let joined = try unwrap(
            FactSupport.join(
                Samples.fact("1", at: later) { $0.expiresDate = Samples.june + 30 * Samples.day },
                Samples.fact("1", source: .appStoreServerAPI) { $0.storefront = "USA" }))
        #expect(joined.source(of: .expiresDate) == stated(.receipt, later))
        #expect(joined.source(of: .storefront) == stated(.appStoreServerAPI, Samples.june))
    }

    @Test func aReceiptIsCompletedByARecordedReply() throws {
        let joined = try unwrap(
            FactSupport.join(
                Samples.fact("1") { $0.expiresDate = Samples.june + Samples.day },
                Samples.fact("1", source: .recordedReply, at: later) {
                    $0.subscriptionGroupIdentifier = "20"
                    $0.webOrderLineItemId = "77"
                    $0.expiresDate = Samples.june + 9 * Samples.day
                }))
        #expect(joined.source(of: .subscriptionGroupIdentifier) == stated(.recordedReply, later))
        #expect(joined.source(of: .webOrderLineItemId) == stated(.recordedReply, later))
        #expect(joined.source(of: .expiresDate) == stated(.receipt, Samples.june))
        #expect(joined.payload.expiresDate == Samples.june + Samples.day)
    }

    @Test func theCancellationOfANewerReceiptIsItsOwn() throws {
        let joined = try unwrap(
            FactSupport.join(
                Samples.fact("1", at: later, legacy: cancelled),
                Samples.fact("1", source: .appStoreServerAPI)))
        #expect(joined.payload.revocationDate == later)
        #expect(joined.source(of: .revocationDate) == stated(.receipt, later))
    }

    @Test func anUpgradeThatNoDocumentStatesNamesItsRule() throws {
        let end = Samples.june + 30 * Samples.day
        let set = Samples.set([
            Samples.fact("1") { $0.expiresDate = end },
            Samples.fact("2", original: "1", product: "gold") {
                $0.purchaseDate = Samples.june + Samples.day
                $0.expiresDate = end
            },
        ])
        let customer = try unwrap(Customer(resolving: [set]))
        let upgraded = try unwrap(customer.transactions.first { $0.payload.transactionId == "1" })
        #expect(upgraded.payload.isUpgraded == true)
        #expect(upgraded.source(of: .isUpgraded) == .inferred(.replacedWhileRunning))
    }
}
