internal import AppStoreModels

/// The renewal infos and app transactions that the signed documents of a record state. An unsigned one is used only if it adds
/// something to them.
package struct SignedParts {
    private let isEmpty: Bool
    private let hasAppTransaction: Bool
    /// The newest signing date of the renewal info of each subscription.
    private var renewals: [String: Int64] = [:]

    package init(_ documents: [SignedRecord]) {
        self.init(
            isEmpty: documents.isEmpty,
            hasAppTransaction: documents.contains { $0.receipt.appTransaction != nil },
            renewalInfos: documents.flatMap(\.receipt.renewalInfos))
    }

    /// For each document, the newest first, whether its app transaction counts. The newest document of an app states it.
    package static func countAsApp(_ documents: [SignedRecord]) -> [Bool] {
        var apps: Set<String> = []
        return documents.map { document in
            guard let app = document.receipt.appTransaction?.payload.bundleId else { return true }
            return apps.insert(app).inserted
        }
    }

    package init(isEmpty: Bool, hasAppTransaction: Bool, renewalInfos: [MappedRenewalInfo]) {
        self.isEmpty = isEmpty
        self.hasAppTransaction = hasAppTransaction
        for info in renewalInfos {
            guard let id = info.payload.originalTransactionId else { continue }
            renewals[id] = max(renewals[id] ?? .min, info.payload.signedDate ?? .min)
        }
    }

    /// Whether a signed document states the same or a newer state of the renewal info of decoded StoreKit 2 JSON.
    package func state(_ info: MappedRenewalInfo) -> Bool {
        guard let date = info.payload.originalTransactionId.flatMap({ renewals[$0] }) else { return false }
        return date >= info.payload.signedDate ?? .min
    }

    /// Whether the app transaction of a recorded document adds nothing to the signed documents. Decoded StoreKit 2 JSON has the
    /// content of its JWS, and other documents have the content of a receipt.
    package func stateApp(ofStoreKit2 isStoreKit2: Bool) -> Bool { isStoreKit2 ? hasAppTransaction : !isEmpty }
}
