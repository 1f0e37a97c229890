internal import AppStoreModels
internal import LegacyReceipts
package import VerifyReceipt

/// Asks our endpoint what Apple was asked, at the moment when Apple was asked, and compares the replies.
package struct ParityRun: Sendable {
    private let endpoint: VerifyReceiptEndpoint
    private let learning: LatestReceiptLearning
    /// Used where neither the reply nor the record says when Apple was asked; milliseconds since 1970-01-01T00:00:00Z.
    private let now: Int64
    private let maximumDifferences: Int

    package init(
        endpoint: VerifyReceiptEndpoint, learning: LatestReceiptLearning = .none, now: Int64,
        maximumDifferences: Int = 200
    ) {
        self.endpoint = endpoint
        self.learning = learning
        self.now = now
        self.maximumDifferences = maximumDifferences
    }

    /// - Throws: ``ReplyComparisonError``.
    package func compare(_ pair: RecordedPair) async throws -> ReplyComparison {
        let facts = RequestFacts(body: pair.request, limits: endpoint.configuration.limits)
        let environment = Self.environment(pair.reply, facts)
        let moment = Self.moment(pair)
        if learning == .sameReply { await learn(from: pair, at: environment, moment) }
        let reply = await endpoint.reply(to: pair.request, at: environment, now: moment ?? now)
        var context = ComparisonContext(
            isSameMoment: moment != nil, now: moment ?? now, maximumDifferences: maximumDifferences)
        context.facts = facts
        if learning == .earlierPairs { await learn(from: pair, at: environment, moment) }
        return try ReplyComparison(apples: pair.reply, ours: reply.body, context: context)
    }

    /// Shows the receipt inside of the reply to the endpoint, and so to its store.
    private func learn(from pair: RecordedPair, at environment: EndpointEnvironment, _ moment: Int64?) async {
        guard let latest = Self.latestReceipt(pair) else { return }
        _ = await endpoint.reply(to: latest, at: environment, now: moment ?? now)
    }

    /// Which of Apple's endpoints gave the reply: it says so; 21007 and 21008 tell (Reference.md V2); else the
    /// receipt's own, since another one would have given those.
    static func environment(_ reply: JSONValue, _ facts: RequestFacts?) -> EndpointEnvironment {
        if let named = reply["environment"]?.string, let environment = EndpointEnvironment(rawValue: named) {
            return environment
        }
        switch reply["status"]?.integer {
        case 21007: return .production
        case 21008: return .sandbox
        default: return facts?.environment == .sandbox || facts?.environment == .xcode ? .sandbox : .production
        }
    }

    /// When Apple was asked. Replies to app receipts say it. Those to iOS 6 receipts do not, but show whether the newest
    /// period was over: then a moment inside of it, or the first one after it, gives the same answer.
    static func moment(_ pair: RecordedPair) -> Int64? {
        func milliseconds(_ object: JSONValue?, _ key: String) -> Int64? {
            object?[key]?.string.flatMap { Int64($0) } ?? object?[key]?.integer
        }
        let receipt = pair.reply["receipt"]
        if let date = milliseconds(receipt, "request_date_ms") ?? pair.recordedAt { return date }
        guard receipt?["in_app"] == nil else { return nil }
        switch pair.reply["status"]?.integer {
        case 21006:
            let expired = pair.reply["latest_expired_receipt_info"]
            return (milliseconds(expired, "expires_date") ?? milliseconds(receipt, "expires_date")).map { $0 &+ 1 }
        case 0:
            let latest = pair.reply["latest_receipt_info"]
            return milliseconds(latest, "purchase_date_ms") ?? milliseconds(receipt, "purchase_date_ms")
        default: return nil
        }
    }

    /// With the password of the request: without it an endpoint that has a secret refuses, and learns nothing.
    private static func latestReceipt(_ pair: RecordedPair) -> [UInt8]? {
        guard let text = (pair.reply["latest_receipt"] ?? pair.reply["latest_expired_receipt"])?.string else {
            return nil
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("receipt-data", text)
        if JSONBounds.allows(pair.request) {
            writer.member("password", (try? JSONValue.parse(pair.request))?["password"]?.string)
        }
        writer.endObject()
        return writer.finish()
    }
}
