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

    /// One checker for everything that is verified, so that a verdict is asked for once.
    mutating func revocation() -> (any RevocationChecking)? {
        guard values.boolean("trust.revocation-check") else { return nil }
        return OCSPRevocationChecker(transport: AsyncHTTPClientTransport())
    }

    /// The extension for transactions that StoreKit 2 signed.
    mutating func signedTransactions(in configuration: inout VerifyReceiptServerConfiguration) {
        guard values.boolean("endpoint.answer-signed-transactions") else { return }
        do {
            configuration.endpoint.signedTransactionVerifier = try SignedTransactionVerifier(
                trust: configuration.signedDataTrust, revocation: configuration.revocation)
            configuration.endpoint.answersSignedTransactions = true
        } catch {
            values.note("trust.signed-data-roots", "\(error)")
        }
    }
}
