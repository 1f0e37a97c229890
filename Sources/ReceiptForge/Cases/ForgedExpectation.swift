internal import AppStoreModels

/// The expected result of reading a forged receipt. It is derived from the description, not from a decoder.
public struct ForgedExpectation: Sendable {
    /// The three results of verification.
    public enum Verdict: String, Hashable, Sendable, CaseIterable {
        /// It is a receipt whose certificates and signature are valid.
        case genuine
        /// It has the form of a receipt, but is not genuine (verifyReceipt: 21003).
        case notGenuine
        /// It is not a legacy receipt, or is too damaged to be read as one (verifyReceipt: 21002).
        case notAReceipt
    }

    /// The two kinds of legacy receipt.
    public enum Kind: String, Hashable, Sendable {
        /// The receipt of an app with its purchases, iOS 7 and later: PKCS#7 (Reference.md V5).
        case appReceipt
        /// The receipt of one purchase, iOS 6 style: a property list (Reference.md V6).
        case transactionReceipt
    }

    /// The verdict if the test authority's root (and its leaves of transaction receipts) are trusted, base64 is read
    /// leniently, and receipts of Xcode are rejected.
    public var verdict: Verdict
    /// One word to branch on: the reason for the verdict, or the special property of a genuine receipt.
    public var reason: String
    /// The kind of receipt; nil if the input has the form of neither.
    public var kind: Kind?
    /// The environment to act on, "Production", "Sandbox" or "Xcode". It can differ from the claim of the receipt.
    public var environment: String?
    /// Whether the unsigned environment of a transaction receipt contradicts its signed transaction id (Reference.md
    /// V7.5).
    public var environmentContradiction = false
    /// The time at which the certificates must be valid: attribute 12, or the date of purchase.
    public var validatedAt: ForgedInstant?
    /// The receipt in the terms of verifyReceipt; nil if it cannot be read.
    public var receipt: ForgedJSON?
    /// App-level attributes that a verifyReceipt reply does not contain, by type.
    public var otherAttributes: ForgedJSON?
    /// Attributes of unknown types.
    public var unknownAttributes: [ForgedAttribute] = []
    /// The device of the hash in attribute 5, if it is known.
    public var deviceGuid: [UInt8]?
    /// Whether a reader rejects the text if it is as strict about base64 as Apple's endpoint.
    public var strictBase64Refuses = false
    /// Whether the root is missing in the receipt: a verifier then needs the certificate, not only its fingerprint.
    public var needsRootCertificate = false
    /// Whether it is genuine if receipts of Xcode are accepted.
    public var genuineForXcode = false

    /// An expectation with a verdict. The other properties keep their defaults.
    ///
    /// - Parameters:
    ///   - verdict: the verdict.
    ///   - reason: one word.
    ///   - kind: nil if the input has the form of neither kind.
    public init(_ verdict: Verdict, _ reason: String, kind: Kind? = nil) {
        self.verdict = verdict
        self.reason = reason
        self.kind = kind
    }

    /// The expectation of `expected.json`, its members always in the same order.
    public var json: ForgedJSON {
        .object(present: [
            ("verdict", .string(verdict.rawValue)),
            ("reason", .string(reason)),
            ("kind", kind.map { .string($0.rawValue) }),
            ("environment", environment.map { .string($0) }),
            ("environment_contradiction", environmentContradiction ? .boolean(true) : nil),
            ("validated_at_ms", validatedAt.map { .string(String($0.milliseconds)) }),
            ("strict_base64_refuses", strictBase64Refuses ? .boolean(true) : nil),
            ("needs_root_certificate", needsRootCertificate ? .boolean(true) : nil),
            ("genuine_for_xcode", genuineForXcode ? .boolean(true) : nil),
            ("device_guid", deviceGuid.map { .string(Printable.hex($0)) }),
            ("receipt", receipt),
            ("other_attributes", otherAttributes),
            ("unknown_attributes", unknownAttributes.isEmpty ? nil : .array(unknownAttributes.map(\.facts))),
        ])
    }
}
