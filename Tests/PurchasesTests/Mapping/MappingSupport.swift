import AppStoreModels
import LegacyReceipts
import ProductCatalog
import Purchases
import TestSupport

/// Values that the mapping tests share.
enum MappingSupport {
    /// 2020-06-01T00:00:00Z.
    static let june: Int64 = 1_590_969_600_000
    static let day: Int64 = 86_400_000

    static func verified<Payload: Sendable>(_ payload: Payload) -> Verified<Payload> {
        let fingerprint = Fingerprint(of: [])
        return Verified(
            payload: payload,
            evidence: SignatureEvidence(
                anchor: .apple, leaf: fingerprint, trustAnchor: fingerprint, digestAlgorithm: .sha1,
                validationTime: 0))
    }

    static func map(
        _ purchases: [InAppPurchase], createdAt: Int64? = june, type: ReceiptType? = .production,
        bundleId: String = "com.example.app", catalog: ProductCatalog? = nil
    ) -> MappedReceipt {
        let receipt = AppReceipt(
            receiptType: type, appItemId: 42, bundleId: bundleId, receiptCreationDate: createdAt,
            inAppPurchases: purchases)
        return ReceiptMapper(catalog: catalog).map(verified(receipt))
    }

    static func mapOne(
        _ purchase: InAppPurchase, createdAt: Int64? = june, catalog: ProductCatalog? = nil
    ) throws -> MappedTransaction {
        let mapped = map([purchase], createdAt: createdAt, catalog: catalog)
        return try unwrap(mapped.transactions.first)
    }

    static func catalog(_ entries: CatalogEntry...) throws -> ProductCatalog { try ProductCatalog(entries: entries) }

    static func entry(_ productId: String, _ configure: (inout CatalogEntry) -> Void) -> CatalogEntry {
        let source = CatalogSource(file: "catalog.yaml", line: 3, element: "products.\(productId)")
        var entry = CatalogEntry(subject: .productId(productId), source: source)
        configure(&entry)
        return entry
    }
}
