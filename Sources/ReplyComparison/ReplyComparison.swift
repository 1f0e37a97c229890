package import AppStoreModels

/// The context of a comparison.
public struct ComparisonContext: Sendable {
    /// Whether both replies are for the same time. Then `request_date` must be equal too.
    public var isSameMoment: Bool
    /// The time of the comparison in milliseconds since 1970-01-01T00:00:00Z; nil if unknown. It decides whether a
    /// subscription with Apple's status 21006 has also expired by our reply.
    public var now: Int64?
    /// The maximum number of differences to keep. All differences are counted.
    public var maximumDifferences: Int
    /// Facts about the request.
    package var facts: RequestFacts?

    /// The context without facts about the request; ``read(request:)`` adds them.
    public init(isSameMoment: Bool = false, now: Int64? = nil, maximumDifferences: Int = 200) {
        self.isSameMoment = isSameMoment
        self.now = now
        self.maximumDifferences = maximumDifferences
    }

    /// Reads the facts from the request's body. Without them, some differences are classified less precisely.
    public mutating func read(request body: [UInt8]) { facts = RequestFacts(body: body) }
}

/// The reason why two replies cannot be compared.
public enum ReplyComparisonError: String, Error, Sendable, Equatable, CaseIterable {
    /// Apple's reply is larger than ``ReplyComparison/maximumReplySize``, or has too many values. Leave the pair out.
    case appleReplyTooLarge
    /// Apple's reply is not a JSON object: an error page of an outage, for example. Leave the pair out, or repeat the
    /// request to Apple.
    case appleReplyUnreadable
    /// Our reply is larger than ``ReplyComparison/maximumReplySize``, or has too many values. Leave the pair out.
    case ourReplyTooLarge
    /// Our reply is not a JSON object. Check that the recording is complete and comes from our endpoint.
    case ourReplyUnreadable
}

/// Apple's reply and ours, member by member.
///
/// Elements of lists are matched by transaction id, not by position. Each member counts once, each form of a date
/// separately. A missing element of a list counts once.
public struct ReplyComparison: Sendable {
    /// The maximum size of a reply, in bytes. Replies with thousands of renewals have a few MiB.
    public static let maximumReplySize = 16 << 20

    /// `status` of Apple's reply; nil if it has none.
    public let appleStatus: Int64?
    /// `status` of our reply; nil if it has none.
    public let ourStatus: Int64?
    /// The numbers of equal and differing members. They include differences that were not kept.
    public let counts: ParityCounts
    /// The differences in the order of the members of Apple's reply, at most
    /// ``ComparisonContext/maximumDifferences``.
    public let differences: [ReplyDifference]
    /// The number of differences that were counted and not kept.
    public let differencesLeftOut: Int
    /// The counts by path. `[]` stands for any element of a list.
    public let fields: [String: ParityCounts]

    /// Whether a client would grant the same access by both replies.
    public let entitlement: EntitlementComparison
    /// The first 12 hexadecimal digits of the SHA-256 of the receipt that was sent; nil if it is not known.
    public let receiptName: String?
    /// The date of Apple's reply, in milliseconds since 1970-01-01T00:00:00Z; nil if neither the reply nor the context has it.
    public let requestDate: Int64?

    /// Whether no member differs, not even in its form. Equality of the bytes is not required.
    public var isIdentical: Bool { counts.differing == 0 }

    /// - Parameters:
    ///   - apples: the JSON text of Apple's reply. It may be hostile: time is linear in its size and memory bounded.
    ///   - ours: the JSON text of our reply.
    ///   - context: the facts about the request.
    /// - Throws: ``ReplyComparisonError``.
    public init(apples: [UInt8], ours: [UInt8], context: ComparisonContext = ComparisonContext()) throws {
        guard apples.count <= Self.maximumReplySize, JSONBounds.allows(apples) else {
            throw ReplyComparisonError.appleReplyTooLarge
        }
        guard let reply = try? JSONValue.parse(apples) else { throw ReplyComparisonError.appleReplyUnreadable }
        try self.init(apples: reply, ours: ours, context: context)
    }

    /// - Parameters:
    ///   - apples: Apple's reply, already read.
    ///   - ours: our reply, as JSON.
    ///   - context: what both replies answer, and when.
    /// - Throws: ``ReplyComparisonError``.
    package init(apples: JSONValue, ours: [UInt8], context: ComparisonContext) throws {
        guard let apples = apples.object else { throw ReplyComparisonError.appleReplyUnreadable }
        guard ours.count <= Self.maximumReplySize, JSONBounds.allows(ours) else {
            throw ReplyComparisonError.ourReplyTooLarge
        }
        guard let reply = (try? JSONValue.parse(ours))?.object else { throw ReplyComparisonError.ourReplyUnreadable }
        let tally = ComparisonTally(maximumDifferences: context.maximumDifferences)
        let purchases = ListedPurchases(apples: apples, ours: reply, context: context)
        let comparer = ReplyComparer(
            apples: apples, ours: reply, context: context, purchases: purchases, tally: tally)
        comparer.compare()
        requestDate = comparer.requestDate
        receiptName = context.facts?.receiptName
        entitlement = EntitlementComparison(
            apples: apples, ours: reply, purchases, maximumDifferences: context.maximumDifferences)
        appleStatus = apples["status"]?.integer
        ourStatus = reply["status"]?.integer
        counts = tally.counts
        differences = tally.differences
        differencesLeftOut = tally.counts.differing - tally.differences.count
        fields = tally.fields
    }
}

/// The differences found so far.
final class ComparisonTally {
    /// The maximum number of different paths. Apple's reply determines the paths, so paths above this number are
    /// counted together.
    private static let maximumPaths = 512

    private let maximumDifferences: Int
    private(set) var counts = ParityCounts()
    private(set) var differences: [ReplyDifference] = []
    private(set) var fields: [String: ParityCounts] = [:]

    init(maximumDifferences: Int) { self.maximumDifferences = max(0, maximumDifferences) }

    func countEqual(_ path: String, isDerivable: Bool) {
        var one = ParityCounts()
        if isDerivable { one.equalDerivable = 1 } else { one.equalServerState = 1 }
        add(one, path)
    }

    func count(_ difference: ReplyDifference) {
        var one = ParityCounts()
        one.count(difference.kind)
        add(one, difference.path)
        if differences.count < maximumDifferences { differences.append(difference) }
    }

    private func add(_ one: ParityCounts, _ path: String) {
        counts += one
        let isKept = fields[path] != nil || fields.count < Self.maximumPaths
        fields[isKept ? path : "(other)", default: ParityCounts()] += one
    }
}
