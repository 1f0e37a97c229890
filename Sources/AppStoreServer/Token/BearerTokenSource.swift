internal import AppStoreModels
internal import Synchronization

/// Creates the bearer tokens of the App Store Server API, the Retention Messaging API and the Advanced Commerce API
/// (Reference.md S1).
///
/// A token is a JWT with ES256 for one app. It is created on demand, reused until shortly before it expires, and then
/// replaced. Any number of tasks may request it at the same time.
public final class BearerTokenSource: Sendable {
    /// The signing key.
    public let key: InAppPurchaseKey

    /// The bundle identifier of the app.
    public let bundleID: String

    /// The time from `iat` to `exp`, in seconds: 60 to 3600. Apple rejects tokens with more than 60 minutes.
    public let lifetime: Int64

    private let clock: ServerClock
    private let cached = Mutex<Token?>(nil)

    private struct Token {
        let text: String
        /// In seconds since 1970, like `iat` and `exp`.
        let issuedAt: Int64
        let expiresAt: Int64
    }

    /// The seconds by which `iat` lies in the past, so that a token is valid even if Apple's clock is slightly behind.
    /// Apple documents no tolerance. An earlier `iat` has no drawback.
    private static let backdating: Int64 = 5

    /// A token is replaced when this many seconds or fewer remain, so that it does not expire in transit.
    private static let margin: Int64 = 30

    /// - Parameters:
    ///   - key: signs the tokens and states the issuer.
    ///   - bundleID: the app.
    ///   - lifetime: the time from `iat` to `exp`, clamped to 1 to 60 minutes. The default is five minutes, as in Apple's
    ///     libraries.
    ///   - clock: the current time.
    public init(
        key: InAppPurchaseKey, bundleID: String, lifetime: Duration = .seconds(300), clock: ServerClock = .system
    ) {
        self.key = key
        self.bundleID = bundleID
        self.lifetime = min(max(lifetime.components.seconds, 60), 3600)
        self.clock = clock
    }

    /// A token that stays valid for at least some seconds.
    /// - Throws: errors of the cryptography library. Callers cannot cause them.
    public func token() throws -> String {
        let now = clock.now() / 1000
        return try cached.withLock { cached in
            // A token that was created before the clock was set back would be from the future, so it is replaced too.
            if let token = cached, token.issuedAt <= now, now < token.expiresAt - Self.margin { return token.text }
            let token = try makeToken(now: now)
            cached = token
            return token.text
        }
    }

    /// Discards the token, so that the next one is new. The client does this when Apple answers 401.
    public func invalidate() {
        cached.withLock { $0 = nil }
    }

    private func makeToken(now: Int64) throws -> Token {
        let issuedAt = now - Self.backdating
        let expiresAt = issuedAt + lifetime
        let text = try CompactJWS.sign(with: key) { claims in
            claims.member("iss", key.issuerID)
            claims.member("iat", issuedAt)
            claims.member("exp", expiresAt)
            claims.member("aud", "appstoreconnect-v1")
            claims.member("bid", bundleID)
        }
        return Token(text: text, issuedAt: issuedAt, expiresAt: expiresAt)
    }
}
