import COpenSSL
import OpenSSLOracle
import Testing

@Suite struct CMSVerdictTests {
    let authority: TestAuthority
    let content = Array("thirty-one bytes of content ok".utf8)

    init() throws { authority = try TestAuthority() }

    private func verdict(
        _ message: [UInt8], at time: Int64 = TestAuthority.during, anchors: [Identity]? = nil
    ) -> CMSVerdict {
        verifyCMS(message, at: time, anchorsFromMessage: (anchors ?? [authority.root]).map(\.fingerprint))
    }

    private func reason(_ verdict: CMSVerdict) -> String {
        if case .notGenuine(let reason) = verdict { reason } else { "\(verdict)" }
    }

    @Test(arguments: [false, true]) func embeddedRootWithListedFingerprintIsAnAnchor(signedAttributes: Bool) throws {
        let message = try authority.message(over: content, signedAttributes: signedAttributes)
        #expect(verdict(message) == .genuine(content: content))
    }

    @Test func aRootOfTheCallerIsAnAnchorEvenIfTheMessageLacksIt() throws {
        let message = try authority.message(over: content, embedding: [authority.leaf, authority.intermediate])
        let trusted = verifyCMS(message, at: TestAuthority.during, trusting: [try authority.root.der])
        #expect(trusted == .genuine(content: content))
        #expect(reason(verdict(message)).contains("unable to get local issuer certificate"))
    }

    @Test func embeddedRootThatIsNotListedProvesNothing() throws {
        let message = try authority.message(over: content)
        #expect(
            reason(verdict(message, anchors: [])).contains("self-signed certificate in certificate chain"))
        #expect(reason(verdict(message, anchors: [try TestAuthority().root])).contains("self-signed certificate"))
    }

    @Test func anAnchorMustBeSelfSigned() throws {
        let message = try authority.message(over: content, embedding: [authority.leaf, authority.intermediate])
        #expect(!verdict(message, anchors: [authority.intermediate, authority.leaf]).isGenuine)
    }

    @Test func certificatesAreCheckedAtTheGivenTime() throws {
        let message = try authority.message(over: content)
        #expect(verdict(message, at: TestAuthority.notBefore).isGenuine)
        #expect(verdict(message, at: TestAuthority.notAfter - 1).isGenuine)
        // RFC 5280, 4.1.2.5 counts notAfter itself as valid; OpenSSL does not.
        #expect(reason(verdict(message, at: TestAuthority.notAfter)).contains("expired"))
        #expect(reason(verdict(message, at: TestAuthority.notBefore - 1)).contains("not yet valid"))
        #expect(reason(verdict(message, at: TestAuthority.notAfter + 1)).contains("expired"))
    }

    @Test func anIntermediateMustBeAnAuthority() throws {
        let broken = try TestAuthority(intermediateIsAuthority: false)
        let message = try broken.message(over: content)
        #expect(reason(verdict(message, anchors: [broken.root])).contains("invalid CA certificate"))
    }

    @Test func extendedKeyUsageIsNotChecked() throws {
        let signing = try TestAuthority(leafUsage: "codeSigning")
        let message = try signing.message(over: content)
        #expect(verdict(message, anchors: [signing.root]) == .genuine(content: content))
    }

    @Test func aMessageWithoutSignersIsNotGenuine() throws {
        #expect(reason(verdict(signerlessMessage(over: content))).contains("no signers"))
    }

    @Test func aSignerWhoseCertificateIsMissingIsNotGenuine() throws {
        let message = try authority.message(over: content, embedding: [authority.intermediate, authority.root])
        #expect(reason(verdict(message)).contains("signer certificate not found"))
    }

    @Test func changedContentOrSignatureIsNotGenuine() throws {
        for signedAttributes in [false, true] {
            let message = try authority.message(over: content, signedAttributes: signedAttributes)
            let start = try #require(offset(of: content, in: message))
            for position in content.indices {
                var changed = message
                changed[start + position] ^= 0x20
                #expect(!verdict(changed).isGenuine)
            }
            var changed = message
            changed[message.count - 1] ^= 1
            #expect(!verdict(changed).isGenuine)
        }
    }

    @Test func bytesThatAreNoMessageAreUnparsable() throws {
        let message = try authority.message(over: content)
        for bytes in [[], [0x30], [0x30, 0x00], Array(message.dropLast()), content, try authority.root.der] {
            guard case .unparsable(let reason) = verdict(bytes) else {
                Issue.record("\(bytes.count) bytes: \(verdict(bytes))")
                continue
            }
            #expect(!reason.isEmpty)
            #expect(messageFacts(bytes) == nil && canonicalContent(bytes) == nil)
            #expect(signerCount(bytes) == nil && trailingByteCount(bytes) == nil)
        }
    }

    @Test func aTrustedRootThatIsNoCertificateIsReportedNotIgnored() throws {
        let message = try authority.message(over: content)
        let root = try authority.root.der
        #expect(
            verifyCMS(message, at: TestAuthority.during, trusting: [root, [0x30, 0x00]])
                == .unparsable(reason: "trusted root 1 is not a certificate"))
    }

    @Test func theReasonOfOneCallDoesNotLeakIntoTheNext() throws {
        let message = try authority.message(over: content)
        let expected = verdict(message, anchors: [])
        _ = verdict(content)
        #expect(verdict(message, anchors: []) == expected)
        #expect(ERR_peek_error() == 0)
    }
}

func offset(of needle: [UInt8], in bytes: [UInt8]) -> Int? {
    guard bytes.count >= needle.count else { return nil }
    return (0...(bytes.count - needle.count)).first { bytes[$0...].starts(with: needle) }
}
