package import AppStoreModels

/// Verifies stored JWS, which can be years old: of any app and environment, at the time of the signature, without a
/// network and without a clock. Certificates may have expired since.
///
/// It exists without the trait Server too, where certificates cannot be read and every JWS is rejected.
package struct StoredSignedDataVerifier: Sendable {
    #if canImport(X509)
        private let verifier: SignedDataVerifier

        /// - Throws: ``SignedDataError`` `malformedCertificate` if an additional root cannot be read.
        package init(trust: SignedDataTrust) throws { verifier = try SignedDataVerifier(trust: trust) }

        private func verified<Payload: SignedPayload>(_ jws: String) throws -> Verified<Payload> {
            try verifier.verified(stored: jws)
        }

        /// - Throws: ``SignedDataError``; its ``SignedDataError/member`` names the nested JWS that is not valid.
        package func notification(_ signedPayload: String) throws -> VerifiedNotification {
            try verifier.verified(storedNotification: signedPayload)
        }

        /// Inspects a JWS with every check; its verdict is that of this verifier.
        /// - Parameters:
        ///   - jws: compact serialization.
        ///   - bundleId: the app that the payload must have; nil for any app.
        package func inspect(_ jws: String, bundleId: String? = nil) -> SignedDataInspection {
            verifier.inspect(jws, bundleId: bundleId)
        }
    #else
        package init(trust: SignedDataTrust) throws {}

        private func verified<Payload: SignedPayload>(_ jws: String) throws -> Verified<Payload> {
            throw SignedDataError(.untrustedRoot, "certificates are read only with the trait Server")
        }

        package func notification(_ signedPayload: String) throws -> VerifiedNotification {
            throw SignedDataError(.untrustedRoot, "certificates are read only with the trait Server")
        }

        package func inspect(_ jws: String, bundleId: String? = nil) -> SignedDataInspection {
            let error = SignedDataError(.untrustedRoot, "certificates are read only with the trait Server")
            return SignedDataInspection(
                kind: nil, byteCount: jws.utf8.count, payload: nil, certificates: [], checks: [], nested: [],
                verdict: .failure(error))
        }
    #endif

    /// - Throws: ``SignedDataError``.
    package func transaction(_ jws: String) throws -> Verified<JWSTransactionDecodedPayload> { try verified(jws) }

    /// - Throws: ``SignedDataError``.
    package func renewalInfo(_ jws: String) throws -> Verified<JWSRenewalInfoDecodedPayload> { try verified(jws) }

    /// - Throws: ``SignedDataError``.
    package func appTransaction(_ jws: String) throws -> Verified<AppTransaction> { try verified(jws) }
}
