package import AppStoreModels

/// One place where Apple's reply and ours differ.
///
/// Its values are redacted, so it can be shown to operators and stored. Receipts, account tokens, device identifiers and texts of
/// members that are not in Reference.md appear as the first 12 hexadecimal digits of their SHA-256. Transaction ids, product ids
/// and dates are not redacted, because operators need them.
public struct ReplyDifference: Sendable, Hashable {
    /// The member, with `[]` for any element of a list: `latest_receipt_info[].expires_date_ms`.
    public let path: String
    /// The transaction that the member belongs to; in `pending_renewal_info` the original transaction.
    public let transactionId: String?
    /// The reason for the difference. It determines the ``kind``.
    public let rule: ComparisonRule
    /// Apple's value; nil if Apple's reply does not have the member.
    public let apples: String?
    /// Our value; nil if our reply does not have the member.
    public let ours: String?

    /// The kind of ``rule``.
    public var kind: DifferenceKind { rule.kind }

    /// Writes the members of one JSON object.
    package func write(to writer: inout JSONWriter) {
        writer.member("path", path)
        writer.member("kind", kind.rawValue)
        writer.member("rule", rule.rawValue)
        writer.member("transactionId", transactionId)
        writer.member("apple", apples)
        writer.member("ours", ours)
    }
}

/// The numbers of equal members of two replies, and of differences of each kind.
public struct ParityCounts: Sendable, Hashable {
    /// Equal, and the receipt or the store states it.
    public var equalDerivable = 0
    /// Equal, although only Apple's database or the time of the request determines the value.
    public var equalServerState = 0
    /// Differing members of the kind ``DifferenceKind/mismatch``: the endpoint is at fault.
    public var mismatch = 0
    /// Differing members of the kind ``DifferenceKind/serverState``: receipt and store do not determine the value.
    public var serverState = 0
    /// Differing members of the kind ``DifferenceKind/formatting``.
    public var formatting = 0

    /// All counts are 0.
    public init() {}

    /// All equal members.
    public var equal: Int { equalDerivable + equalServerState }
    /// All differing members, of any kind.
    public var differing: Int { mismatch + serverState + formatting }

    /// Adds each count.
    public static func += (left: inout Self, right: Self) {
        left.equalDerivable += right.equalDerivable
        left.equalServerState += right.equalServerState
        left.mismatch += right.mismatch
        left.serverState += right.serverState
        left.formatting += right.formatting
    }

    mutating func count(_ kind: DifferenceKind) {
        switch kind {
        case .mismatch: mismatch += 1
        case .serverState: serverState += 1
        case .formatting: formatting += 1
        }
    }

    /// Writes the members of one JSON object.
    package func write(to writer: inout JSONWriter) {
        writer.member("equalDerivable", equalDerivable)
        writer.member("equalServerState", equalServerState)
        writer.member("mismatch", mismatch)
        writer.member("serverState", serverState)
        writer.member("formatting", formatting)
    }
}
