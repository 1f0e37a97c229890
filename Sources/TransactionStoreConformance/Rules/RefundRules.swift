import LegacyReceipts
import Purchases
import TransactionStore

extension StoreConformance {
    private static let refundDate = Samples.june + 5 * Samples.day + 7

    /// The facts of an iOS 6 receipt of June's period, signed before or after a refund.
    private static func transactionReceipt(_ text: String, cancelledAt cancellation: Int64? = nil) throws -> FactSet {
        let receipt = TransactionReceipt(
            productId: "monthly", transactionId: "200", originalTransactionId: "100", bundleId: "com.example.app",
            quantity: 1, purchaseDate: Samples.june, expiresDate: Samples.june + 30 * Samples.day,
            cancellationDate: cancellation, cancellationReason: cancellation == nil ? nil : 1)
        return try require(FactSet(FactSupport.verified(receipt), bytes: Array(text.utf8)))
    }

    static let refunds: [StoreRule] = [
        StoreRule(opened: "a refund from a transaction receipt wins over older documents, in every order") {
            store in
            let between = FactSupport.receipt([FactSupport.purchase()], createdAt: Samples.june + Samples.day)
            let sets = [
                try transactionReceipt("before"), try require(FactSet(between, bytes: [1])),
                try transactionReceipt("after", cancelledAt: refundDate),
            ]
            for customer in try await outcomes(inEveryOrderOf: sets, store, original: "100") {
                let transaction = try require(customer.transactions.first)
                try expect(transaction.payload.revocationDate, equals: refundDate)
                try expect(transaction.legacy.cancellationDate, equals: refundDate)
                try expect(transaction.legacy.cancellationReason, equals: 1)
                try expect(customer.newestTransactionReceipt?.bytes, equals: Array("after".utf8))
            }
        },
        StoreRule(opened: "a refund dated at or before the purchase counts too") {
            store in
            for date in [Samples.june, Samples.june - Samples.day] {
                let sets = [try transactionReceipt("z"), try transactionReceipt("a", cancelledAt: date)]
                for customer in try await outcomes(
                    inEveryOrderOf: sets, store, original: "100", apps: "at\(date)")
                {
                    try expect(customer.transactions.first?.legacy.cancellationDate, equals: date)
                    try expect(customer.newestTransactionReceipt?.bytes, equals: Array("a".utf8))
                }
            }
        },
        StoreRule(opened: "the refund of an old period does not replace the receipt of the renewal") { store in
            let renewal = TransactionReceipt(
                productId: "monthly", transactionId: "201", originalTransactionId: "100", bundleId: "com.example.app",
                purchaseDate: Samples.june + Samples.day, expiresDate: Samples.june + 31 * Samples.day)
            let sets = [
                try transactionReceipt("refunded", cancelledAt: refundDate),
                try require(FactSet(FactSupport.verified(renewal), bytes: Array("renewed".utf8))),
            ]
            for customer in try await outcomes(inEveryOrderOf: sets, store, original: "100") {
                try expect(customer.newestTransactionReceipt?.bytes, equals: Array("renewed".utf8))
            }
        },
        StoreRule(opened: "a refund is read again from a receipt that was once stored by its purchase date") { store in
            let new = try transactionReceipt("after", cancelledAt: refundDate)
            // Earlier versions stored both under the same date, and the fact without the refund won.
            let old = FactSet(
                scope: new.scope, identities: new.identities,
                transactions: try transactionReceipt("before").transactions,
                receipt: KnownReceipt(form: .transaction, bytes: Array("after".utf8), signedDate: Samples.june))
            try await store.add(old)
            let before = try require(try await store.customer(original: "100"))
            try expect(before.transactions.first?.payload.revocationDate == nil)
            try expect(!before.hasTakenIn(new))
            try await store.add(new)
            let after = try require(try await store.customer(original: "100"))
            try expect(after.transactions.first?.payload.revocationDate, equals: refundDate)
            try expect(after.hasTakenIn(new))
        },
    ]
}
