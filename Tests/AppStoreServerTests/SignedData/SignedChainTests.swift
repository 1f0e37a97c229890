import AppStoreServer
import Foundation
import ReceiptForge
import Testing

@Suite("The certificates of a JWS")
struct SignedChainTests {
    typealias Change = (
        inout CertificateDescription, inout CertificateDescription, inout CertificateDescription
    ) -> Void

    /// Why a transaction signed by a changed authority is refused, whose root is trusted.
    private func refusal(signedDate: Int64 = Signed.date, _ change: Change) async throws -> SignedDataError? {
        let authority = try TestSignedDataAuthority.issued(change)
        let jws = try authority.sign(payload: Signed.transaction { $0.signedDate = signedDate })
        return try await Signed.refusal(of: jws, by: Signed.verifier(authority))
    }

    private func refusal(
        x5c change: (inout [[UInt8]]) throws -> Void, trust: SignedDataTrust = Signed.trust()
    ) async throws -> SignedDataError? {
        let forged = try Signed.authority.signedPayload(Signed.transaction()).with { try change(&$0.certificates) }
        return try await Signed.refusal(of: forged.text(), by: SignedDataVerifier(trust: trust))
    }

    @Test("An authority issued anew is as good as the fixed one")
    func unchanged() async throws {
        #expect(try await refusal { _, _, _ in } == nil)
    }

    // MARK: Roots

    @Test("A root that is only embedded proves nothing")
    func foreignRoot() async throws {
        for impostor in [false, true] {
            let foreign = try TestSignedDataAuthority.foreign(impostor: impostor)
            let jws = try foreign.sign(payload: Signed.transaction())
            let code = try await Signed.refusal(of: jws)?.code
            #expect(code == (impostor ? .certificateSignatureMismatch : .untrustedRoot))
            #expect(try await Signed.refusal(of: jws, by: SignedDataVerifier())?.code == .untrustedRoot)
        }
    }

    @Test("A root is trusted only if it is named: the test authority is not")
    func testAuthority() async throws {
        let jws = try Signed.sign(Signed.transaction())
        #expect(try await Signed.refusal(of: jws, by: SignedDataVerifier())?.code == .untrustedRoot)
    }

    @Test("The evidence has the hash of the header and the payload, which the signature signs")
    func signingInput() async throws {
        let jws = try Signed.sign(Signed.transaction())
        let verified = try await Signed.verifier(Signed.authority).verifiedTransaction(
            jws, expecting: Signed.sandbox, now: Signed.now)
        let end = try #require(jws.lastIndex(of: "."))
        #expect(verified.evidence.signingInput == Fingerprint(of: jws.utf8[..<end]))
    }

    @Test("A pinned root is trusted as the third certificate, and only there")
    func pinnedRoot() async throws {
        let pinned = SignedDataTrust(roots: [Fingerprint(of: Signed.authority.rootCertificate)])
        let jws = try Signed.sign(Signed.transaction())
        let verified = try await SignedDataVerifier(trust: pinned).verifiedTransaction(
            jws, expecting: Signed.sandbox, now: Signed.now)
        #expect(verified.evidence.anchor == .apple)
        #expect(verified.evidence.trustAnchor == Fingerprint(of: Signed.authority.rootCertificate))
        let foreign = try TestSignedDataAuthority.foreign().rootCertificate
        #expect(try await refusal(x5c: { $0[2] = foreign }, trust: pinned)?.code == .untrustedRoot)
        #expect(try await refusal(x5c: { $0[2].append(0) }, trust: pinned)?.code == .untrustedRoot)
        // A foreign chain that brings the pinned root along.
        let impostor = try TestSignedDataAuthority.foreign(impostor: true)
        let code = try await refusal(
            x5c: { $0 = [impostor.leaf.der, impostor.intermediate.der, Signed.authority.rootCertificate] },
            trust: pinned)?.code
        #expect(code == .certificateSignatureMismatch)
    }

    @Test("Under a root of the caller the third certificate does not matter")
    func additionalRoot() async throws {
        let foreign = try TestSignedDataAuthority.foreign().rootCertificate
        for third in [foreign, [], [0x30, 0x00], [UInt8](repeating: 0xFF, count: 5_000), Signed.authority.leaf.der] {
            #expect(try await refusal(x5c: { $0[2] = third }) == nil)
        }
    }

