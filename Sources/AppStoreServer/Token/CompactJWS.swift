internal import AppStoreModels
internal import Crypto
internal import Encodings

/// Signed JSON in compact form with ES256 (RFC 7515 section 3.1, RFC 7518 section 3.4).
enum CompactJWS {
    /// Signs the object with the members that `claims` writes.
    /// - Throws: errors of the cryptography library. Callers cannot cause them.
    static func sign(with key: InAppPurchaseKey, claims: (inout JSONWriter) -> Void) throws -> String {
        let header = JSONWriter.object {
            $0.member("alg", "ES256")
            $0.member("kid", key.keyID)
            $0.member("typ", "JWT")
        }
        let signed = "\(Base64.encodeURL(header)).\(Base64.encodeURL(JSONWriter.object(claims)))"
        // Raw r and s, 64 bytes, not DER.
        let signature = try key.privateKey.signature(for: Array(signed.utf8)).rawRepresentation
        return "\(signed).\(Base64.encodeURL(signature))"
    }
}
