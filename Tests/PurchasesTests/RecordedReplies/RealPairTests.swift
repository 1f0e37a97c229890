import AppStoreModels
import Foundation
import LegacyReceipts
import Purchases
import SharedReceipts
import TestSupport
import Testing

@Suite(.enabled(if: SharedReceipts.arePresent)) struct RealPairTests {
    /// A receipt and the reply that Apple gave to it are two records of the same purchases: `pairs/sandbox-007.json`
    /// belongs to `sandbox/007`.
    @Test func aReceiptAndItsRecordedReplyGiveTheSameTransactions() throws {
        let folder = try unwrap(SharedReceipts.folder)
        var compared = 0
        for file in try SharedReceipts.files("pairs") where file.pathExtension == "json" {
            let name = file.deletingPathExtension().lastPathComponent
            let parts = name.split(separator: "-")
            let stored = try unwrap(
                SharedReceipts.files(String(parts[0])).first {
                    $0.lastPathComponent.hasPrefix(parts[1]) && $0.pathExtension != "json"
                }, folder.path)
            let receipt = try ReceiptDecoder().decode(stored: SharedReceipts.bytes(stored)).payload
            let signed = ReceiptMapper().map(MappingSupport.verified(receipt)).transactions
            let recorded = ReceiptMapper().map(try RecordedReply(json: SharedReceipts.bytes(file))).transactions
            for transaction in signed {
                let id = transaction.payload.transactionId
                let match = try unwrap(
                    recorded.first { $0.payload.transactionId == id }, "\(name) \(id ?? "")")
                compared += 1
                let (one, other) = (transaction.payload, match.payload)
                #expect(one.originalTransactionId == other.originalTransactionId, "\(name)")
                // Its author replaced the names in the reply and not in the receipt.
                if name != "ios6-011" { #expect(one.productId == other.productId && one.bundleId == other.bundleId) }
                #expect(one.quantity == other.quantity && one.webOrderLineItemId == other.webOrderLineItemId, "\(name)")
                #expect(one.offerType == other.offerType, "\(name)")
                #expect(
                    one.offerDiscountType == other.offerDiscountType && one.environment == other.environment, "\(name)")
                #expect(second(one.purchaseDate) == second(other.purchaseDate), "\(name)")
                #expect(second(one.originalPurchaseDate) == second(other.originalPurchaseDate), "\(name)")
                #expect(second(one.expiresDate) == second(other.expiresDate), "\(name)")
                if other.type != nil { #expect(one.type == other.type) }
            }
        }
        #expect(compared > 0)
        print("pairs: \(compared) transactions compared")
    }

    /// `latest_receipt_info` is rounded to whole seconds where the receipt is not (Reference.md V4).
    private func second(_ date: Int64?) -> Int64? { date.map { $0 / 1000 } }
}
