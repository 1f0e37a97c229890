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

    @Option(file: "The request, or - for standard input.")
    var request: String

    func validate() throws {
        guard request != "-" || key.privateKey != "-" else {
            throw ValidationError("Standard input (-) can be read only once.")
        }
    }

    func run() throws {
        let json = Data(try InputFile.read(request))
        let creator = AdvancedCommerceSignatureCreator(
            key: try key.key(issuerId: issuer.issuerId), bundleID: key.bundleId, clock: freshness.clock)
        do {
            try SignedOutput.print {
                try AdvancedCommerceJSON.signature(of: json, by: creator, nonce: freshness.nonce ?? UUIDText())
            }
        } catch let mistake as AdvancedCommerceJSON.Mistake {
            throw CommandFailure("The request \(request) cannot be signed: \(mistake.message)")
        }
    }
}
