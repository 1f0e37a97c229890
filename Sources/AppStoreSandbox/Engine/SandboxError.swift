/// Why the sandbox refuses to do something.
public struct SandboxError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reasons, for a program to branch on.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// The catalogue holds a product that cannot be sold.
        case invalidCatalog
        /// A field of a request is missing or cannot be used.
        case invalidRequest
        /// No product has this identifier, or it is not for sale.
        case unknownProduct
        /// Nobody has this name.
        case unknownCustomer
        /// No transaction has this identifier.
        case unknownTransaction
        /// No subscription has this original transaction identifier.
        case unknownSubscription
        /// The customer has the product or subscription already.
        case alreadyOwned
        /// The state of the purchase does not allow this.
        case notPossible
        /// The product has no such offer.
        case unknownOffer
        /// The customer may not have this offer.
        case notEligible
        /// The signature of the offer does not prove what it should.
        case invalidSignature
    }

    public let code: Code
    /// One sentence for a person; it names the field or the identifier.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { "\(code.rawValue): \(message)" }
}
