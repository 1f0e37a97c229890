import AppStoreModels
import AppStoreServer
import ArgumentParser

/// The argument of the actions on a transaction.
struct AppStoreIdArgument: ParsableArguments {
    @Argument(help: "The id.")
    var id: String

    func validate() throws {
        guard !id.isEmpty else { throw ValidationError("The id is empty.") }
    }
}

struct AppStoreTransactionCommand: AppStoreAction {
    static let configuration = CommandConfiguration(
        commandName: "transaction",
        abstract: "Show one transaction.",
        discussion: AppStoreCommand.discussion(
            "Get Transaction Info. The id is a transaction id; an original transaction id works too.",
            example: "transaction 1000000831360853"))

    @OptionGroup var argument: AppStoreIdArgument
    @OptionGroup var options: AppStoreActionOptions

    func act(_ session: AppStoreSession, _ answer: inout AppStoreAnswer) async throws {
        let response = try await session.client.getTransactionInfo(argument.id)
        answer.add("transaction", try await session.transaction(response.signedTransactionInfo))
    }
}

struct AppStoreHistoryCommand: AppStoreAction {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "List a customer's transactions.",
        discussion: AppStoreCommand.discussion(
            """
            Get Transaction History, all pages, oldest change first: every transaction of the customer in the app, with \
            refunded ones and finished consumables. The id is any transaction id, original transaction id or \
            appTransactionId of the customer.
            """, example: "history 1000000831360853"))

    @OptionGroup var argument: AppStoreIdArgument

    @Option(date: "Only purchases from this date on: 2026-01-31, or 2026-01-31T12:00:00Z.")
    var since: Int64?

    @Option(date: "Only purchases before this date.")
    var until: Int64?

    @Option(name: .customLong("product-id"), help: .value("id", "Only this product. Repeatable."))
    var productIds: [String] = []

    @Flag(name: .customLong("revoked"), help: "Only refunded and revoked transactions.")
    var onlyRevoked = false

    @OptionGroup var options: AppStoreActionOptions

    func act(_ session: AppStoreSession, _ answer: inout AppStoreAnswer) async throws {
        let filter = TransactionHistoryRequest(
            startDate: since, endDate: until, productIds: productIds.isEmpty ? nil : productIds,
            sort: .ascending, revoked: onlyRevoked ? true : nil)
        var rows: [JSONValue] = []
        var revision: String?
        for try await page in session.client.transactionHistory(argument.id, filter: filter) {
            try await session.add(page.signedTransactions ?? [], to: &rows, of: &answer)
            revision = page.revision
        }
        if let revision { answer.add("revision", .string(revision)) }
        answer.add("transactions", rows: rows, columns: AppStoreText.transactionColumns)
    }
}

struct AppStoreStatusesCommand: AppStoreAction {
    static let configuration = CommandConfiguration(
        commandName: "statuses",
        abstract: "Show the state of a customer's subscriptions.",
        discussion: AppStoreCommand.discussion(
            """
            Get All Subscription Statuses: each auto-renewable subscription of the customer with its status, last \
            transaction and renewal info. The id is any transaction id, original transaction id or appTransactionId of the \
            customer.
            """, example: "statuses 1000000831360853"))

    private static let columns = [
        ["statusName"], ["transaction", "productId"], ["originalTransactionId"], ["subscriptionGroupIdentifier"],
        ["transaction", "expiresDate"], ["renewalInfo", "autoRenewStatus"], ["renewalInfo", "autoRenewProductId"],
        ["renewalInfo", "renewalDate"], ["renewalInfo", "gracePeriodExpiresDate"],
        ["renewalInfo", "expirationIntent"],
    ]

    @OptionGroup var argument: AppStoreIdArgument
    @OptionGroup var options: AppStoreActionOptions

    func act(_ session: AppStoreSession, _ answer: inout AppStoreAnswer) async throws {
        let response = try await session.client.getAllSubscriptionStatuses(argument.id)
        var rows: [JSONValue] = []
        var count = 0
        for group in response.data ?? [] {
            for item in group.lastTransactions ?? [] {
                count += 1
                do {
                    rows.append(try await session.subscription(item, group: group.subscriptionGroupIdentifier))
                } catch {
                    answer.notGenuine.append(try AppStoreSession.refusal(of: "Subscription \(count)", error))
                }
            }
        }
        answer.add("subscriptions", rows: rows, columns: Self.columns)
    }
}

struct AppStoreRefundsCommand: AppStoreAction {
    static let configuration = CommandConfiguration(
        commandName: "refunds",
        abstract: "List a customer's refunds.",
        discussion: AppStoreCommand.discussion(
            """
            Get Refund History, all pages: the refunded transactions of the customer in the app. The id is any transaction \
            id, original transaction id or appTransactionId of the customer.
            """, example: "refunds 1000000831360853"))

    @OptionGroup var argument: AppStoreIdArgument
    @OptionGroup var options: AppStoreActionOptions

    func act(_ session: AppStoreSession, _ answer: inout AppStoreAnswer) async throws {
        var rows: [JSONValue] = []
        for try await page in session.client.refundHistory(argument.id) {
            try await session.add(page.signedTransactions ?? [], to: &rows, of: &answer)
        }
        answer.add("transactions", rows: rows, columns: AppStoreText.transactionColumns)
    }
}

struct AppStoreOrderCommand: AppStoreAction {
    static let configuration = CommandConfiguration(
        commandName: "order",
        abstract: "Find the purchases of an order ID on a customer's invoice.",
        discussion: AppStoreCommand.discussion(
            """
            Look Up Order ID: the customer reads the order ID in Apple's e-mail. Apple has this action in production only. \
            An order ID of another app gives exit status 1.
            """, example: "order MQWERTY123"))

    @OptionGroup var argument: AppStoreIdArgument
    @OptionGroup var options: AppStoreActionOptions

    func act(_ session: AppStoreSession, _ answer: inout AppStoreAnswer) async throws {
        let response = try await session.client.lookUpOrderId(argument.id)
        if let status = response.status { answer.add("status", .integer(Int64(status.rawValue))) }
        guard response.status != .invalid else {
            answer.say("The App Store does not know the order ID for this app: ask the customer to check it.")
            answer.hasSucceeded = false
            return
        }
        var rows: [JSONValue] = []
        try await session.add(response.signedTransactions ?? [], to: &rows, of: &answer)
        answer.add("transactions", rows: rows, columns: AppStoreText.transactionColumns)
    }
}

struct AppStoreAppTransactionCommand: AppStoreAction {
    static let configuration = CommandConfiguration(
        commandName: "app-transaction",
        abstract: "Show a customer's purchase or download of the app.",
        discussion: AppStoreCommand.discussion(
            """
            Get App Transaction Info: the version and the date of the first download or purchase of the app. The id is any \
            transaction id, original transaction id or appTransactionId of the customer.
            """, example: "app-transaction 1000000831360853"))

    @OptionGroup var argument: AppStoreIdArgument
    @OptionGroup var options: AppStoreActionOptions

    func act(_ session: AppStoreSession, _ answer: inout AppStoreAnswer) async throws {
        let response = try await session.client.getAppTransactionInfo(argument.id)
        answer.add("appTransaction", try await session.appTransaction(response.signedAppTransactionInfo))
    }
}
