/// The reason why the sandbox rejects a request.
public struct SandboxError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reasons, for a program to branch on.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// The catalog contains a product that cannot be sold. Correct the product that the message names.
        case invalidCatalog
        /// A field of a request is missing or cannot be used. Correct the field that the message names.
        case invalidRequest
        /// No product has this identifier, or it is not for sale. Add it to the catalog.
        case unknownProduct
        /// No customer has this name. Create the customer first.
        case unknownCustomer
        /// No transaction has this identifier. Use one that the sandbox returned.
        case unknownTransaction
        /// No subscription has this original transaction identifier. Use one that the sandbox returned.
        case unknownSubscription
        /// The customer has the product or subscription already. Use another customer, or end the subscription first.
        case alreadyOwned
        /// The state of the purchase does not allow this. The message names the state. Change the state first.
        case notPossible
        /// The product has no such offer. Add it to the catalog.
        case unknownOffer
        /// The customer is not eligible for this offer. The message states the rule. Use another customer or offer.
        case notEligible
        /// The signature of the offer is invalid, or does not match the purchase. Check the key and the signed fields.
        case invalidSignature
    }

    /// The reason.
    public let code: Code
    /// One sentence for a person; it names the field or the identifier.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Two errors with the same code are equal.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }

    public var description: String { "\(code.rawValue): \(message)" }
}

/// Rejects a request that does not meet a condition.
func ensure(_ condition: Bool, _ code: SandboxError.Code, _ message: @autoclosure () -> String) throws {
    if !condition { throw SandboxError(code, message()) }
}

/// Rejects a request without a value.
func required<Value>(
    _ value: Value?, _ code: SandboxError.Code, _ message: @autoclosure () -> String
) throws -> Value {
    guard let value else { throw SandboxError(code, message()) }
    return value
}
