import AppStoreModels
import AppStoreServer
import Foundation
import ReceiptForge
import Testing

@Suite("Data of StoreKit testing in Xcode")
struct SignedXcodeTests {
    private func xcode(_ environment: Environment?) throws -> ForgedSignedPayload {
        try TestSignedDataAuthority.xcodeSignedPayload(Signed.transaction { $0.environment = environment })
    }

    @Test("It is rejected unless the option is set")
    func refusedByDefault() async throws {
        #expect(try await Signed.refusal(of: xcode(.xcode).text())?.code == .certificateCount)
        #expect(try await Signed.refusal(of: xcode(.xcode).text(), by: SignedDataVerifier())?.code == .certificateCount)
    }

    @Test("With the option it is accepted, as Xcode's only", arguments: [Environment.xcode, .localTesting])
    func accepted(environment: Environment) async throws {
        let verified = try await Signed.verifier(xcode: true).verifiedTransaction(
            xcode(environment).text(), expecting: SignedDataExpectation(bundleId: Signed.bundleId), now: 0)
        #expect(verified.evidence.anchor == .xcode)
        #expect(verified.evidence.leaf == verified.evidence.trustAnchor)
        #expect(verified.payload.environment == environment)
    }

    @Test(
        "It is never valid for Production, Sandbox or another environment",
        arguments: [Environment.production, .sandbox, Environment(rawValue: "xcode"), nil])
    func otherEnvironments(environment: Environment?) async throws {
        let code = try await Signed.refusal(of: xcode(environment).text(), by: Signed.verifier(xcode: true))?.code
        #expect(code == .untrustedRoot)
    }

    @Test("Its signature is checked all the same, with its own certificate")
    func signature() async throws {
        let verifier = try Signed.verifier(xcode: true)
        let forged = try xcode(.xcode).with { $0.key = .signedDataLeaf }
        #expect(try await Signed.refusal(of: forged.text(), by: verifier)?.code == .signatureMismatch)
        var parts = try JWSParts(try xcode(.xcode).text())
        parts.payload = try JWSParts(try xcode(.localTesting).text()).payload
        #expect(try await Signed.refusal(of: parts.text, by: verifier)?.code == .signatureMismatch)
        #expect(try await Signed.refusal(of: "\(parts.header).\(parts.payload).", by: verifier) != nil)
    }

    @Test("Its certificates are not remembered: everybody can make them")
    func notRemembered() async throws {
        let verifier = try Signed.verifier(xcode: true)
        let jws = try xcode(.xcode).text()
        for _ in 0..<2 { _ = try await verifier.verifiedTransaction(jws, expecting: Signed.anything, now: 0) }
        #expect(verifier.chainLookups.hits == 0)
    }

    @Test("Other rules apply to it too: algorithm, app, environment, dates")
    func otherRules() async throws {
        let verifier = try Signed.verifier(xcode: true)
        let jws = try xcode(.xcode).text()
        #expect(
            try await Signed.refusal(of: jws, by: verifier, expecting: Signed.sandbox)?.code == .environmentMismatch)
        let other = SignedDataExpectation(bundleId: "com.example.other")
        #expect(try await Signed.refusal(of: jws, by: verifier, expecting: other)?.code == .bundleIdMismatch)
        let late = try TestSignedDataAuthority.xcodeSignedPayload(
            Signed.transaction { ($0.environment, $0.signedDate) = (.xcode, 2_200_000_000_000) })
        #expect(try await Signed.refusal(of: late.text(), by: verifier)?.code == .certificateExpired)
    }

    @Test("Fractional dates and a transaction id of 0 are read")
    func fractions() async throws {
        let json =
            #"{"environment":"Xcode","transactionId":"0","originalPurchaseDate":-62135769600000,"#
            + #""signedDate":1697680122257.447,"requestDate":1697680122257.447,"price":0.99e3}"#
        let jws = try TestSignedDataAuthority.xcodeSignedPayload(Array(json.utf8)).text()
        let payload = try await Signed.verifier(xcode: true).verifiedTransaction(
            jws, expecting: Signed.anything, now: 0
        ).payload
        #expect(payload.signedDate == 1_697_680_122_257 && payload.originalPurchaseDate == -62_135_769_600_000)
        #expect(payload.price == 990)
    }

    @Test(
        "An App Store chain is not valid for Xcode unless Xcode is accepted",
        arguments: [Environment.xcode, .localTesting])
    func appStoreChain(environment: Environment) async throws {
        let jws = try Signed.sign(Signed.transaction { $0.environment = environment })
        #expect(try await Signed.refusal(of: jws)?.code == .xcodeNotAccepted)
        #expect(try await Signed.refusal(of: jws, by: Signed.verifier(xcode: true)) == nil)
    }
}
