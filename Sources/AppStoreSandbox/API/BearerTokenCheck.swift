internal import AppStoreModels

/// Checks the bearer tokens of the App Store Server API (Reference.md S1).
struct BearerTokenCheck: Sendable {
    let key: SandboxKey
    let bundleId: String

    /// The maximum lifetime of a token, in seconds.
    private static let maximumLifetime: Int64 = 3_600
    /// How far `iat` may be in the future, in seconds. Apple documents no tolerance.
    private static let skew: Int64 = 60

    /// Whether the header field `Authorization` contains a valid token.
    /// - Parameters:
    ///   - authorization: the value of the header field; nil if it is missing.
    ///   - now: the real time, milliseconds since 1970; the sandbox's own clock can differ.
    func accepts(_ authorization: String?, now: Int64) -> Bool {
        guard let authorization, authorization.hasPrefix("Bearer "),
            let claims = key.claims(of: String(authorization.dropFirst("Bearer ".count))),
            claims["iss"]?.string == key.issuerID, claims["aud"]?.string == "appstoreconnect-v1",
            claims["bid"]?.string == bundleId, let expires = claims["exp"]?.integer
        else { return false }
        let seconds = now / 1_000
        // Two of Apple's own libraries send no `iat`, so the server tolerates its absence.
        let issued = claims["iat"]?.integer ?? seconds
        guard issued >= 0, expires >= 0, issued <= seconds + Self.skew else { return false }
        return expires > seconds && expires - issued <= Self.maximumLifetime
    }
}