    @Test("Of several roots with one name the one that signed is found")
    func rootsOfOneName() async throws {
        let impostor = try TestSignedDataAuthority.foreign(impostor: true).rootCertificate
        for roots in [[impostor, Signed.authority.rootCertificate], [Signed.authority.rootCertificate, impostor]] {
            let trust = SignedDataTrust(roots: [], additionalRoots: roots)
            #expect(try await refusal(x5c: { _ in }, trust: trust) == nil)
        }
    }

    @Test("A root of the caller that is no certificate is an error, by its number")
    func unreadableRoot() throws {
        let trust = SignedDataTrust(roots: [], additionalRoots: [Signed.authority.rootCertificate, [0x30, 0x01]])
        #expect {
            try SignedDataVerifier(trust: trust)
        } throws: {
            let error = $0 as? SignedDataError
            return error?.code == .malformedCertificate && error?.location == .additionalRoot(1)
        }
    }

    // MARK: The path

    @Test("Certificates in another order, or one in place of another, are refused")
    func order() async throws {
        for order in [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 1, 0], [2, 0, 1], [0, 0, 2], [1, 1, 2], [0, 2, 2]] {
            #expect(try await refusal(x5c: { x5c in x5c = order.map { x5c[$0] } }) != nil)
        }
    }

    @Test("A leaf or intermediate of another authority is refused")
    func mixedChains() async throws {
        for impostor in [false, true] {
            let foreign = try TestSignedDataAuthority.foreign(impostor: impostor)
            #expect(
                try await refusal(x5c: { $0[0] = foreign.leaf.der })?.code == .certificateSignatureMismatch)
            let code = try await refusal(x5c: { $0[1] = foreign.intermediate.der })?.code
            #expect(code == .certificateSignatureMismatch)
        }
    }

    @Test("A certificate with an invalid signature is rejected, and the error names it")
    func brokenSignature() async throws {
        let leaf = try await refusal { leaf, _, _ in leaf.brokenSignature = true }
        #expect(leaf?.code == .certificateSignatureMismatch && leaf?.location == .certificate(0))
        let intermediate = try await refusal { _, intermediate, _ in intermediate.brokenSignature = true }
        #expect(intermediate?.code == .certificateSignatureMismatch && intermediate?.location == .certificate(1))
    }

    @Test("A leaf that the root issued itself is refused")
    func leafUnderRoot() async throws {
        let leaf = try TestSignedDataAuthority.leafDescription.issued(by: Signed.authority.root)
        #expect(try await refusal(x5c: { $0[0] = leaf.der })?.code == .certificateSignatureMismatch)
    }

    @Test("Bytes that are no certificate are rejected, and the error names the position", arguments: [0, 1])
    func malformed(index: Int) async throws {
        for bytes in [[], [0x30, 0x00], [UInt8](repeating: 0x30, count: 3_000), Signed.authority.leaf.der + [0]] {
            let error = try await refusal(x5c: { $0[index] = bytes })
            #expect(error?.code == .malformedCertificate && error?.location == .certificate(index))
        }
    }

    @Test("A certificate signed with SHA-1 is refused, by RSA or ECDSA")
    func sha1() async throws {
        let rsa = try await refusal { leaf, intermediate, _ in (leaf.digest, intermediate.key) = (.sha1, .wwdrG5) }
        #expect(rsa?.code == .unsupportedCertificateAlgorithm && rsa?.location == .certificate(0))
        #expect(try await refusal { leaf, _, _ in leaf.digest = .sha1 }?.code == .malformedCertificate)
        let intermediate = try await refusal { _, intermediate, _ in intermediate.digest = .sha1 }
        #expect(intermediate?.code == .malformedCertificate)
        #expect(
            try await refusal { leaf, intermediate, _ in (leaf.digest, intermediate.key) = (.sha256, .wwdrG5) } == nil)
    }

    @Test("A leaf whose key is not one for P-256 is refused", arguments: [TestKey.signedDataRootCA, .receiptSigning])
    func leafKey(key: TestKey) async throws {
        let authority = try TestSignedDataAuthority.issued { leaf, _, _ in leaf.key = key }
        let forged = authority.signedPayload(try Signed.transaction()).with { $0.key = .signedDataLeaf }
        #expect(
            try await Signed.refusal(of: forged.text(), by: Signed.verifier(authority))?.code
                == .unsupportedCertificateAlgorithm)
    }

    // MARK: What the certificates say

    @Test("Without its marker a leaf is any certificate of Apple's")
    func leafMarker() async throws {
        #expect(try await refusal { leaf, _, _ in leaf.markers = [] }?.code == .missingLeafMarker)
        let developer = try await refusal { leaf, _, _ in leaf.markers = [.developerMarker] }
        #expect(developer?.code == .missingLeafMarker)
        let legacy = try await refusal { leaf, _, _ in leaf.markers = [.purchaseReceiptMarker] }
        #expect(legacy?.code == .missingLeafMarker)
    }

    @Test("Without its marker an intermediate is any of Apple's")
    func intermediateMarker() async throws {
        for markers in [[], [ForgedObjectIdentifier.iTunesStoreIntermediateMarker], [.receiptSigningMarker]] {
            let error = try await refusal { _, intermediate, _ in intermediate.markers = markers }
            #expect(error?.code == .missingIntermediateMarker && error?.location == .certificate(1))
        }
    }

    @Test("Issuers are certificate authorities, and the signer is not")
    func basicConstraints() async throws {
        let changes: [Change] = [
            { leaf, _, _ in leaf.basicConstraints = .certificateAuthority(pathLength: nil) },
            { _, intermediate, _ in intermediate.basicConstraints = .endEntity },
            { _, intermediate, _ in intermediate.basicConstraints = .absent },
            { _, _, root in root.basicConstraints = .endEntity },
            { _, _, root in root.basicConstraints = .absent },
            { _, _, root in root.basicConstraints = .certificateAuthority(pathLength: 0) },
        ]
        for change in changes { #expect(try await refusal(change)?.code == .basicConstraints) }
        #expect(try await refusal { _, _, root in root.basicConstraints = .certificateAuthority(pathLength: 1) } == nil)
        #expect(try await refusal { leaf, _, _ in leaf.basicConstraints = .absent } == nil)
    }

    @Test("A key is used only as its certificate allows")
    func keyUsage() async throws {
        let changes: [Change] = [
            { leaf, _, _ in leaf.keyUsage = .keyEncipherment },
            { _, intermediate, _ in intermediate.keyUsage = .crlSign },
            { _, _, root in root.keyUsage = .digitalSignature },
        ]
        for change in changes { #expect(try await refusal(change)?.code == .keyUsage) }
        #expect(
            try await refusal { leaf, intermediate, _ in (leaf.keyUsage, intermediate.keyUsage) = (nil, nil) } == nil)
    }

    @Test("An unknown critical extension is refused in each place")
    func criticalExtension() async throws {
        let changes: [Change] = [
            { leaf, _, _ in leaf.unknownCriticalExtension = true },
            { _, intermediate, _ in intermediate.unknownCriticalExtension = true },
            { _, _, root in root.unknownCriticalExtension = true },
        ]
        for change in changes { #expect(try await refusal(change)?.code == .criticalExtension) }
    }

    // MARK: Time

    @Test(
        "Each of the three certificates is valid when the payload is signed, from its first to its last second",
        arguments: [0, 1, 2])
    func validity(place: Int) async throws {
        func at(_ date: Int64) async throws -> SignedDataError.Code? {
            try await refusal(signedDate: date) { leaf, intermediate, root in
                let first = ForgedInstant(milliseconds: Signed.date)
                let last = first.adding(days: 1)
                switch place {
                case 0: (leaf.notBefore, leaf.notAfter) = (first, last)
                case 1: (intermediate.notBefore, intermediate.notAfter) = (first, last)
                default: (root.notBefore, root.notAfter) = (first, last)
                }
            }?.code
        }
        #expect(try await at(Signed.date - 1) == .certificateNotYetValid)
        #expect(try await at(Signed.date) == nil)
        #expect(try await at(Signed.date + 86_400_999) == nil)
        #expect(try await at(Signed.date + 86_401_000) == .certificateExpired)
        #expect(try await at(.max) == .certificateExpired)
        #expect(try await at(.min) == .certificateNotYetValid)
    }

    @Test("A chain that was never valid as a whole is refused")
    func neverValid() async throws {
        let error = try await refusal { leaf, intermediate, _ in
            leaf.notAfter = ForgedInstant(2022, 1, 1)
            intermediate.notBefore = ForgedInstant(2023, 1, 1)
        }
        #expect(error?.code == .certificateExpired)
        let reversed = try await refusal { leaf, _, _ in
            (leaf.notBefore, leaf.notAfter) = (ForgedInstant(2025, 1, 1), ForgedInstant(2024, 1, 1))
        }
        #expect(reversed?.code == .certificateExpired)
    }
}
