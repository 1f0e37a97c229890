internal import AppStoreModels

/// What a reader of a forged receipt must find, derived from the description that forged it and from no decoder.
public struct ForgedExpectation: Sendable {
    public enum Verdict: String, Hashable, Sendable, CaseIterable {
        case genuine
        /// A receipt in form that is not to be believed (verifyReceipt: 21003).
        case notGenuine
        /// No legacy receipt, or too damaged to be read as one (verifyReceipt: 21002).
        case notAReceipt
    }

    public enum Kind: String, Hashable, Sendable {
        case appReceipt
        case transactionReceipt
    }

    /// The verdict with the test authority's root (and its leaves of transaction receipts) trusted, leniently read
    /// base64, and receipts of Xcode refused.
    public var verdict: Verdict
    /// One word that a machine can branch on: why it is refused, or what is remarkable about a genuine one.
    public var reason: String
    public var kind: Kind?
    /// "Production", "Sandbox" or "Xcode": what the receipt counts as, whatever it claims.
    public var environment: String?
    /// The unsigned environment of a transaction receipt contradicts its signed transaction id (Reference.md V7.5).
    public var environmentContradiction = false
    /// When the certificates have to be valid: attribute 12, or the date of purchase.
    public var validatedAt: ForgedInstant?
    /// The receipt in the terms of verifyReceipt; nothing if it cannot be read.
    public var receipt: ForgedJSON?
    /// App-level attributes that verifyReceipt does not tell, by type.
    public var otherAttributes: ForgedJSON?
    /// Attributes of unknown types.
    public var unknownAttributes: [ForgedAttribute] = []
    /// The device whose hash attribute 5 is, where it is known.
    public var deviceGuid: [UInt8]?
    /// A reader as strict about base64 as Apple's endpoint refuses the text.
    public var strictBase64Refuses = false
    /// The root is not in the receipt: a verifier needs the certificate, not only its fingerprint.
    public var needsRootCertificate = false
    /// Genuine where receipts of Xcode are accepted by explicit choice.
    public var genuineForXcode = false

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
