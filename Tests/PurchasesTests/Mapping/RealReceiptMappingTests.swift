import AppStoreModels
import Foundation
import LegacyReceipts
import Purchases
import SharedReceipts
import Testing

@Suite(.enabled(if: SharedReceipts.arePresent)) struct RealReceiptMappingTests {
    @Test(arguments: ["production", "sandbox", "ios6"])
    func everyPurchaseBecomesATransactionWithItsIdentifiers(folder: String) throws {
        var count = 0
        var notes: [String: Int] = [:]
        for file in try SharedReceipts.files(folder) where file.pathExtension != "json" {
            let receipt = try ReceiptDecoder().decode(stored: SharedReceipts.bytes(file)).payload
            let mapped = ReceiptMapper().map(MappingSupport.verified(receipt))
            let purchases: Int
            switch receipt {
            case .app(let app):
                purchases = app.inAppPurchases.count
                #expect(mapped.appTransaction?.payload.bundleId == app.bundleId)
            case .transaction: purchases = 1
            }
            #expect(mapped.transactions.count == purchases)
            for transaction in mapped.transactions {
                count += 1
                for note in transaction.notes { notes[note.name, default: 0] += 1 }
                let payload = transaction.payload
                #expect(
                    payload.transactionId != nil && payload.originalTransactionId != nil, "\(file.lastPathComponent)")
                #expect(payload.productId != nil && payload.purchaseDate != nil && payload.environment != nil)
                #expect(payload.bundleId != nil && payload.quantity != nil && payload.transactionReason != nil)
                if folder != "ios6" { #expect(payload.type != nil) }
                let isExpiring = payload.expiresDate != nil
                if payload.type != nil { #expect(isExpiring == (payload.type == .autoRenewableSubscription)) }
            }
        }
        #expect(count > 0)
        print("\(folder): \(count) transactions, notes \(notes.sorted { $0.key < $1.key })")
    }
}
