import LegacyReceipts
import ReceiptForge
import Testing

/// Every case of the forge's catalog against what it expects of a reader.
@Suite("Forged cases")
struct ForgedCaseTests {
    static let names = (try? ForgedCases.all().map(\.name)) ?? []

    /// Where the forge names the fault in another word than the library: both are true of the bytes.
    private static let otherWords: [String: ReceiptError.Code] = [
        // Names alone lead to the trusted root; the first signature on the way does not hold.
        "impostor-root": .certificateSignatureMismatch,
        // Paths are of exactly three certificates, so a longer one is not followed as far as its constraints.
        "leaf-under-developer": .untrustedRoot, "path-too-long": .untrustedRoot,
        // Pinning is checked before markers.
        "ios6-leaf-without-marker": .untrustedLeaf,
        // Told apart from receipts by the first bytes already.
        "bare-content": .unrecognizedInput, "certificate": .unrecognizedInput,
        // Every text can only be base64 or a property list, and is refused as the one that it looks like.
        "plain-text": .invalidBase64, "jws": .invalidBase64, "random-bytes": .invalidBase64,
        "json": .malformedPropertyList, "html": .malformedPropertyList,
    ]

    private func find(_ name: String) throws -> ForgedCase {
        try #require(try ForgedCases.all().first { $0.name == name })
    }

    @Test("The catalog is there")
    func catalog() throws {
        #expect(try ForgedCases.all().count > 50)
        #expect(Set(Self.names).count == Self.names.count)
    }

    @Test("Verdict and reason", arguments: names)
    func verdict(name: String) throws {
        let forged = try find(name)
        do {
            let verified = try ForgedCases.verifier().verify(stored: forged.bytes)
            #expect(forged.expected.verdict == .genuine, "\(forged.shows)")
            #expect(verified.evidence.validationTime == forged.expected.validatedAt?.milliseconds)
        } catch let error as ReceiptError {
            #expect(forged.expected.verdict.rawValue == error.verdict.rawValue, "\(forged.shows) \(error.message)")
            if let reason = Self.otherWords[name] ?? ReceiptError.Code(rawValue: forged.expected.reason) {
                #expect(error.code == reason, "\(forged.shows) \(error.message)")
            }
        }
    }

    @Test("Decoded facts", arguments: names)
    func facts(name: String) throws {
        let forged = try find(name)
        guard let expected = forged.expected.receipt else { return }
        let receipt = try ReceiptDecoder().decode(stored: forged.bytes).payload
        #expect(Facts.normalized(Facts.of(receipt)).text == Facts.normalized(expected).text)
        #expect(receipt.environment?.rawValue == forged.expected.environment)
        switch receipt {
        case .app(let app):
            #expect(forged.expected.kind == .appReceipt)
            let other = forged.expected.otherAttributes.map { Facts.normalized($0).text }
            #expect(Facts.normalized(Facts.otherAttributes(of: app)).text == other)
            if let guid = forged.expected.deviceGuid, let device = DeviceIdentifier(bytes: guid) {
                #expect(throws: Never.self) { try app.checkDevice(device) }
            }
        case .transaction(let transaction):
            #expect(forged.expected.kind == .transactionReceipt)
            #expect(transaction.hasEnvironmentContradiction == forged.expected.environmentContradiction)
        }
    }

    @Test("Unknown attributes", arguments: names)
    func unknownAttributes(name: String) throws {
        let forged = try find(name)
        guard forged.expected.receipt != nil,
            case .app(let app)? = try? ReceiptDecoder().decode(stored: forged.bytes).payload
        else { return }
        let expected = forged.expected.unknownAttributes
            .map { RawAttribute(type: $0.type, version: $0.version, value: $0.value[...]) }
        #expect(Set(app.unknownAttributes) == Set(expected))
    }

    @Test("Strict base64", arguments: names)
    func strictBase64(name: String) throws {
        let forged = try find(name)
        guard forged.form == .base64, let container = forged.container else { return }
        if forged.expected.strictBase64Refuses {
            expectRefusal(.invalidBase64, "\(forged.shows)") { try ReceiptContainer(requestText: forged.bytes) }
        } else if forged.expected.verdict != .notAReceipt {
            #expect(try ReceiptContainer(requestText: forged.bytes).bytes == container)
        }
    }

    @Test("Xcode's receipts are genuine by explicit choice only", arguments: names)
    func xcode(name: String) throws {
        let forged = try find(name)
        let verifier = try ForgedCases.verifier { $0.acceptsXcodeReceipts = true }
        let isAccepted = (try? verifier.verify(stored: forged.bytes)) != nil
        #expect(
            isAccepted == (forged.expected.verdict == .genuine || forged.expected.genuineForXcode), "\(forged.shows)")
    }

    @Test("The default verifier trusts no forged receipt", arguments: names)
    func defaultTrust(name: String) throws {
        let forged = try find(name)
        #expect(throws: ReceiptError.self) { try ReceiptVerifier().verify(stored: forged.bytes) }
    }

    @Test("With the root pinned by fingerprint only, those that do not carry it are refused", arguments: names)
    func fingerprintOnly(name: String) throws {
        let forged = try find(name)
        let verifier = try ForgedCases.verifier { $0.additionalRoots = [] }
        let isAccepted = (try? verifier.verify(stored: forged.bytes)) != nil
        #expect(isAccepted == (forged.expected.verdict == .genuine && !forged.expected.needsRootCertificate))
    }
}
