public import LegacyReceipts
public import ProductCatalog

/// Turns legacy records into modern transactions, field by field, each with its provenance (Reference.md V9).
///
///     let mapper = ReceiptMapper(catalog: catalog)
///     let mapped = mapper.map(verifiedReceipt)
///     for transaction in mapped.transactions { … }
///
/// A value that neither the record, nor the catalog, nor a named ``InferenceRule`` gives is absent. `signedDate` is
/// always absent, because attribute 12 is the date of the receipt, not of a transaction. Price, currency and storefront
/// are absent too: only the App Store Server API states them.
public struct ReceiptMapper: Sendable {
    /// The developer's product data. Without it, types, groups and terms that a record does not state are absent.
    public let catalog: ProductCatalog?

    /// - Parameter catalog: the developer's product data. Nil to map only what a record or a named ``InferenceRule``
    ///   gives.
    public init(catalog: ProductCatalog? = nil) {
        self.catalog = catalog
    }

    /// Maps an app receipt (iOS 7 and later, macOS). Purchases keep the order of the receipt.
    ///
    /// Terms of non-renewing subscriptions extend one another within this receipt only. Purchases in other receipts do
    /// not count.
    public func map(_ receipt: Verified<AppReceipt>) -> MappedReceipt { map(receipt.map { .app($0) }) }

    private func map(_ app: AppReceipt, _ receipt: Verified<LegacyReceipt>) -> MappedReceipt {
        let isUnknown = app.receiptType != nil && app.environment == nil
        return MappedReceipt(
            transactions: resolve(app.statements, .receipt), stated: .receipt(receipt.payload),
            appTransaction: MappedAppTransaction(app), renewalInfos: [],
            notes: isUnknown ? [.unknownEnvironment] : [], evidence: receipt.evidence, asOf: AsOf(app))
    }

    /// Maps a transaction receipt (iOS 6). It contains one purchase and no app transaction.
    public func map(_ receipt: Verified<TransactionReceipt>) -> MappedReceipt {
        let statement = receipt.payload.statement
        return MappedReceipt(
            transactions: resolve([statement], .receipt), stated: .receipt(.transaction(receipt.payload)),
            appTransaction: nil, renewalInfos: [], notes: statement.notes.filter { $0 == .environmentContradiction },
            evidence: receipt.evidence, asOf: AsOf(receipt.payload))
    }

    /// Maps a receipt of either kind.
    public func map(_ receipt: Verified<LegacyReceipt>) -> MappedReceipt {
        switch receipt.payload {
        case .app(let app): map(app, receipt)
        case .transaction(let transaction): map(receipt.map { _ in transaction })
        }
    }
}
