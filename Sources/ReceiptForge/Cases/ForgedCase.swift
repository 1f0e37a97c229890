internal import Encodings
public import Foundation

/// One forged input with its expected result: the contents of a fixture folder.
public struct ForgedCase: Sendable {
    /// The form in which the bytes are stored.
    public enum Form: String, Hashable, Sendable {
        /// base64 text, valid or damaged.
        case base64 = "b64"
        /// The container itself.
        case der
        /// Anything else.
        case text = "txt"
    }

    /// The name of the folder, in kebab case.
    public let name: String
    /// One sentence.
    public let shows: String
    /// Whether it is too large for a repository, so that each test forges it again.
    public let isLarge: Bool
    /// The form of ``bytes``, and the extension of its file.
    public let form: Form
    /// The input as a user would have stored it.
    public let bytes: [UInt8]
    /// The container without base64; nil if the case is not about a container.
    public let container: [UInt8]?
    /// The expected result of reading ``bytes``.
    public let expected: ForgedExpectation
    /// Whether `CMS_verify` accepts the container with the test root trusted, for any purpose, at the date of creation.
    /// Nil if the container is not a CMS message. If this differs from the verdict, the reason names the rule that
    /// OpenSSL does not check.
    public let openSSLAccepts: Bool?

    /// All cases, in a fixed order and with unique names.
    ///
    /// - Parameters:
    ///   - largePurchaseCount: the number of purchases in the large receipt; 0 omits the large cases.
    public static func all(largePurchaseCount: Int = 10_000) throws -> [ForgedCase] {
        try environmentCases() + purchaseCases() + contentCases(largePurchaseCount: largePurchaseCount)
            + encodingCases() + textCases() + chainCases() + leafCases() + intermediateCases() + signerCases()
            + tamperedCases() + transactionCases() + transactionStyleCases() + wrongTransactionCases()
            + foreignInputCases()
    }

    /// The folder's files: `receipt.b64`, `.der` or `.txt`, `expected.json` and `README`.
    public var files: [(name: String, bytes: [UInt8])] {
        [
            ("receipt.\(form.rawValue)", bytes), ("expected.json", Array(expected.json.text.utf8)),
            ("README", Array((shows + "\n").utf8)),
        ]
    }

    /// Writes the folder of this case into a directory, and replaces existing files.
    ///
    /// - Throws: the file system's errors.
    public func write(to directory: URL) throws {
        let folder = directory.appending(path: name, directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for file in files {
            try Data(file.bytes).write(to: folder.appending(path: file.name), options: .atomic)
        }
    }
}

extension ForgedCase {
    static func base64(_ bytes: [UInt8]) -> [UInt8] { Array(Base64.encode(bytes).utf8) }

    /// An app receipt: signed, changed, stored as base64.
    static func app(
        _ name: String, _ shows: String, _ receipt: ForgedAppReceipt, _ message: ForgedSignedData,
        _ verdict: ForgedExpectation.Verdict = .genuine, _ reason: String = "genuine", isLarge: Bool = false,
        openSSL: Bool? = nil, form: Form = .base64, expect: (inout ForgedExpectation) -> Void = { _ in },
        container change: (inout [UInt8]) -> Void = { _ in }, text: ([UInt8]) -> [UInt8] = base64
    ) throws -> ForgedCase {
        var container = try message.encoded()
        change(&container)
        var expected = ForgedExpectation(verdict, reason, kind: .appReceipt)
        if verdict != .notAReceipt {
            expected.environment = environment(receipt.receiptType)
            expected.validatedAt = receipt.creationDate?.milliseconds.map(ForgedInstant.init(milliseconds:))
            expected.receipt = receipt.facts
            expected.otherAttributes = receipt.otherFacts
            expected.unknownAttributes = receipt.extra
            expected.deviceGuid = receipt.deviceGuid
        }
        expect(&expected)
        if expected.verdict == .notAReceipt { expected.kind = nil }
        return ForgedCase(
            name: name, shows: shows, isLarge: isLarge, form: form, bytes: form == .der ? container : text(container),
            container: container, expected: expected, openSSLAccepts: openSSL ?? (verdict == .genuine))
    }

    /// A genuine case: a receipt as the App Store signs it, or another form of its message.
    static func genuine(
        _ name: String, _ shows: String, _ receipt: ForgedAppReceipt = Sample.usual(),
        _ generation: TestCertificateAuthority.Generation = .g5, form: Form = .base64, isLarge: Bool = false,
        message change: (inout ForgedSignedData) throws -> Void = { _ in },
        expect: (inout ForgedExpectation) -> Void = { _ in }
    ) throws -> ForgedCase {
        try app(
            name, shows, receipt, receipt.signedData(generation).with(change), isLarge: isLarge, form: form,
            expect: expect)
    }

    /// The usual receipt in a message that makes it not genuine.
    static func refused(
        _ name: String, _ shows: String, _ reason: String, openSSL: Bool? = nil,
        message change: (inout ForgedSignedData) throws -> Void
    ) throws -> ForgedCase {
        let receipt = Sample.usual()
        return try app(
            name, shows, receipt, receipt.signedData(.g5).with(change), .notGenuine, reason, openSSL: openSSL)
    }

    private static func environment(_ receiptType: String?) -> String? {
        switch receiptType {
        case "Production", "ProductionVPP": "Production"
        case "ProductionSandbox", "ProductionVPPSandbox": "Sandbox"
        case let other: other
        }
    }

    /// A transaction receipt, stored as base64.
    static func transaction(
        _ name: String, _ shows: String, _ receipt: ForgedTransactionReceipt, _ signature: ForgedTransactionSignature,
        _ verdict: ForgedExpectation.Verdict = .genuine, _ reason: String = "genuine", environment: String? = nil,
        contradiction: Bool = false
    ) throws -> ForgedCase {
        let container = try signature.signed(receipt)
        var expected = ForgedExpectation(verdict, reason, kind: .transactionReceipt)
        if verdict == .notAReceipt {
            expected.kind = nil
        } else {
            expected.environment = environment ?? receipt.environment ?? "Production"
            expected.environmentContradiction = contradiction
            expected.validatedAt = receipt.purchaseDate
            expected.receipt = receipt.facts
        }
        return ForgedCase(
            name: name, shows: shows, isLarge: false, form: .base64, bytes: base64(container), container: container,
            expected: expected, openSSLAccepts: nil)
    }

    /// An input that is not a receipt.
    static func foreign(
        _ name: String, _ shows: String, _ reason: String, _ bytes: [UInt8], form: Form = .text
    ) -> ForgedCase {
        ForgedCase(
            name: name, shows: shows, isLarge: false, form: form, bytes: bytes, container: nil,
            expected: ForgedExpectation(.notAReceipt, reason), openSSLAccepts: nil)
    }
}
