package import AppStoreModels
internal import Purchases

/// The team's rules for answers to consumption requests: the first rule whose conditions hold gives the answer.
package struct ConsumptionRules: Sendable {
    /// The conditions that a case must meet. A condition that is nil always holds.
    package struct Conditions: Sendable {
        /// A product id, or the beginning of one followed by `*`.
        var productId: String?
        var type: String?
        var reason: String?
        var isDelivered: Bool?
        var minimumRefunds: Int64?

        func hold(for one: ConsumptionCase) -> Bool {
            if let productId {
                guard let id = one.transaction?.productId else { return false }
                let isBeginning = productId.hasSuffix("*")
                guard isBeginning ? id.hasPrefix(productId.dropLast()) : id == productId else { return false }
            }
            if let type, one.transaction?.type?.rawValue != type { return false }
            if let reason, one.task.reason != reason { return false }
            if let isDelivered, one.isDelivered != isDelivered { return false }
            if let minimumRefunds, Int64(one.refunds) < minimumRefunds { return false }
            return true
        }
    }

    package struct Rule: Sendable {
        var conditions = Conditions()
        package let deliveryStatus: DeliveryStatus
        package let sampleContentProvided: Bool
        package let refundPreference: RefundPreference?
        /// In milliunits of a percent: 100000 is 100 %.
        package let consumptionPercentage: Int32?
    }

    private static let maximumRules = 10_000

    package let rules: [Rule]

    /// - Throws: `JSONMembers.Mistake`.
    package init(json: [UInt8]) throws {
        guard let value = try? JSONValue.parse(json) else { throw JSONMembers.Mistake(message: "This is not JSON.") }
        let file = try JSONMembers(value, "the file", ["rules"])
        guard let list = file.object["rules"]?.array, !list.isEmpty, list.count <= Self.maximumRules else {
            throw JSONMembers.Mistake(message: "rules: expected a list of 1 to \(Self.maximumRules) rules.")
        }
        rules = try list.enumerated().map { try Self.rule($1, "rules[\($0)]") }
    }

    private static func rule(_ value: JSONValue, _ place: String) throws -> Rule {
        let rule = try JSONMembers(value, place, ["when", "answer"])
        var conditions = Conditions()
        if let value = rule.object["when"] {
            let when = try JSONMembers(
                value, "\(place).when",
                ["productId", "type", "consumptionRequestReason", "isDelivered", "minimumRefunds"])
            conditions.productId = try when.text("productId")
            conditions.type = try when.known("type", as: ProductType.self)?.rawValue
            conditions.reason = try when.known("consumptionRequestReason", as: ConsumptionRequestReason.self)?.rawValue
            conditions.isDelivered = try when.boolean("isDelivered")
            conditions.minimumRefunds = try when.integer("minimumRefunds", 0...Int64(Int32.max))
        }
        let answer = try JSONMembers(
            rule.required("answer", rule.object["answer"]), "\(place).answer",
            ["deliveryStatus", "sampleContentProvided", "refundPreference", "consumptionPercentage"])
        let status = try answer.required("deliveryStatus", answer.known("deliveryStatus", as: DeliveryStatus.self))
        let sample = try answer.required("sampleContentProvided", answer.boolean("sampleContentProvided"))
        return Rule(
            conditions: conditions, deliveryStatus: status, sampleContentProvided: sample,
            refundPreference: try answer.known("refundPreference", as: RefundPreference.self),
            consumptionPercentage: try answer.integer("consumptionPercentage", 0...100).map { Int32($0) * 1_000 })
    }

    /// Whether a rule depends on the acknowledged position of a consumer of the ledger.
    package var needConsumer: Bool { rules.contains { $0.conditions.isDelivered != nil } }

    /// The first rule whose conditions hold, with its place in the file; nil if there is none.
    package func rule(for one: ConsumptionCase) -> (place: Int, rule: Rule)? {
        rules.enumerated().first { $0.element.conditions.hold(for: one) }.map { ($0.offset, $0.element) }
    }
}

/// A customer's consent about one transaction. The caller supplies it; there is no default.
package struct ConsumptionConsent: Equatable, Sendable {
    package let customerConsented: Bool
    /// The consumed part, in milliunits of a percent; nil if the caller does not know it.
    package let consumptionPercentage: Int32?

    package init(customerConsented: Bool, consumptionPercentage: Int32?) {
        self.customerConsented = customerConsented
        self.consumptionPercentage = consumptionPercentage
    }
}

/// Why a case gets no answer.
package struct ConsumptionProblem: Error, CustomStringConvertible {
    /// One sentence.
    package let message: String

    package var description: String { message }
}

extension ConsumptionCase {
    /// The answer that the rules and the customer's consent give.
    ///
    /// - Parameters:
    ///   - consent: the customer's consent for this transaction; nil if the caller has none.
    ///   - rules: the team's rules.
    /// - Throws: ``ConsumptionProblem``.
    package func answer(by rules: ConsumptionRules, with consent: ConsumptionConsent?) throws -> ConsumptionRequest {
        func problem(_ message: String) -> ConsumptionProblem { ConsumptionProblem(message: message) }
        guard let consent else { throw problem("The file of consents has no row for the transaction.") }
        guard consent.customerConsented else { throw problem("The customer did not consent.") }
        guard let transaction else { throw problem("The store does not have the transaction.") }
        guard transaction.inAppOwnershipType != .familyShared else {
            throw problem("Apple accepts no answer about a family-shared purchase.")
        }
        guard transaction.inAppOwnershipType != .assigned else {
            throw problem("Apple accepts no answer about a purchase that an organization assigned.")
        }
        guard transaction.advancedCommerceInfo == nil else {
            throw problem("Apple requires another kind of answer about Advanced Commerce purchases.")
        }
        guard let (place, rule) = rules.rule(for: self) else { throw problem("No rule matches.") }
        let percentage = consent.consumptionPercentage ?? rule.consumptionPercentage
        let isRenewable = transaction.isSubscription
        // Apple's rules (App Store Server API, consumptionPercentage and refundPreference).
        if let percentage {
            guard !isRenewable else {
                throw problem("An auto-renewable subscription has no consumptionPercentage (rules[\(place)]).")
            }
            guard percentage == 0 || rule.deliveryStatus == .delivered else {
                throw problem("consumptionPercentage must be 0 unless DELIVERED (rules[\(place)]).")
            }
        }
        guard rule.refundPreference != .grantProrated || isRenewable || (percentage ?? 0) > 0 else {
            throw problem("GRANT_PRORATED needs a consumptionPercentage above 0 (rules[\(place)]).")
        }
        return ConsumptionRequest(
            customerConsented: consent.customerConsented, deliveryStatus: rule.deliveryStatus,
            sampleContentProvided: rule.sampleContentProvided, consumptionPercentage: percentage,
            refundPreference: rule.refundPreference)
    }
}
