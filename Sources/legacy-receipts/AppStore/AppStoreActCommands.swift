import AppStoreModels
import AppStoreServer
import AppStoreSync
import ArgumentParser
import Foundation
import Purchases
import TransactionStore

struct AppStoreExtendCommand: AppStoreAction {
    static let configuration = CommandConfiguration(
        commandName: "extend",
        abstract: "Extend the renewal date of a subscription.",
        discussion: AppStoreCommand.discussion(
            """
            Extend a Subscription Renewal Date: the customer gets 1 to 90 days without payment, at most twice in 365 days. \
            The id is the original transaction id of the subscription. Apple extends once for each request identifier: after \
            an error, repeat the identifier that the command printed.
            """,
            example: """
                extend 1000000831360853 --days 7 \\
                    --reason service-issue
                """))

    /// Why the date is extended (App Store Server API, extendReasonCode).
    enum Reason: String, ExpressibleByArgument, CaseIterable {
        case undeclared
        case customerSatisfaction = "customer-satisfaction"
        case other
        case serviceIssue = "service-issue"

        var code: ExtendReasonCode {
            switch self {
            case .undeclared: .undeclared
            case .customerSatisfaction: .customerSatisfaction
            case .other: .other
            case .serviceIssue: .serviceIssueOrOutage
            }
        }
    }

    @OptionGroup var argument: AppStoreIdArgument

    @Option(help: .value("number", "The number of days, 1 to 90."))
    var days: Int32

    @Option(help: "Why the date is extended.")
    var reason: Reason

    @Option(help: "Your name for the request, at most 128 characters (default: a new UUID).")
    var requestIdentifier: String?

    @OptionGroup var options: AppStoreActionOptions

    func validate() throws {
        guard (1...90).contains(days) else { throw ValidationError("--days takes a number from 1 to 90.") }
        try requestIdentifier.map(RequestIdentifier.check)
    }

    func act(_ session: AppStoreSession, _ answer: inout AppStoreAnswer) async throws {
        let identifier = requestIdentifier ?? UUID().uuidString.lowercased()
        let response: ExtendRenewalDateResponse
        do {
            response = try await session.client.extendSubscriptionRenewalDate(
                argument.id,
                ExtendRenewalDateRequest(
                    extendByDays: days, extendReasonCode: reason.code, requestIdentifier: identifier))
        } catch let error as AppStoreServerAPIError where error.reason != .refused {
            Terminal.error("To send the same request again: --request-identifier \(identifier)")
            throw error
        }
        answer.add("requestIdentifier", .string(identifier))
        answer.add("success", .bool(response.success ?? false))
        if let id = response.originalTransactionId { answer.add("originalTransactionId", .string(id)) }
        if let id = response.webOrderLineItemId { answer.add("webOrderLineItemId", .string(id)) }
        if let date = response.effectiveDate { answer.add("effectiveDate", .integer(date)) }
        answer.hasSucceeded = response.success ?? false
    }
}

