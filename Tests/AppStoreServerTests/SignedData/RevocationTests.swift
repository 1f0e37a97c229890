import AppStoreModels
import AppStoreServer
import Foundation
import ReceiptForge
import Synchronization
import TestSupport
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

    /// The rejection by a responder and the certificate of the query. On a busy machine OpenSSL may take longer than the ten seconds
    /// that swift-certificates waits for two answers, which says nothing.
    @inline(never)
    private func answered(
        now: Int64 = now, by make: () throws -> OpenSSLResponder
    ) async throws -> (error: SignedDataError?, requests: [String]) {
        var (error, requests): (SignedDataError?, [String]) = (nil, [])
        try await eventually("OpenSSL answers in time") {
            let responder = try make()
            error = try await refusal(by: OCSPRevocationChecker(transport: responder), now: now)
            requests = responder.requests
            return error?.code != .revocationCheckFailed
        }
        return (error, requests)
    }

    @Test(
        "Two good answers let a transaction pass, signed by the issuer or its delegate",
        arguments: [OpenSSLResponder.Signer.issuer, .delegate])
    func good(signer: OpenSSLResponder.Signer) async throws {
        let (error, requests) = try await answered { try OpenSSLResponder(signer: signer) }
        #expect(error == nil)
        #expect(requests == ["http://leaf.test/ocsp", "http://root.test/ocsp"])
    }

    @Test("A revoked leaf or intermediate is refused for good")
    func revoked() async throws {
        let leaf = try await answered { try OpenSSLResponder(leaf: .revoked) }.error
        let intermediate = try await answered { try OpenSSLResponder(intermediate: .revoked) }.error
        for error in [leaf, intermediate] { #expect(error?.code == .revoked && error?.isRetryable == false) }
    }

    @Test("A certificate that the responder does not know is rejected")
    func unknown() async throws {
        let leaf = try await answered { try OpenSSLResponder(leaf: .unknown) }.error
        let intermediate = try await answered { try OpenSSLResponder(intermediate: .unknown) }.error
        for error in [leaf, intermediate] { #expect(error?.code == .revocationUnknown && error?.isRetryable == false) }
    }

    @Test(
        "An answer with another signer is ignored",
        arguments: [OpenSSLResponder.Signer.foreign, .delegateWithoutUsage])
    func wrongSigner(signer: OpenSSLResponder.Signer) async throws {
        for status in [OpenSSLResponder.Status.good, .revoked] {
            let error = try await answered { try OpenSSLResponder(leaf: status, signer: signer) }.error
            #expect(error?.code == .revocationUnknown)
        }
    }

    @Test("An answer of another time counts for nothing")
    func staleAnswer() async throws {
        let error = try await answered(now: Self.now + 30 * 86_400_000) { try OpenSSLResponder() }.error
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
        let chain = SignedDataCertificates(
            leaf: authority.leaf.der, intermediate: authority.intermediate.der, root: authority.root.der)
        // A busy machine may give up before the question is sent.
        try await eventually("a question comes") {
            let status = await checker.status(of: chain, now: Self.now)
            guard case .unavailable = status else { throw TestFailure("\(status)") }
            return !server.requests.isEmpty
        }
        #expect(server.requests.first?.hasPrefix("POST /ocsp HTTP/1.1") ?? false)
        #expect(server.requests.first?.lowercased().contains("content-type: application/ocsp-request") ?? false)
        await server.stop()
        await transport.shutdown()
    }

    @Test("A good and a revoked verdict are kept for their time, others are not")
    func kept() async throws {
        let now = Self.now
        let good = try await verdicts(at: [now, now, now, now + 61_000]) { try OpenSSLResponder() }
        #expect(good.map(\.code) == [nil, nil, nil, nil] && good.map(\.requests) == [2, 2, 2, 4])
        let revoked = try await verdicts(at: [now, now]) { try OpenSSLResponder(leaf: .revoked) }
        #expect(revoked.map(\.code) == [.revoked, .revoked] && revoked.map(\.requests) == [1, 1])
        let unknown = try await verdicts(at: [now, now]) { try OpenSSLResponder(leaf: .unknown) }
        #expect(unknown.map(\.code) == [.revocationUnknown, .revocationUnknown] && unknown.map(\.requests) == [1, 2])
    }

    /// The verdicts of one checker that keeps them for a minute, one after the other, and the number of queries of its responder by
    /// then. If OpenSSL takes too long, everything starts again.
    @inline(never)
    private func verdicts(
        at dates: [Int64], by make: () throws -> OpenSSLResponder
    ) async throws -> [(code: SignedDataError.Code?, requests: Int)] {
        var verdicts: [(code: SignedDataError.Code?, requests: Int)] = []
        try await eventually("OpenSSL answers in time") {
            verdicts = []
            let responder = try make()
            let checker = OCSPRevocationChecker(transport: responder, lifetime: .seconds(60))
            for date in dates {
                let error = try await refusal(by: checker, now: date)
                verdicts.append((error?.code, responder.requests.count))
            }
            return !verdicts.contains { $0.code == .revocationCheckFailed }
        }
        return verdicts
    }

    @Test("One question serves everybody who waits for the same chain")
    func shared() async throws {
        let authority = try OpenSSLResponder.authority
        let chain = SignedDataCertificates(
            leaf: authority.leaf.der, intermediate: authority.intermediate.der, root: authority.root.der)
        let now = Self.now
        // OpenSSL may take longer on a busy machine than swift-certificates waits, which says nothing.
        try await eventually("OpenSSL answers in time") {
            let responder = try OpenSSLResponder()
            let checker = OCSPRevocationChecker(transport: responder)
            let statuses: [RevocationStatus] = await withTaskGroup(of: RevocationStatus.self) { group in
                for _ in 0..<16 { group.addTask { await checker.status(of: chain, now: now) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            if statuses.contains(where: { if case .unavailable = $0 { true } else { false } }) { return false }
            #expect(statuses == Array(repeating: .good, count: 16))
            #expect(responder.requests.count == 2)
            return true
        }
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

    @Test("No responder is queried for a rejected payload, for Xcode's, or when the check is off")
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
