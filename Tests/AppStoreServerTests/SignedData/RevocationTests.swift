import AppStoreModels
import AppStoreServer
import Foundation
import ReceiptForge
import Synchronization
import Testing

@Suite("Revocation checks, with OpenSSL as the responder", .enabled(if: OpenSSLResponder.path != nil))
struct RevocationTests {
    private static var now: Int64 { Int64(Date().timeIntervalSince1970) * 1000 }

    @inline(never)
    private func refusal(
        by revocation: any RevocationChecking, signedDate: Int64 = Signed.date, now: Int64 = now
    ) async throws -> SignedDataError? {
        let authority = try OpenSSLResponder.authority
        let verifier = try SignedDataVerifier(trust: Signed.trust(authority), revocation: revocation)
        let jws = try authority.sign(payload: Signed.transaction { $0.signedDate = signedDate })
        return try await Signed.refusal(of: jws, by: verifier, now: now)
    }

    @Test(
        "Two good answers let a transaction pass, signed by the issuer or its delegate",
        arguments: [OpenSSLResponder.Signer.issuer, .delegate])
    func good(signer: OpenSSLResponder.Signer) async throws {
        let responder = try OpenSSLResponder(signer: signer)
        #expect(try await refusal(by: OCSPRevocationChecker(transport: responder)) == nil)
        #expect(responder.requests == ["http://leaf.test/ocsp", "http://root.test/ocsp"])
    }

    @Test("A revoked leaf or intermediate is refused for good")
    func revoked() async throws {
        for responder in [try OpenSSLResponder(leaf: .revoked), try OpenSSLResponder(intermediate: .revoked)] {
            let error = try await refusal(by: OCSPRevocationChecker(transport: responder))
            #expect(error?.code == .revoked && error?.isRetryable == false)
        }
    }

    @Test("What the responder does not know is refused")
    func unknown() async throws {
        for responder in [try OpenSSLResponder(leaf: .unknown), try OpenSSLResponder(intermediate: .unknown)] {
            let error = try await refusal(by: OCSPRevocationChecker(transport: responder))
            #expect(error?.code == .revocationUnknown && error?.isRetryable == false)
        }
    }

    @Test(
        "An answer signed by somebody else counts for nothing, whatever it says",
        arguments: [OpenSSLResponder.Signer.foreign, .delegateWithoutUsage])
    func wrongSigner(signer: OpenSSLResponder.Signer) async throws {
        for status in [OpenSSLResponder.Status.good, .revoked] {
            let responder = try OpenSSLResponder(leaf: status, signer: signer)
            let error = try await refusal(by: OCSPRevocationChecker(transport: responder))
            #expect(error?.code == .revocationUnknown)
        }
    }

    @Test("An answer of another time counts for nothing")
    func staleAnswer() async throws {
        let checker = OCSPRevocationChecker(transport: try OpenSSLResponder())
        let error = try await refusal(by: checker, now: Self.now + 30 * 86_400_000)
        #expect(error?.code == .revocationUnknown)
    }

