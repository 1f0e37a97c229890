internal import AppStoreModels
package import VerifyReceipt

/// Sends the recorded requests to our endpoint, with the clock set to the date of Apple's reply, and compares the replies.
package struct ParityRun: Sendable {
    private let endpoint: VerifyReceiptEndpoint
    private let learning: LatestReceiptLearning
    /// The date for records and replies without one; milliseconds since 1970-01-01T00:00:00Z.
    private let now: Int64

    package init(endpoint: VerifyReceiptEndpoint, learning: LatestReceiptLearning = .none, now: Int64) {
        self.endpoint = endpoint
        self.learning = learning
        self.now = now
    }

    /// - Throws: ``ReplyComparisonError``.
    package func compare(_ pair: RecordedPair) async throws -> ReplyComparison {
        let facts = RequestFacts(body: pair.request, limits: endpoint.configuration.limits)
        let environment = Self.environment(pair.reply, facts)
        let moment = Self.moment(pair)
        if learning == .sameReply { await learn(from: pair, at: environment, moment) }
        let reply = await endpoint.reply(to: pair.request, at: environment, now: moment ?? now)
        var context = ComparisonContext(isSameMoment: moment != nil, now: moment ?? now)
        context.facts = facts
        if learning == .earlierPairs { await learn(from: pair, at: environment, moment) }
        return try ReplyComparison(apples: pair.reply, ours: reply.body, context: context)
    }

    /// Sends the receipt inside the reply to the endpoint, which stores it.
    private func learn(from pair: RecordedPair, at environment: EndpointEnvironment, _ moment: Int64?) async {
        guard let latest = Self.latestReceipt(pair) else { return }
        _ = await endpoint.reply(to: latest, at: environment, now: moment ?? now)
    }

    /// Apple's endpoint, from the reply or from the status 21007 or 21008 (Reference.md V2). Otherwise the endpoint of
    /// the receipt, because the other one would have answered 21007 or 21008.
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

    /// The date of Apple's reply. Replies to app receipts contain it. Replies to iOS 6 receipts show only whether the newest
    /// period had ended. So a date within the period, or the first one after it, gives the same answer.
    static func moment(_ pair: RecordedPair) -> Int64? {
        let receipt = pair.reply["receipt"]
        if let date = receipt?["request_date_ms"]?.wholeNumber ?? pair.recordedAt { return date }
        guard receipt?["in_app"] == nil else { return nil }
        switch pair.reply["status"]?.integer {
        case 21006:
            let expired = pair.reply["latest_expired_receipt_info"]
            return (expired?["expires_date"]?.wholeNumber ?? receipt?["expires_date"]?.wholeNumber).map { $0 &+ 1 }
        case 0:
            let latest = pair.reply["latest_receipt_info"]
            return latest?["purchase_date_ms"]?.wholeNumber ?? receipt?["purchase_date_ms"]?.wholeNumber
        default: return nil
        }
    }

    /// Includes the password of the request. Without it, an endpoint with a secret rejects the receipt and stores
    /// nothing.
    private static func latestReceipt(_ pair: RecordedPair) -> [UInt8]? {
        guard let text = (pair.reply["latest_receipt"] ?? pair.reply["latest_expired_receipt"])?.string else {
            return nil
        }
        return JSONWriter.object { writer in
            writer.member("receipt-data", text)
            if JSONBounds.allows(pair.request) {
                writer.member("password", (try? JSONValue.parse(pair.request))?["password"]?.string)
            }
        }
    }
}