struct AppStoreConsumptionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Send the answer about one transaction (default).",
        discussion: AppStoreCommand.discussion(
            """
            Send Consumption Information. When a customer asks Apple for a refund, Apple sends your server a notification \
            CONSUMPTION_REQUEST and expects the answer within 12 hours. The data is about the customer: send it only if the \
            customer agreed, and confirm it with --customer-consented. Without consent, do not answer. Apple accepts no answer \
            about purchases from Family Sharing or an organization.

            --store names the store that keeps the request, and the answer closes it there. Without it, a request in a \
            store stays open until you dismiss it.
            """,
            example: """
                consumption 1000000831360853 --customer-consented \\
                    --delivery-status DELIVERED --no-sample-content-provided \\
                    --consumption-percentage 40 --refund-preference GRANT_PRORATED
                """))

    @OptionGroup var argument: AppStoreIdArgument

    @Flag(help: "The customer agreed that you send this data to Apple. Required.")
    var customerConsented = false

    @Option(
        help: .value(
            "status",
            "DELIVERED, UNDELIVERED_QUALITY_ISSUE, UNDELIVERED_WRONG_ITEM, UNDELIVERED_SERVER_OUTAGE or UNDELIVERED_OTHER."
        ), transform: knownValue)
    var deliveryStatus: DeliveryStatus

    @Flag(inversion: .prefixedNo, help: "Whether the customer could try the content before the purchase. Required.")
    var sampleContentProvided: Bool?

    @Option(
        help: .value(
            "percent", "How much was consumed, 0 to 100. Not for auto-renewable subscriptions; 0 unless delivered."))
    var consumptionPercentage: Double?

    @Option(help: .value("preference", "DECLINE, GRANT_FULL or GRANT_PRORATED."), transform: knownValue)
    var refundPreference: RefundPreference?

    @Option(help: .value("url", "The store that keeps the request: sqlite:PATH or postgres://…"))
    var store: String?

    @OptionGroup var options: AppStoreActionOptions

    func validate() throws {
        guard customerConsented else {
            throw ValidationError(
                "Missing --customer-consented. Without the customer's consent, Apple must not get this data.")
        }
        guard sampleContentProvided != nil else {
            throw ValidationError("Missing --sample-content-provided or --no-sample-content-provided.")
        }
        guard let percentage = consumptionPercentage else { return }
        guard percentage >= 0, percentage <= 100 else {
            throw ValidationError("--consumption-percentage takes a number from 0 to 100.")
        }
        guard percentage == 0 || deliveryStatus == .delivered else {
            throw ValidationError("--consumption-percentage is 0 unless the delivery status is DELIVERED.")
        }
    }

    func run() async throws {
        // Apple's unit is a thousandth of a percent.
        let request = ConsumptionRequest(
            customerConsented: customerConsented, deliveryStatus: deliveryStatus,
            sampleContentProvided: sampleContentProvided ?? false,
            consumptionPercentage: consumptionPercentage.map { Int32(($0 * 1_000).rounded()) },
            refundPreference: refundPreference)
        guard let store else {
            return try await options.run { session, answer in
                try await session.client.sendConsumptionInformation(argument.id, request)
                try add(request, to: &answer)
                answer.add("requestStaysOpen", .bool(true))
                answer.say("If a store keeps the request, dismiss it there: it is still open.")
            }
        }
        let storeError = try await StoreOpener.withExisting(store) { store in
            var failure: TransactionStoreError?
            try await options.run(sharedThrough: store) { session, answer in
                let scope = StoreScope(
                    environment: session.client.environment, bundleId: options.server.bundleId)
                let sent: ConsumptionAnswers.Sent
                do {
                    sent = try await ConsumptionAnswers.send(
                        request, about: argument.id, in: scope, session.client, closingRequestsIn: store,
                        now: session.now)
                } catch let problem as ConsumptionProblem {
                    throw CommandFailure(problem.message)
                }
                failure = sent.storeError
                try add(request, to: &answer)
                answer.add("notificationUUIDs", .array(sent.notificationUUIDs.map { .string($0) }))
                answer.add("requestStaysOpen", .bool(failure != nil || sent.missed > 0))
                if sent.missed > 0 {
                    answer.say("The deadline of some requests about it has passed. They stay open: dismiss them.")
                } else if sent.notificationUUIDs.isEmpty {
                    answer.say("The store has no open request about it.")
                }
            }
            return failure
        }
        if let storeError {
            Terminal.error(ConsumptionAnswerCommand.stillOpen(storeError))
            throw ExitStatus.usageOrIO
        }
    }

    private func add(_ request: ConsumptionRequest, to answer: inout AppStoreAnswer) throws {
        answer.add("transactionId", .string(argument.id))
        answer.add("sent", try AppStoreAnswer.json(request))
        answer.say("The App Store accepted the information.")
    }

    /// - Throws: `ValidationError` for a value that Apple does not document.
    private static func knownValue<Value: OpenEnum>(_ text: String) throws -> Value where Value.RawValue == String {
        let value = Value(rawValue: text)
        guard value.isKnown else {
            throw ValidationError(
                "'\(text)' is not one of \(Value.knownValues.map(\.rawValue).joined(separator: ", ")).")
        }
        return value
    }
}

struct AppStoreFinishCommand: AppStoreAction {
    static let configuration = CommandConfiguration(
        commandName: "finish",
        abstract: "Finish a transaction, as the app does after it delivered the content.",
        discussion: AppStoreCommand.discussion(
            """
            Finish Transaction: the App Store no longer offers the transaction to the app as unfinished. So finish it only \
            after your server has delivered the content. An app that delivers unfinished transactions does not get it again.
            """, example: "finish 1000000831360853"))

    @OptionGroup var argument: AppStoreIdArgument
    @OptionGroup var options: AppStoreActionOptions

    func act(_ session: AppStoreSession, _ answer: inout AppStoreAnswer) async throws {
        try await session.client.finishTransaction(argument.id)
        answer.add("transactionId", .string(argument.id))
        answer.add("finished", .bool(true))
    }
}
