import Foundation
import ReceiptForge
import Testing

@Suite("OpenSSL verifies forged messages", .enabled(if: OpenSSL.isAvailable))
struct OpenSSLTests {
    private static let checked = Catalog.cases.filter { $0.openSSLAccepts != nil }

    @Test("OpenSSL agrees with the verdict in the catalog")
    func openSSLAgrees() throws {
        let root = try TestCertificateAuthority.rootDER
        #expect(Self.checked.count > 80)
        for item in Self.checked {
            let container = try #require(item.container)
            let instant = item.expected.validatedAt ?? ForgedInstant(2024, 3, 15, 10, 20, 30)
            let outcome = try OpenSSL.verify(container, at: instant, trusting: [root])
            #expect(outcome.accepted == item.openSSLAccepts, "\(item.name): \(outcome.output)")
        }
    }

    @Test("messages that OpenSSL accepts and the verdict rejects break a rule that OpenSSL does not have")
    func differencesAreNamed() {
        let rules: Set<String> = [
            "missingLeafMarker", "missingIntermediateMarker", "basicConstraints", "keyUsage", "signerCount",
            "unsupportedDigestAlgorithm", "missingAttribute", "contentNotReceipt", "invalidBase64", "truncated",
            "signedAttributesMismatch",
        ]
        for item in Self.checked where (item.expected.verdict == .genuine) != item.openSSLAccepts {
            // The last second of a validity period belongs to it (RFC 5280, 4.1.2.5); OpenSSL thinks otherwise.
            if item.expected.reason == "lastSecond" { continue }
            #expect(item.openSSLAccepts == true, "\(item.name) is genuine and OpenSSL refuses it")
            #expect(rules.contains(item.expected.reason), "\(item.name): \(item.expected.reason)")
        }
    }

    @Test("the content that OpenSSL finds is the content that was signed, in every encoding")
    func contentIsKept() throws {
        let root = try TestCertificateAuthority.rootDER
        let receipt = ForgedAppReceipt.bulk(7)
        let encodings: [ForgedSignedData.Encoding] = [
            .der, .ber(segmentLength: 1), .ber(segmentLength: 127), .ber(segmentLength: 128),
            .ber(segmentLength: 9_999),
            .berNestedSegments(segmentLength: 100),
        ]
        for encoding in encodings {
            let container = try receipt.signedData(.g5).with { $0.encoding = encoding }.encoded()
            let instant = ForgedInstant(2023, 9, 1, 0, 7)
            let outcome = try OpenSSL.verify(container, at: instant, trusting: [root])
            #expect(outcome.accepted, "\(encoding): \(outcome.output)")
            #expect(outcome.content == receipt.content)
        }
    }

    @Test("receipts of Xcode verify with their own certificate trusted")
    func xcodeReceiptsVerify() throws {
        let xcode = try TestCertificateAuthority.xcodeDER
        let forged = Catalog.cases.filter(\.expected.genuineForXcode)
        #expect(forged.count == 3)
        for item in forged {
            let outcome = try OpenSSL.verify(
                try #require(item.container), at: try #require(item.expected.validatedAt), trusting: [xcode])
            #expect(outcome.accepted, "\(item.name): \(outcome.output)")
        }
    }

    @Test("foreign chains verify with their own root trusted: nothing but the trust is wrong")
    func foreignChainsAreSound() throws {
        for (name, impostor) in [("foreign-root", false), ("impostor-root", true)] {
            let item = try Catalog.named(name)
            let root = try ForeignAuthority(impostor: impostor).certificates[2].der
            let outcome = try OpenSSL.verify(
                try #require(item.container), at: try #require(item.expected.validatedAt), trusting: [root])
            #expect(outcome.accepted, "\(name): \(outcome.output)")
        }
    }

    @Test("the iOS 6 leaves verify under the iTunes Store intermediate")
    func transactionLeavesVerify() throws {
        let authority = try TestCertificateAuthority.shared()
        for (leaf, date) in [
            (authority.earlyPurchaseReceiptLeaf, ForgedInstant(2012, 1, 1)),
            (authority.purchaseReceiptLeaf, ForgedInstant(2015, 1, 1)),
        ] {
            let certificates = [leaf, authority.iTunesStoreIntermediate, authority.root]
            let outcome = try OpenSSL.withFiles(certificates.map { Array(OpenSSL.pem($0.der).utf8) }) { files in
                try OpenSSL.run([
                    "verify", "-CAfile", files[2], "-untrusted", files[1], "-attime",
                    String(date.milliseconds / 1_000), files[0],
                ])
            }
            #expect(outcome.status == 0, "\(outcome.output)")
        }
    }

    @Test("every subject and issuer says that it is a test")
    func namesSayTest() throws {
        let authority = try TestCertificateAuthority.shared()
        let certificates =
            [authority.root, authority.xcode, authority.iTunesStoreIntermediate, authority.purchaseReceiptLeaf]
            + authority.intermediates.values + authority.leaves.values
            + (try ForeignAuthority().certificates) + (try ForeignAuthority(impostor: true).certificates)
        for certificate in certificates {
            let outcome = try OpenSSL.withFiles([certificate.der]) { files in
                try OpenSSL.run([
                    "x509", "-inform", "DER", "-in", files[0], "-noout", "-subject", "-nameopt", "multiline",
                ])
            }
            let name = try #require(outcome.output.split(separator: "\n").first { $0.contains("commonName") })
            #expect(name.contains("= Test") || name.contains("= Foreign Test"), "\(name)")
        }
    }
}
