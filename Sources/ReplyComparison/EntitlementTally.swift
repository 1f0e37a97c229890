internal import AppStoreModels

/// Counts the pairs that grant differently. Its size does not grow with the number of pairs.
public struct EntitlementTally: Sendable {
    /// A purchase that is granted differently, and where.
    public struct Example: Sendable {
        /// The place of the pair's record in the input, as the caller gave it.
        public let place: String
        /// The first 12 hexadecimal digits of the SHA-256 of the receipt that was sent.
        public let receiptName: String?
        /// The purchase, and which reply grants it.
        public let difference: EntitlementDifference

        /// One line: place, receipt, product, direction, reason.
        public var summary: String {
            let receipt = receiptName.map { ": receipt \($0)" } ?? ""
            return "\(place)\(receipt): \(difference.summary)"
        }
    }

    /// Pairs whose access can be compared.
    public private(set) var pairsCompared = 0
    /// Of them, those that do not.
    public private(set) var pairsDiffering = 0
    /// Pairs with something that only our reply grants. A pair may be in the next one too.
    public private(set) var pairsGrantedByOursOnly = 0
    /// Pairs with something that only Apple's reply grants.
    public private(set) var pairsGrantedByAppleOnly = 0
    /// Pairs whose access cannot be compared, by reason.
    public private(set) var obstacles: [EntitlementObstacle: Int] = [:]
    /// The first ones of each pair, up to the limit.
    public private(set) var examples: [Example] = []

    private let maximumExamples: Int

    init(maximumExamples: Int) { self.maximumExamples = max(0, maximumExamples) }

    mutating func add(_ comparison: ReplyComparison, place: String) {
        let entitlement = comparison.entitlement
        if let obstacle = entitlement.obstacle {
            obstacles[obstacle, default: 0] += 1
            return
        }
        pairsCompared += 1
        guard entitlement.isDifferent else { return }
        pairsDiffering += 1
        if entitlement.grantedByOursOnly > 0 { pairsGrantedByOursOnly += 1 }
        if entitlement.grantedByAppleOnly > 0 { pairsGrantedByAppleOnly += 1 }
        for difference in entitlement.differences.prefix(maximumExamples - examples.count) {
            examples.append(Example(place: place, receiptName: comparison.receiptName, difference: difference))
        }
    }

    // MARK: Output

    /// The sums, as text.
    func lines() -> [String] {
        let pairs = pairsDiffering == 1 ? "1 pair grants" : "\(pairsDiffering) pairs grant"
        var lines = ["entitlement: \(pairs) differently"]
        if pairsGrantedByOursOnly > 0 {
            lines.append("  granted by ours only: \(pairsGrantedByOursOnly) (access without payment)")
        }
        if pairsGrantedByAppleOnly > 0 {
            lines.append("  granted by Apple only: \(pairsGrantedByAppleOnly) (a customer loses access)")
        }
        for obstacle in EntitlementObstacle.allCases {
            guard let count = obstacles[obstacle] else { continue }
            lines.append("entitlement not comparable, \(obstacle.title): \(count)")
        }
        return lines
    }

    /// Writes the members of one JSON object.
    func write(to writer: inout JSONWriter) {
        writer.member("pairsCompared", pairsCompared)
        writer.member("pairsDiffering", pairsDiffering)
        writer.member("pairsGrantedByOursOnly", pairsGrantedByOursOnly)
        writer.member("pairsGrantedByAppleOnly", pairsGrantedByAppleOnly)
        writer.object("notComparable") { writer in
            writer.members(EntitlementObstacle.allCases.map { (name: $0.rawValue, count: obstacles[$0] ?? 0) })
        }
        writer.objects("examples", examples) { writer, example in
            writer.member("place", example.place)
            writer.member("receipt", example.receiptName)
            example.difference.write(to: &writer)
        }
    }
}

extension EntitlementObstacle {
    fileprivate var title: String {
        switch self {
        case .temporaryFailure: "a temporary failure at Apple"
        case .noStatus: "a reply without a status"
        case .unknownMoment: "an unknown date"
        case .unreadablePurchases: "unreadable purchases"
        }
    }
}
