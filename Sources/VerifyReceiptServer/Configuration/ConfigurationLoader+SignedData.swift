import AppStoreServer
import VerifyReceipt

extension ConfigurationLoader {
    /// Whose signatures count under the App Store's JWS.
    mutating func signedDataTrust() -> SignedDataTrust {
        let roots = values.texts("trust.signed-data-roots").flatMap { path in
            certificates(path, key: "trust.signed-data-roots") { encoded in
                _ = try SignedDataVerifier(trust: SignedDataTrust(additionalRoots: encoded))
            }
        }
        if !roots.isEmpty {
            warnings.append("trust.signed-data-roots makes signed data count that Apple did not sign: for tests only")
        }
        return SignedDataTrust(additionalRoots: roots, acceptsXcode: values.boolean("trust.accept-xcode"))
    }

    /// The extension for transactions that StoreKit 2 signed.
    mutating func signedTransactions(in configuration: inout VerifyReceiptServerConfiguration) {
        guard values.boolean("endpoint.answer-signed-transactions") else { return }
        do {
            configuration.endpoint.signedTransactionVerifier = try SignedTransactionVerifier(
                trust: configuration.signedDataTrust)
            configuration.endpoint.answersSignedTransactions = true
        } catch {
            values.note("trust.signed-data-roots", "\(error)")
        }
    }
}
