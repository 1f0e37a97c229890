/// Where the value of a field comes from.
public enum Provenance: Hashable, Sendable {
    /// An attribute of an app receipt, signed by Apple (Reference.md V5.2 and V5.3).
    case signedAttribute(Int)
    /// A key of the signed purchase-info of an iOS 6 transaction receipt (Reference.md V6).
    case signedKey(String)
    /// A member of the same name in a JWS of the App Store, whose signature was verified (Reference.md S4).
    case signedJWS
    /// A member of the same name in StoreKit 2 JSON that was stored without its signature.
    case recordedStoreKit2
    /// A key of a recorded verifyReceipt reply, which has no signature.
    case recordedReply(RecordedKey)
    /// A key of a version 1 notification, which has no signature.
    case notificationV1(RecordedKey)
    /// The product catalog; the text names the entry, for example its file and line.
    case catalog(String)
    /// Concluded by a rule from the fields of the same record.
    case inferred(InferenceRule)
    /// The field has no value.
    case absent

    /// The text in the output, for example `attribute 1703` or `inferred: transactionIdEqualsOriginal`.
    public var text: String {
        switch self {
        case .signedAttribute(let number): Self.attributeText(number)
        case .signedKey(let key): "purchase-info \(key)"
        case .signedJWS: "StoreKit 2 JWS"
        case .recordedStoreKit2: "recorded StoreKit 2 JSON"
        case .recordedReply(let key): "recorded reply \(key)"
        case .notificationV1(let key): "notification V1 \(key)"
        case .catalog(let source): source.isEmpty ? "catalog" : "catalog \(source)"
        case .inferred(let rule): rule.provenanceText
        case .absent: "absent"
        }
    }

    /// Whether Apple's signature covers the value.
    public var isSigned: Bool {
        switch self {
        case .signedAttribute, .signedKey, .signedJWS: true
        case .recordedStoreKit2, .recordedReply, .notificationV1, .catalog, .inferred, .absent: false
        }
    }

    private static func attributeText(_ number: Int) -> String {
        attributeTexts.indices.contains(number) ? attributeTexts[number] : "attribute \(number)"
    }

    /// Texts of at most 15 bytes are stored inline, without an allocation. The numbers end with the last that is mapped.
    private static let attributeTexts = (0...1722).map { "attribute \($0)" }
}

/// A key of a recorded document and the object that contains it.
public struct RecordedKey: Hashable, Sendable, CustomStringConvertible {
    /// The object, for example `latest_receipt_info`; empty for the top level.
    public let object: String
    /// The key as it was written, for example `expires_date_ms`.
    public let key: String

    /// Creates a key.
    /// - Parameters:
    ///   - object: the object that contains the key; empty for the top level of the document.
    ///   - key: the key as it was written.
    public init(object: String = "", key: String) {
        self.object = object
        self.key = key
    }

    /// `latest_receipt_info.expires_date_ms`
    public var description: String { object.isEmpty ? key : "\(object).\(key)" }
}
