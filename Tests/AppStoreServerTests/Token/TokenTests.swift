import AppStoreServer
import Crypto
import Foundation
import Testing

@Suite struct TokenTests {
    private let key = SigningKey.shared

    private func source(_ clock: TestClock, lifetime: Duration = .seconds(300)) -> BearerTokenSource {
        BearerTokenSource(
            key: key.inAppPurchaseKey, bundleID: Sample.bundleID, lifetime: lifetime, clock: clock.clock)
    }

    @Test("A token has the header and the claims of Reference.md S1, and no others")
    func claims() throws {
        let (header, claims) = try key.open(try source(TestClock(start: 1_760_000_000_999)).token())
        #expect(header.keys.sorted() == ["alg", "kid", "typ"])
        #expect(header["alg"] as? String == "ES256")
        #expect(header["kid"] as? String == Sample.keyID)
        #expect(header["typ"] as? String == "JWT")
        #expect(claims.keys.sorted() == ["aud", "bid", "exp", "iat", "iss"])
        #expect(claims["iss"] as? String == Sample.issuerID)
        #expect(claims["aud"] as? String == "appstoreconnect-v1")
        #expect(claims["bid"] as? String == Sample.bundleID)
        #expect(claims["iat"] as? Int == 1_759_999_995)
        #expect(claims["exp"] as? Int == 1_760_000_295)
    }

    @Test("A token is used again until half a minute before its end, then replaced")
    func renewal() throws {
        let clock = TestClock()
        let source = source(clock)
        let first = try source.token()
        clock.advance(by: .seconds(264))
        #expect(try source.token() == first)
        clock.advance(by: .seconds(1))
        let second = try source.token()
        #expect(second != first)
        #expect(try key.open(second).claims["iat"] as? Int == 1_760_000_260)
    }

    @Test("A token from the future, after the clock was set back, is replaced")
    func clockSetBack() throws {
        let clock = TestClock()
        let source = source(clock)
        let first = try source.token()
        clock.setTimeOfDay(back: .seconds(3600))
        #expect(try source.token() != first)
    }

    @Test("No token lives longer than an hour or shorter than a minute")
    func lifetimeBounds() throws {
        for (asked, given) in [(7200, 3600), (3600, 3600), (10, 60), (900, 900)] {
            let claims = try key.open(try source(TestClock(), lifetime: .seconds(asked)).token()).claims
            #expect((claims["exp"] as? Int ?? 0) - (claims["iat"] as? Int ?? 0) == given)
        }
    }

    @Test("Many tasks get one token")
    func concurrency() async throws {
        let source = source(TestClock())
        let tokens = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<200 { group.addTask { try source.token() } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(tokens.count == 1)
    }

    @Test("A forgotten token is replaced")
    func invalidation() throws {
        let source = source(TestClock())
        let first = try source.token()
        source.invalidate()
        #expect(try source.token() != first)
    }
}

@Suite struct InAppPurchaseKeyTests {
    private let pem = SigningKey.shared.privatePEM

    @Test("PEM is read with any line ends, in one line, and with white space or text around it")
    func tolerance() throws {
        let lines = pem.split(separator: "\n")
        let variants = [
            pem, pem + "\n\n", lines.joined(separator: "\r\n"), lines.joined(separator: "\r"),
            // As JSON and files of environment variables contain it.
            lines.joined(separator: #"\n"#), lines.joined(separator: #"\r\n"#),
            "  \n" + pem, "\u{FEFF}" + pem, "Bag Attributes: none\n" + pem,
            lines.first.map { "\($0)\n" + lines.dropFirst().dropLast().joined() + "\n\(lines.last ?? "")" } ?? "",
        ]
        for variant in variants {
            let key = try InAppPurchaseKey(pem: variant, keyID: "A", issuerID: "B")
            let source = BearerTokenSource(key: key, bundleID: "c")
            #expect(throws: Never.self) { try SigningKey.shared.open(try source.token()) }
        }
    }

    @Test("Other text than a P-256 private key is rejected with a reason")
    func refusal() {
        func error(_ pem: String) -> InAppPurchaseKeyError? {
            do throws(InAppPurchaseKeyError) {
                _ = try InAppPurchaseKey(pem: pem, keyID: "A", issuerID: "B")
                return nil
            } catch { return error }
        }
        #expect(error("") == .notPEM)
        #expect(error("-----BEGIN PRIVATE KEY-----") == .notPEM)
        #expect(error(SigningKey.shared.publicKey.pemRepresentation) == .notPEM)
        #expect(error(String(repeating: " ", count: 20_000) + pem) == .notPEM)
        #expect(error(P384.Signing.PrivateKey().pemRepresentation) == .notAP256PrivateKey)
        #expect(error("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----") == .notAP256PrivateKey)
        #expect(error("-----BEGIN PRIVATE KEY-----\nAA*AA\n-----END PRIVATE KEY-----") == .notPEM)
    }

    @Test("Identifiers must be given")
    func identifiers() {
        #expect(throws: InAppPurchaseKeyError.missingKeyID) { try InAppPurchaseKey(pem: pem, keyID: "", issuerID: "B") }
        #expect(throws: InAppPurchaseKeyError.missingIssuerID) {
            try InAppPurchaseKey(pem: pem, keyID: "A", issuerID: "")
        }
    }

    @Test("Printing a key shows its identifier and nothing of the key")
    func secrecy() {
        var dumped = ""
        dump(SigningKey.shared.inAppPurchaseKey, to: &dumped)
        #expect(dumped.contains(Sample.keyID))
        #expect(!dumped.contains("P256") && !dumped.contains("privateKey"))
        #expect(String(describing: SigningKey.shared.inAppPurchaseKey) == "In-App Purchase key \(Sample.keyID)")
    }
}
