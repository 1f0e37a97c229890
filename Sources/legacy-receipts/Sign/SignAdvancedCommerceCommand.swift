import AppStoreModels
import AppStoreServer
import ArgumentParser
import Foundation

struct SignAdvancedCommerceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "advanced-commerce",
        abstract: "Sign an Advanced Commerce request.",
        discussion: """
            Reads the request as JSON: CREATE_ONE_TIME_CHARGE, CREATE_SUBSCRIPTION, MODIFY_SUBSCRIPTION or \
            REACTIVATE_SUBSCRIPTION, with "operation" and "version" "1". For AdvancedCommerceProduct.purchase(compactJWS:).

            EXAMPLES:
              legacy-receipts sign advanced-commerce --private-key key.p8 \\
                --key-id 2X9R4HXF34 --issuer-id 57246542-96fe-1a63-e053-0824d011072a \\
                --bundle-id com.example.app --request request.json
            """)

    @OptionGroup var key: SigningKeyOptions
    @OptionGroup var issuer: IssuerOptions
    @OptionGroup var freshness: FreshnessOptions

    @Option(help: ArgumentHelp("The request, or - for standard input.", valueName: "file"), completion: .file())
    var request: String

    func validate() throws {
        guard request != "-" || key.privateKey != "-" else {
            throw ValidationError("Standard input (-) can be read only once.")
        }
    }

    private struct Head: Decodable {
        let operation: String
    }

    func run() throws {
        let json = Data(try InputFile.read(request))
        do {
            let operation = try JSONDecoder().decode(Head.self, from: json).operation
            switch operation {
            case AdvancedCommerceOneTimeChargeCreateRequest.operation:
                try sign(AdvancedCommerceOneTimeChargeCreateRequest.self, json)
            case AdvancedCommerceSubscriptionCreateRequest.operation:
                try sign(AdvancedCommerceSubscriptionCreateRequest.self, json)
            case AdvancedCommerceSubscriptionModifyInAppRequest.operation:
                try sign(AdvancedCommerceSubscriptionModifyInAppRequest.self, json)
            case AdvancedCommerceSubscriptionReactivateInAppRequest.operation:
                try sign(AdvancedCommerceSubscriptionReactivateInAppRequest.self, json)
            default:
                throw CommandFailure(
                    "The request has the operation \(operation), which is not one that an app passes to StoreKit.")
            }
        } catch let error as DecodingError {
            throw CommandFailure("The request \(request) cannot be signed: \(Self.text(error))")
        }
    }

    private func sign<Request: AdvancedCommerceInAppRequest>(_ type: Request.Type, _ json: Data) throws {
        let request = try JSONDecoder().decode(type, from: json)
        let creator = AdvancedCommerceSignatureCreator(
            key: try key.key(issuerId: issuer.issuerId), bundleID: key.bundleId, clock: freshness.clock)
        try SignedOutput.print { try creator.createSignature(request, nonce: freshness.nonce ?? UUIDText()) }
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
