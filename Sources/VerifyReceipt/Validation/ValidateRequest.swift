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
        guard let transaction = members["transaction"], transaction.kind == .object else {
            throw ValidationFailure(.missingToken, "The request has no transaction.")
        }
        return ValidateRequest(
            id: String(decoding: id, as: UTF8.self),
            type: members.text("type").flatMap { ProductType(rawValue: String(decoding: $0, as: UTF8.self)) },
            document: try document(object(body[transaction.value])))
    }

    private static func document(_ transaction: Members) throws(ValidationFailure) -> Document {
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

    private static func object(_ text: ArraySlice<UInt8>) throws(ValidationFailure) -> Members {
        do throws(JSONReadingError) {
            return try Members(text)
        } catch {
            let isOtherValue = error.code == .notAContainer
            throw ValidationFailure(
                .malformedRequest, isOtherValue ? "The body is not a JSON object." : "The body is not JSON.",
                reason: error.message)
        }
    }
}

/// The members of one object that the request needs, as ranges of its text.
private struct Members {
    private static let names: [StaticString] = [
        "id", "type", "transaction", "appStoreReceipt", "transactionReceipt", "jwsRepresentation",
    ]

    private let text: ArraySlice<UInt8>
    private var members: [String: JSONMember] = [:]

    init(_ text: ArraySlice<UInt8>) throws(JSONReadingError) {
        self.text = text
        let outcome = text.withUnsafeBufferPointer { bytes -> Result<[String: JSONMember], JSONReadingError> in
            do throws(JSONReadingError) { return .success(try Self.scan(bytes)) } catch { return .failure(error) }
        }
        members = try outcome.get()
    }

    private static func scan(_ bytes: UnsafeBufferPointer<UInt8>) throws(JSONReadingError) -> [String: JSONMember] {
        var members: [String: JSONMember] = [:]
        var scanner = try JSONMemberScanner(bytes)
        guard scanner.isObject else { throw JSONReadingError(code: .notAContainer, offset: 0) }
        while let member = try scanner.next() {
            guard let key = member.key, let name = names.first(where: { key.matches($0, in: bytes) }) else { continue }
            members[name.description] = member
        }
        return members
    }

    subscript(name: String) -> (kind: JSONKind, value: Range<Int>)? {
        members[name].map { ($0.kind, moved($0.value)) }
    }

    /// The content of a string that is not empty. Removing escapes only makes it shorter, so the body's limit bounds it.
    func text(_ name: String) -> ArraySlice<UInt8>? {
        guard let member = members[name], member.kind == .string, !member.content.isEmpty else { return nil }
        let content = text[moved(member.content)]
        guard member.hasEscapes else { return content }
        return content.withUnsafeBufferPointer { JSONStringScan.unescaped($0)[...] }
    }

    /// A range of the object as one of the body.
    private func moved(_ range: Range<Int>) -> Range<Int> {
        (text.startIndex + range.lowerBound)..<(text.startIndex + range.upperBound)
    }
}
