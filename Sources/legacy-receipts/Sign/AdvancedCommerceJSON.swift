import AppStoreModels
import AppStoreServer
import Foundation

/// An Advanced Commerce request that an app passes to StoreKit, as JSON.
enum AdvancedCommerceJSON {
    /// Why the JSON cannot be signed. The message names the member.
    struct Mistake: Error {
        let message: String
    }

    private struct Head: Decodable {
        let operation: String
    }

    /// The signed request, a JWS.
    /// - Throws: ``Mistake``, `SignatureCreatorError`.
    static func signature(of json: Data, by creator: AdvancedCommerceSignatureCreator, nonce: UUIDText) throws -> String
    {
        func sign<Request: AdvancedCommerceInAppRequest>(_ type: Request.Type) throws -> String {
            try creator.createSignature(try JSONDecoder().decode(type, from: json), nonce: nonce)
        }
        do {
            let operation = try JSONDecoder().decode(Head.self, from: json).operation
            switch operation {
            case AdvancedCommerceOneTimeChargeCreateRequest.operation:
                return try sign(AdvancedCommerceOneTimeChargeCreateRequest.self)
            case AdvancedCommerceSubscriptionCreateRequest.operation:
                return try sign(AdvancedCommerceSubscriptionCreateRequest.self)
            case AdvancedCommerceSubscriptionModifyInAppRequest.operation:
                return try sign(AdvancedCommerceSubscriptionModifyInAppRequest.self)
            case AdvancedCommerceSubscriptionReactivateInAppRequest.operation:
                return try sign(AdvancedCommerceSubscriptionReactivateInAppRequest.self)
            default:
                throw Mistake(
                    message:
                        "The request has the operation \(operation), which is not one that an app passes to StoreKit.")
            }
        } catch let error as DecodingError {
            throw Mistake(message: text(error))
        }
    }

    private static func text(_ error: DecodingError) -> String {
        func path(_ context: DecodingError.Context, _ key: (any CodingKey)? = nil) -> String {
            (context.codingPath + (key.map { [$0] } ?? [])).map(\.stringValue).joined(separator: ".")
        }
        switch error {
        case .keyNotFound(let key, let context): return "\(path(context, key)) is missing."
        case .valueNotFound(_, let context): return "\(path(context)) has no value."
        case .typeMismatch(_, let context): return "\(path(context)) has the wrong type."
        case .dataCorrupted(let context):
            let place = path(context)
            return place.isEmpty ? "it is not JSON." : "\(place) has an unexpected value."
        @unknown default: return "it cannot be decoded."
        }
    }
}
