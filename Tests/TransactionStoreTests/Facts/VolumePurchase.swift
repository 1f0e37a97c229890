import LegacyReceipts
import Purchases
import ReceiptForge
import Testing
import TransactionStore
import TransactionStoreConformance

/// The receipt of a volume purchase, in bytes that can be decoded again.
enum VolumePurchase {
    private static let created = ForgedInstant(2024, 3, 15, 10, 20, 30)

    /// What its app transaction states beside the modern fields.
    static let legacy: LegacyAppTransactionFields = {
        var legacy = LegacyAppTransactionFields()
        legacy.receiptType = "ProductionVPP"
        legacy.expirationDate = created.adding(months: 12).milliseconds
        legacy.volumePurchaseDate = created.adding(days: -3).milliseconds
        legacy.volumePurchaseOrganization = "Test Orchard School"
        return legacy
    }()

    /// The facts of the receipt, which has no purchases.
    /// - Parameter size: about how many bytes it has beyond the usual.
    @inline(never)
    static func set(size: Int = 0) throws -> FactSet {
        let forged = ForgedAppReceipt.production(bundleId: StoreSamples.scope.bundleId, created: created).with {
            $0.receiptType = "ProductionVPP"
            $0.expirationDate = .seconds(created.adding(months: 12))
            $0.volumePurchaseDate = .seconds(created.adding(days: -3))
            $0.volumePurchaseOrganization = "Test Orchard School"
            if size > 0 { $0.opaqueValue = [UInt8](repeating: 7, count: size) }
        }
        let bytes = try forged.signedData(.g5).encoded()
        let limits = DecodingLimits(maximumSize: DecodingLimits.defaultMaximumSize + size)
        let decoded = try ReceiptDecoder(limits: limits).decode(stored: bytes).payload
        guard case .app(let app) = decoded else { throw UnexpectedReceipt() }
        let set = try #require(FactSet(FactSupport.verified(app), bytes: bytes))
        let date = try #require(set.receipt).signedDate
        return FactSet(
            scope: set.scope, appTransaction: set.appTransaction,
            receipt: KnownReceipt(form: .app, bytes: bytes, signedDate: date))
    }

    private struct UnexpectedReceipt: Error {}
}
