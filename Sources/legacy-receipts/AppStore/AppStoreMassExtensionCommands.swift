import AppStoreModels
import AppStoreServer
import ArgumentParser

/// The limits of Apple's for a request identifier.
enum RequestIdentifier {
    /// - Throws: `ValidationError` for a name that Apple refuses.
    static func check(_ identifier: String) throws {
        guard (1...128).contains(identifier.utf8.count) else {
            throw ValidationError("A request identifier has 1 to 128 bytes.")
        }
    }
}

struct AppStoreExtendAllCommand: AppStoreAction {
    static let configuration = CommandConfiguration(
        commandName: "extend-all",
        abstract: "Extend the renewal dates of all active subscribers of a product.",
        discussion: AppStoreCommand.discussion(
            """
            Extend Subscription Renewal Dates for All Active Subscribers: every subscriber gets 1 to 90 days without payment, \
            for example after an outage. It cannot be undone. Apple works on it for hours to days; extend-all-status shows \
            the progress. Apple extends once for each request identifier: after an error, repeat the same one.
            """,
            example: """
                extend-all com.example.monthly --days 3 \\
                    --reason service-issue --request-identifier outage-2026-01-31
                """))

    @Argument(help: .value("product-id", "The product id of the subscription."))
    var productId: String

    @Option(help: .value("number", "The number of days, 1 to 90."))
    var days: Int32

    @Option(help: "Why the dates are extended.")
    var reason: AppStoreExtendCommand.Reason

    @Option(help: .value("name", "Your name for the request, at most 128 characters."))
    var requestIdentifier: String

    @Option(help: .value("code", "Only this storefront, as three letters, for example USA. Repeatable (default: all)."))
    var storefront: [String] = []

    @OptionGroup var options: AppStoreActionOptions

    func validate() throws {
        guard !productId.isEmpty else { throw ValidationError("The product id is empty.") }
        guard (1...90).contains(days) else { throw ValidationError("--days takes a number from 1 to 90.") }
        try RequestIdentifier.check(requestIdentifier)
    }

    func act(_ session: AppStoreSession, _ answer: inout AppStoreAnswer) async throws {
        let response = try await session.client.extendRenewalDateForAllActiveSubscribers(
            MassExtendRenewalDateRequest(
                extendByDays: days, extendReasonCode: reason.code, requestIdentifier: requestIdentifier,
                productId: productId, storefrontCountryCodes: storefront.isEmpty ? nil : storefront))
        answer.add("requestIdentifier", .string(response.requestIdentifier ?? requestIdentifier))
        answer.say("The App Store accepted the request. app-store extend-all-status shows the progress.")
    }
}

struct AppStoreExtendAllStatusCommand: AppStoreAction {
    static let configuration = CommandConfiguration(
        commandName: "extend-all-status",
        abstract: "Show the progress of extend-all.",
        discussion: AppStoreCommand.discussion(
            """
            Get Status of Subscription Renewal Date Extensions: whether Apple is done, and for how many subscribers the date \
            was extended.
            """,
            example: """
                extend-all-status com.example.monthly \\
                    outage-2026-01-31
                """))

    @Argument(help: .value("product-id", "The product id of the subscription."))
    var productId: String

    @Argument(help: .value("request-identifier", "The name of the request."))
    var requestIdentifier: String

    @OptionGroup var options: AppStoreActionOptions

    func validate() throws {
        guard !productId.isEmpty else { throw ValidationError("The product id is empty.") }
        try RequestIdentifier.check(requestIdentifier)
    }

    func act(_ session: AppStoreSession, _ answer: inout AppStoreAnswer) async throws {
        let status = try await session.client.getStatusOfRenewalDateExtensions(
            productId: productId, requestIdentifier: requestIdentifier)
        answer.add("requestIdentifier", .string(status.requestIdentifier ?? requestIdentifier))
        answer.add("complete", .bool(status.complete ?? false))
        if let date = status.completeDate { answer.add("completeDate", .integer(date)) }
        if let count = status.succeededCount { answer.add("succeededCount", .integer(count)) }
        if let count = status.failedCount { answer.add("failedCount", .integer(count)) }
    }
}
