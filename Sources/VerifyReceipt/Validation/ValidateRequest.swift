internal import AppStoreModels

/// A request of cordova-plugin-purchase to its validator. Members that decide nothing are skipped and may be of any size:
/// device, products, offers, prices. `additionalData` is skipped too, because nothing proves the user in it.
struct ValidateRequest {
    /// The bundle id or a product id.
    let id: String
    let type: ProductType?
    let document: Document

    /// `type`. Other texts say nothing about the product.
    enum ProductType: String {
        case application
        case paidSubscription = "paid subscription"
        case nonRenewingSubscription = "non renewing subscription"
        case consumable
        case nonConsumable = "non consumable"
    }

    /// The document in `transaction`.
    enum Document {
        /// `ios-appstore`: an app receipt, or an iOS 6 style receipt.
        case receipt(ArraySlice<UInt8>)
        /// `apple-sk2`: a JWS.
        case signedTransaction(ArraySlice<UInt8>)
    }

    /// `transaction.type` of StoreKit 1.
    static let receiptType = "ios-appstore"
    /// `transaction.type` of StoreKit 2.
    static let signedTransactionType = "apple-sk2"

    /// Of repeated keys the last one counts.
    /// - Throws: ``ValidationFailure``
    static func read(_ body: [UInt8]) throws(ValidationFailure) -> ValidateRequest {
        let members = try object(body[...])
        guard let id = members.text("id"), !id.isEmpty else {
            throw ValidationFailure(.invalidProductId, "The request has no id.")
        }
        guard members.kind("transaction") == .object, let transaction = members.value("transaction") else {
            throw ValidationFailure(.missingToken, "The request has no transaction.")
        }
        return ValidateRequest(
            id: String(decoding: id, as: UTF8.self),
            type: members.text("type").flatMap { ProductType(rawValue: String(decoding: $0, as: UTF8.self)) },
            document: try document(object(transaction)))
    }

    private static func document(_ transaction: RequestMembers) throws(ValidationFailure) -> Document {
        let type = transaction.text("type").map { String(decoding: $0, as: UTF8.self) }
        switch type {
        case receiptType:
            // Apps that send both include the iOS 6 style receipt for servers that are older than app receipts.
            guard let text = transaction.text("appStoreReceipt") ?? transaction.text("transactionReceipt") else {
                throw ValidationFailure(.missingToken, "The transaction has no appStoreReceipt.")
            }
            return .receipt(text)
        case signedTransactionType:
            guard let text = transaction.text("jwsRepresentation") else {
                throw ValidationFailure(.missingToken, "The transaction has no jwsRepresentation.")
            }
            return .signedTransaction(text)
        case let other?:
            // The name goes into the log, so it is one of a fixed set.
            let store = otherStores[other].map { "\($0) (\(other))" } ?? "another store"
            throw ValidationFailure(
                .otherStore, "The transaction is of \(store). This server validates the App Store's only.")
        case nil: throw ValidationFailure(.missingToken, "The transaction has no type.")
        }
    }

    private static let otherStores = [
        "android-playstore": "Google Play", "windows-store-transaction": "the Microsoft Store",
        "amazon-appstore": "the Amazon Appstore", "braintree": "Braintree", "iaptic": "Iaptic",
        "test": "the test store",
    ]

    private static let names: [StaticString] = [
        "id", "type", "transaction", "appStoreReceipt", "transactionReceipt", "jwsRepresentation",
    ]

    private static func object(_ text: ArraySlice<UInt8>) throws(ValidationFailure) -> RequestMembers {
        do throws(JSONReadingError) {
            return try RequestMembers(text, names)
        } catch {
            let isOtherValue = error.code == .notAContainer
            throw ValidationFailure(
                .malformedRequest, isOtherValue ? "The body is not a JSON object." : "The body is not JSON.",
                reason: error.message)
        }
    }
}

extension RequestMembers {
    /// The content of a string that is not empty.
    fileprivate func text(_ name: StaticString) -> ArraySlice<UInt8>? { string(name).flatMap { $0.isEmpty ? nil : $0 } }
}
