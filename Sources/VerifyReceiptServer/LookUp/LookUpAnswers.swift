public import AppStoreServer
public import AppStoreSync
public import VerifyReceipt

/// The answers of the look-up listener: customers of the store, and inspected documents, as JSON and as a page for people.
///
/// The listener bounds the number of calls and the time that a client waits for one; a call that times out continues.
public protocol LookUpAnswers: Sendable {
    /// The customers with an id; nil if there is none.
    /// - Parameters:
    ///   - id: any id that a customer is found by, at most 1,024 bytes.
    ///   - tables: the names of the tables to answer; nil for everything.
    ///   - date: the moment of statuses, entitlements and offers, in milliseconds since 1970-01-01T00:00:00Z.
    ///   - endpoint: has the catalogs of the apps.
    /// - Throws: `TransactionStoreError`.
    func customers(
        with id: String, tables: Set<String>?, at date: Int64, _ endpoint: EndpointConfiguration
    ) async throws -> [UInt8]?

    /// The kind of a document, and the result of each check.
    /// - Parameters:
    ///   - document: a receipt, a JWS, a notification, a request or a reply, in any form.
    ///   - endpoint: has the trust policy for receipts.
    ///   - trust: the trust anchors for JWS.
    /// - Throws: the error of an invalid trust anchor.
    func inspection(
        of document: [UInt8], _ endpoint: EndpointConfiguration, signedData trust: SignedDataTrust
    ) async throws -> [UInt8]

    /// The page of the inspector.
    /// - Parameters:
    ///   - question: what it shows.
    ///   - date: the moment of statuses, in milliseconds since 1970-01-01T00:00:00Z.
    ///   - endpoint: has the trust policy for receipts, and the options of replies.
    ///   - trust: the trust anchors for JWS.
    /// - Throws: `TransactionStoreError`, or the error of an invalid trust anchor.
    func page(
        _ question: InspectorLookUp, at date: Int64, _ endpoint: EndpointConfiguration,
        signedData trust: SignedDataTrust
    ) async throws -> InspectorAnswer

    /// Signs for an app.
    /// - Parameters:
    ///   - signature: what to sign.
    ///   - request: the body of the request, JSON.
    ///   - endpoint: has the catalogs of the apps.
    ///   - credentials: the keys of the apps.
    /// - Throws: ``LookUpRefusal``, `TransactionStoreError`.
    func sign(
        _ signature: LookUpSignature, _ request: [UInt8], _ endpoint: EndpointConfiguration,
        _ credentials: [AppStoreCredentials]
    ) async throws -> [UInt8]
}

/// The content of the inspector page.
public enum InspectorLookUp: Hashable, Sendable {
    /// The forms alone.
    case nothing
    /// A document that was pasted: what it is, every check, what it states, and the verifyReceipt reply to it. Nothing is stored.
    case document([UInt8])
    /// The customers with an id.
    case customers(String)
    /// Why there is no answer, as a sentence.
    case failure(String)
}

/// A page that needs nothing from elsewhere.
public struct InspectorAnswer: Hashable, Sendable {
    /// HTML in UTF-8.
    public let html: [UInt8]
    /// The value of `Content-Security-Policy`, with the hashes of the style and the script in the page.
    public let contentSecurityPolicy: String

    /// Creates a page without checking it.
    /// - Parameters:
    ///   - html: UTF-8.
    ///   - contentSecurityPolicy: the value of the header. Browsers apply only the styles and scripts whose hashes it
    ///     contains.
    public init(html: [UInt8], contentSecurityPolicy: String) {
        self.html = html
        self.contentSecurityPolicy = contentSecurityPolicy
    }
}

/// The data that the look-up listener signs. Raw values are the last part of the path.
public enum LookUpSignature: String, Hashable, Sendable, CaseIterable {
    /// A promotional offer, as a JWS (Reference.md S6.2).
    case promotionalOffer = "promotional-offer"
    /// Whether a customer may have the introductory offer of a product, as a JWS (Reference.md S6.3).
    case introductoryEligibility = "introductory-eligibility"
    /// A request of the Advanced Commerce API that the app passes to StoreKit, as a JWS (Reference.md S6.4).
    case advancedCommerce = "advanced-commerce"
}

/// Why something is not signed. The client gets the reason.
public enum LookUpRefusal: Error, Hashable, Sendable {
    /// The request cannot be read (HTTP 400). Correct it.
    case badRequest(String)
    /// No customer has the id, or the server has no key of the app (HTTP 404). Correct the id, or configure the key.
    case notFound(String)
    /// The customer may not have the offer, or the known data does not decide it (HTTP 409). Show no offer.
    case notEligible(String)
    /// The App Store must be queried first, and does not answer (HTTP 503). Try again later.
    case notNow(String)

    /// Two refusals of the same kind are equal. Reasons are not compared.
    public static func == (left: Self, right: Self) -> Bool { left.kind == right.kind }

    public func hash(into hasher: inout Hasher) { hasher.combine(kind) }

    private var kind: Int {
        switch self {
        case .badRequest: 0
        case .notFound: 1
        case .notEligible: 2
        case .notNow: 3
        }
    }
}
