internal import AppStoreModels
internal import Crypto

/// Signed JSON in compact form with ES256 (RFC 7515 section 3.1, RFC 7518 section 3.4).
enum CompactJWS {
    /// Signs the object with the members that `claims` writes.
    /// - Throws: errors of the cryptography library. Callers cannot cause them.
    static func sign(with key: InAppPurchaseKey, claims: (inout JSONWriter) -> Void) throws -> String {
        var header = JSONWriter()
        header.beginObject()
        header.member("alg", "ES256")
        header.member("kid", key.keyID)
        header.member("typ", "JWT")
        header.endObject()
        var payload = JSONWriter()
        payload.beginObject()
        claims(&payload)
        payload.endObject()
        let signed = "\(Base64.url(header.bytes)).\(Base64.url(payload.bytes))"
        // Raw r and s, 64 bytes, not DER.
        let signature = try key.privateKey.signature(for: Array(signed.utf8)).rawRepresentation
        return "\(signed).\(Base64.url([UInt8](signature)))"
    }
}
