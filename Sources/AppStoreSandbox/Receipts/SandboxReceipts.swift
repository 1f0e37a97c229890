internal import AppStoreModels
internal import Purchases
internal import ReceiptForge

/// Legacy receipts of the sandbox's purchases, signed by the test authority.
package struct SandboxReceipts {
    let engine: SandboxEngine

    package init(engine: SandboxEngine) { self.engine = engine }

    /// The app receipt of a customer, in DER: all purchases except finished consumables (Reference.md V3.5).
    package func appReceipt(of customer: SandboxCustomer) throws -> [UInt8] {
        let created = ForgedInstant(milliseconds: engine.now)
        let configuration = engine.configuration
        let base: ForgedAppReceipt =
            configuration.isProduction
            ? .production(bundleId: configuration.bundleId, created: created)
            : .sandbox(bundleId: configuration.bundleId, created: created)
        let receipt = base.with {
            $0.applicationVersion = configuration.bundleVersion
            if let appAppleId = configuration.shownAppAppleId { $0.appItemId = appAppleId }
            let download = engine.download(of: customer)
            $0.originalPurchaseDate = .seconds(ForgedInstant(milliseconds: download.date))
            $0.originalApplicationVersion = download.version
            $0.purchases = engine.transactions(of: customer).filter { transaction in
                !(transaction.payload.type == .consumable && transaction.isFinished)
            }.map(purchase)
        }
        return try ForgedSignedData(
            content: receipt.content, chain: try SandboxReceiptChain.certificates(), digest: .sha256
        ).encoded()
    }

    private func purchase(_ transaction: SandboxTransaction) -> ForgedPurchase {
        let payload = transaction.payload
        let product = engine.catalog[payload.productId ?? ""]
        let bought = ForgedInstant(milliseconds: payload.purchaseDate ?? 0)
        let first = ForgedInstant(milliseconds: payload.originalPurchaseDate ?? 0)
        return ForgedPurchase(
            Self.type(payload.type, product), product: payload.productId ?? "", id: transaction.id, at: bought,
            originalId: transaction.originalId, originallyAt: first
        ).with {
            $0.quantity = Int64(payload.quantity ?? 1)
            $0.itemId = engine.configuration.isProduction ? product?.adamId ?? 0 : 0
            $0.webOrderLineItemId = payload.webOrderLineItemId.flatMap { Int64($0) } ?? 0
            $0.expiresDate = payload.expiresDate.map { .seconds(ForgedInstant(milliseconds: $0)) } ?? .empty
            let cancellation = transaction.cancellation
            $0.cancellationDate = cancellation.map { .seconds(ForgedInstant(milliseconds: $0.date)) } ?? .empty
            $0.cancellationReason = cancellation?.reason.map { Int64($0) }
            $0.ownershipType = payload.inAppOwnershipType == .familyShared ? 1 : 0
            $0.promotionalOfferId = payload.legacyOffer.promotionalOfferId
            $0.isTrialPeriod = payload.legacyOffer.isTrialPeriod
            $0.isInIntroOfferPeriod = payload.legacyOffer.isInIntroOfferPeriod
        }
    }

    private static func type(_ type: ProductType?, _ product: SandboxProduct?) -> ForgedPurchase.ProductType? {
        if product?.isFreeSubscription == true { return .freeSubscription }
        return switch type {
        case .consumable?: .consumable
        case .nonConsumable?: .nonConsumable
        case .nonRenewingSubscription?: .nonRenewing
        case .autoRenewableSubscription?: .autoRenewable
        default: nil
        }
    }

    /// The iOS 6 receipt of one transaction: a property list with a signature of version 4.
    package func transactionReceipt(of transaction: SandboxTransaction) throws -> [UInt8] {
        let payload = transaction.payload
        let configuration = engine.configuration
        let isProduction = configuration.isProduction
        let bought = ForgedInstant(milliseconds: payload.purchaseDate ?? 0)
        let product = engine.catalog[payload.productId ?? ""]
        let receipt = ForgedTransactionReceipt(
            product: payload.productId ?? "", id: transaction.id, at: bought, originalId: transaction.originalId,
            originallyAt: ForgedInstant(milliseconds: payload.originalPurchaseDate ?? 0)
        ).with {
            $0.quantity = String(payload.quantity ?? 1)
            $0.bundleId = configuration.bundleId
            $0.applicationVersion = configuration.bundleVersion
            $0.itemId = String(product?.adamId ?? 0)
            // Every transaction id begins with the pod.
            $0.pod = String(transaction.id.prefix(isProduction ? 2 : 3))
            $0.environment = isProduction ? nil : "Sandbox"
            $0.appItemId = configuration.shownAppAppleId.map { String($0) }
            $0.webOrderLineItemId = payload.webOrderLineItemId
            $0.expiresDate = payload.expiresDate.map { ForgedInstant(milliseconds: $0) }
            let cancellation = transaction.cancellation
            $0.cancellationDate = cancellation.map { ForgedInstant(milliseconds: $0.date) }
            $0.cancellationReason = cancellation?.reason.map { String($0) }
            if let isInIntroOfferPeriod = payload.legacyOffer.isInIntroOfferPeriod {
                $0.isTrialPeriod = payload.legacyOffer.isTrialPeriod
                $0.isInIntroOfferPeriod = isInIntroOfferPeriod
            }
        }
        let leaf = try required(
            SandboxReceiptChain.certificates().first, .notPossible, "the sandbox has no certificate for receipts")
        return try ForgedTransactionSignature(certificate: leaf, version: 4).signed(receipt)
    }
}

/// The certificates that sign the sandbox's legacy receipts, under the root of the test authority.
///
/// The authority's own leaves expire when Apple's did. This leaf lasts as long as its intermediate, until 2030-12-10.
/// Receipts created later on the sandbox's clock are invalid.
enum SandboxReceiptChain {
    /// Leaf, intermediate, root.
    static func certificates() throws -> [ForgedCertificate] { try result.get() }

    private static let result = Result {
        let authority = try TestCertificateAuthority.shared()
        let intermediate = try authority.intermediate(.g5)
        let leaf = TestCertificateAuthority.leafDescription(.g5).with {
            $0.serial = [0x7E, 0x57, 0x5A, 0x4D, 0xB0, 0x7E, 0x01]
            $0.notAfter = ForgedInstant(2030, 12, 10)
        }
        return [try leaf.issued(by: intermediate), intermediate, authority.root]
    }
}
