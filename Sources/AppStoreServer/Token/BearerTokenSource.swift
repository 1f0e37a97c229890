internal import AppStoreModels
internal import Synchronization

/// Makes the bearer tokens of the App Store Server API, the Retention Messaging API and the Advanced Commerce API
/// (Reference.md S1).
///
/// A token is a JWT with ES256 for one app. It is made when one is needed, used again until shortly before its end, and
/// replaced; many tasks may ask at once.
public final class BearerTokenSource: Sendable {
    /// The key that signs.
    public let key: InAppPurchaseKey

    /// The bundle identifier of the app.
    public let bundleID: String

    /// From `iat` to `exp`, in seconds: 60 to 3600. Apple refuses tokens with more than 60 minutes.
    public let lifetime: Int64

    private let clock: ServerClock
    private let cached = Mutex<Token?>(nil)

    private struct Token {
        let text: String
        /// In seconds since 1970, as `iat` and `exp` are.
        let issuedAt: Int64
        let expiresAt: Int64
    }

    /// Seconds by which `iat` lies in the past, so that a token is not from the future for a clock at Apple's that is
    /// a little behind. Apple documents no tolerance; being late is harmless.
    private static let backdating: Int64 = 5

    /// A token is replaced when this many seconds or fewer are left, so that it does not end on its way.
    private static let margin: Int64 = 30

    /// - Parameters:
    ///   - key: signs the tokens and names the issuer.
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

    /// A token that is good for at least some seconds more.
    /// - Throws: what the cryptography throws; nothing a caller can cause.
    public func token() throws -> String {
        let now = clock.now() / 1000
        return try cached.withLock { cached in
            // A clock that was set back would make a token from the future: it is replaced too.
            if let token = cached, token.issuedAt <= now, now < token.expiresAt - Self.margin { return token.text }
            let token = try makeToken(now: now)
            cached = token
            return token.text
        }
    }

    /// Forgets the token, so that the next one is new. The client does this when Apple answers 401.
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
