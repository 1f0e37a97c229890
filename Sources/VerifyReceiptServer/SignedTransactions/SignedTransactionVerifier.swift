public import AppStoreModels
public import AppStoreServer
public import VerifyReceipt

/// Checks a StoreKit 2 JWS in `receipt-data` with `SignedDataVerifier`.
///
/// The endpoint decides which apps are accepted, as for receipts. The accepted environments are Production and Sandbox,
/// and those of Xcode if the trust allows it.
public struct SignedTransactionVerifier: SignedTransactionVerifying {
    private let verifier: SignedDataVerifier
    private let expectation: SignedDataExpectation

    /// - Parameters:
    ///   - trust: the trust anchors.
    ///   - revocation: checks certificates for revocation; nil for no check.
    /// - Throws: `SignedDataError` if an additional root cannot be read.
    public init(trust: SignedDataTrust = .apple, revocation: (any RevocationChecking)? = nil) throws {
        verifier = try SignedDataVerifier(trust: trust, revocation: revocation)
        expectation = SignedDataExpectation(
            environments: trust.acceptsXcode
                ? [.production, .sandbox, .xcode, .localTesting] : [.production, .sandbox])
    }

    /// - Throws: `SignedDataError`; or a retryable `BackendFailure` if a revocation check got no answer.
    public func verifiedTransaction(
        _ jws: [UInt8], now: Int64
    ) async throws -> Verified<JWSTransactionDecodedPayload> {
        do {
            let verified = try await verifier.verifiedTransaction(
                String(decoding: jws, as: UTF8.self), expecting: expectation, now: now)
            // The App Store signs renewal infos and notifications with the same leaf, and they share members.
            guard verified.payload.transactionId != nil, verified.payload.bundleId != nil else {
                throw SignedDataError(.malformedPayload, at: .payload, "it is not a transaction")
            }
            return verified
        } catch let error as SignedDataError where error.isRetryable {
            // Reference.md V2: 21100 to 21199 are errors of internal data access.
            throw BackendFailure.internalDataAccess(code: 21100, isRetryable: true)
        }
    }
}