    @Test("No answer can be retried: an HTTP error, a broken connection, garbage is none of them")
    func noAnswer() async throws {
        let responses = [
            ScriptedTransport { _, _ in APITransportResponse(status: 503, body: []) },
            ScriptedTransport { _, _ in throw APITransportError.timedOut },
            ScriptedTransport { _, _ in throw APITransportError.notConnected("refused") },
        ]
        for transport in responses {
            let error = try await refusal(by: OCSPRevocationChecker(transport: transport))
            #expect(error?.code == .revocationCheckFailed && error?.isRetryable == true)
        }
        let garbage = ScriptedTransport { _, _ in APITransportResponse(status: 200, body: [0x30, 0x03, 1, 2, 3]) }
        #expect(
            try await refusal(by: OCSPRevocationChecker(transport: garbage))?.code == .revocationUnknown)
    }

    @Test("A silent server costs the timeout and no more, over the client's own transport")
    func silence() async throws {
        let server = try await LocalServer.start([.silence])
        let authority = try TestSignedDataAuthority.issued { leaf, _, _ in
            leaf.ocspResponder = "\(server.baseURL)/ocsp"
        }
        let transport = AsyncHTTPClientTransport()
        let checker = OCSPRevocationChecker(transport: transport, timeout: .milliseconds(200))
        let status = await checker.status(
            of: SignedDataCertificates(
                leaf: authority.leaf.der, intermediate: authority.intermediate.der, root: authority.root.der),
            now: Self.now)
        guard case .unavailable = status else {
            Issue.record("\(status)")
            return
        }
        #expect(server.requests.first?.hasPrefix("POST /ocsp HTTP/1.1") ?? false)
        #expect(server.requests.first?.lowercased().contains("content-type: application/ocsp-request") ?? false)
        await server.stop()
        await transport.shutdown()
    }

    @Test("A good and a revoked verdict are kept for their time, others are not")
    func kept() async throws {
        let good = try OpenSSLResponder()
        let checker = OCSPRevocationChecker(transport: good, lifetime: .seconds(60))
        for _ in 0..<3 { #expect(try await refusal(by: checker) == nil) }
        #expect(good.requests.count == 2)
        #expect(try await refusal(by: checker, now: Self.now + 61_000) == nil)
        #expect(good.requests.count == 4)
        let revoked = try OpenSSLResponder(leaf: .revoked)
        let second = OCSPRevocationChecker(transport: revoked)
        for _ in 0..<2 { #expect(try await refusal(by: second)?.code == .revoked) }
        #expect(revoked.requests.count == 1)
        let unknown = try OpenSSLResponder(leaf: .unknown)
        let third = OCSPRevocationChecker(transport: unknown)
        for _ in 0..<2 { #expect(try await refusal(by: third)?.code == .revocationUnknown) }
        #expect(unknown.requests.count == 2)
    }

    @Test("One question serves everybody who waits for the same chain")
    func shared() async throws {
        let responder = try OpenSSLResponder()
        let checker = OCSPRevocationChecker(transport: responder)
        let authority = try OpenSSLResponder.authority
        let chain = SignedDataCertificates(
            leaf: authority.leaf.der, intermediate: authority.intermediate.der, root: authority.root.der)
        let now = Self.now
        await withTaskGroup(of: RevocationStatus.self) { group in
            for _ in 0..<16 { group.addTask { await checker.status(of: chain, now: now) } }
            for await status in group { #expect(status == .good) }
        }
        #expect(responder.requests.count == 2)
    }

    @Test("With the check on, certificates must be valid now too, as for Apple's libraries")
    func expiredNow() async throws {
        let responder = try OpenSSLResponder()
        let checker = OCSPRevocationChecker(transport: responder)
        #expect(try await refusal(by: checker, now: Signed.now)?.code == .certificateExpired)
        #expect(responder.requests.isEmpty)
    }

    @Test("A certificate that names no responder cannot be known to be good")
    func noResponder() async throws {
        let authority = try TestSignedDataAuthority.issued { leaf, _, _ in leaf.revocationPointers = false }
        let transport = ScriptedTransport([])
        let verifier = try SignedDataVerifier(
            trust: Signed.trust(authority), revocation: OCSPRevocationChecker(transport: transport))
        let jws = try authority.sign(payload: Signed.transaction())
        #expect(try await Signed.refusal(of: jws, by: verifier, now: Self.now)?.code == .revocationUnknown)
        #expect(transport.requests.isEmpty)
    }

    @Test("Nobody is asked about a payload that is refused anyway, nor for Xcode's, nor when the check is off")
    func notAsked() async throws {
        let transport = ScriptedTransport([])
        let verifier = try SignedDataVerifier(
            trust: Signed.trust(xcode: true), revocation: OCSPRevocationChecker(transport: transport))
        let jws = try Signed.sign(Signed.transaction())
        let other = try Signed.authority.signedPayload(Signed.transaction()).with { $0.key = .signedDataDeveloper }
        #expect(
            try await Signed.refusal(of: other.text(), by: verifier, now: Self.now)?.code == .signatureMismatch)
        #expect(
            try await Signed.refusal(of: jws, by: verifier, expecting: Signed.production, now: Self.now)?.code
                == .environmentMismatch)
        let xcode = try TestSignedDataAuthority.xcodeSignedPayload(Signed.transaction { $0.environment = .xcode })
        #expect(try await Signed.refusal(of: xcode.text(), by: verifier, now: Self.now) == nil)
        #expect(try await Signed.refusal(of: jws, now: Self.now) == nil)
        #expect(transport.requests.isEmpty)
    }
}
