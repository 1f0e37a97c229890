public import AppStoreModels
public import LegacyReceipts

/// Verifies a transaction that StoreKit 2 signed (JWS, RFC 7515).
public protocol SignedTransactionVerifying: Sendable {
    /// The payload of a genuine JWS.
    ///
    /// - Parameters:
    ///   - jws: the compact serialization in ASCII.
    ///   - now: milliseconds since 1970-01-01T00:00:00Z.
    /// - Throws: any error if the JWS is malformed or not genuine. Its description becomes ``ReplyFacts/reason`` and
    ///   must not contain the JWS.
    func verifiedTransaction(_ jws: [UInt8], now: Int64) async throws -> Verified<JWSTransactionDecodedPayload>
}
