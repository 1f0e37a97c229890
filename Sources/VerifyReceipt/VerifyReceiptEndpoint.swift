internal import AppStoreModels
internal import LegacyReceipts
public import TransactionStore

/// Apple's verifyReceipt as a function from a request body to a reply body, without sockets. The time is a parameter.
///
/// Create one and keep it, because it caches certificate chains and receipts. Any number of threads can use it.
///
/// ```swift
/// let endpoint = try VerifyReceiptEndpoint(configuration: configuration, store: store)
/// let reply = await endpoint.reply(to: body, at: .production, now: milliseconds)
/// ```
public final class VerifyReceiptEndpoint: Sendable {
    /// The configuration at creation. To change it, create another endpoint.
    public let configuration: EndpointConfiguration
    let store: (any TransactionStore)?
    let reader: SubmissionReader
    /// Nil without a store.
    let writer: StoreWriter?
    private let apps: [String: ConfiguredApp]

    /// - Parameters:
    ///   - configuration: apps, secrets, trust, and the options for answers.
    ///   - store: stores purchases; if nil, each answer comes from the receipt alone.
    ///   - writer: writes receipts to the store; nil for one without a spool. Endpoints of one store share it.
    /// - Throws: `ReceiptError` `malformedCertificate` if a certificate of the trust policy cannot be read.
    public init(
        configuration: EndpointConfiguration, store: (any TransactionStore)?, writer: StoreWriter? = nil
    ) throws {
        self.configuration = configuration
        self.store = store
        self.writer = store.map { writer ?? StoreWriter(store: $0) }
        reader = SubmissionReader(
            verifier: try ReceiptVerifier(trust: configuration.trust, limits: configuration.limits),
            decoder: ReceiptDecoder(limits: configuration.limits), isLenient: configuration.base64 == .lenient,
            acceptsXcodeReceipts: configuration.trust.acceptsXcodeReceipts,
            cache: ReceiptCache(maximum: configuration.receiptCacheBytes), hasStore: store != nil)
        apps = Dictionary(grouping: configuration.apps, by: \.bundleId).mapValues { ConfiguredApp($0) }
    }

    /// The hits and misses of the certificate chain cache since the endpoint was created.
    public var chainLookups: (hits: Int, misses: Int) { reader.verifier.chainLookups }

    /// The hits and misses of the cache of genuine receipts since the endpoint was created.
    public var receiptLookups: (hits: Int, misses: Int) { reader.cache.lookups }

    /// The answer to a request. Every failure is a reply with a status.
    ///
    /// - Parameters:
    ///   - body: the request's body. Only the size of the receipt is limited here.
    ///   - environment: the endpoint that received the request.
    ///   - now: milliseconds since 1970-01-01T00:00:00Z.
    public func reply(to body: [UInt8], at environment: EndpointEnvironment, now: Int64) async -> VerifyReceiptReply {
        let exchange = Exchange(environment: environment, now: now)
        do {
            return try await answer(body, exchange)
        } catch {
            // An unexpected error is an internal failure, not an invalid receipt.
            let failure = Refusal(.storedDataUnreadable, "Unexpected failure: \(type(of: error)).")
            return StatusReply.reply(
                error as? Refusal ?? failure, at: exchange.environment, facts: exchange.facts)
        }
    }

    /// The reply to a request that is not a POST: 21000.
    public static let notAPost = StatusReply.reply(
        Refusal(.notAPost, "The request is not a POST."), at: .production)
    /// The reply when there is no room for the request: 21005.
    public static let unavailable = StatusReply.reply(
        Refusal(.queueFull, "The server is too busy for the request. Send it again."), at: .production)

    private func answer(_ body: [UInt8], _ exchange: Exchange) async throws -> VerifyReceiptReply {
        let request = try VerifyReceiptRequest.read(body).get()
        if request.isSignedTransaction { return try await answer(signedTransaction: request, exchange) }
        let submission = try genuineSubmission(request.receiptText, exchange)
        let app = try configuredApp(of: submission.receipt.payload, exchange)
        let password = passwordCheck(request, app)
        switch submission.receipt.payload {
        case .app(let receipt): return try await answer(receipt, submission, request, app, password, exchange)
        case .transaction(let receipt): return try await answer(receipt, submission, app, password, exchange)
        }
    }

    /// The genuine receipt of a request. The facts of the exchange name it, also if it is of the other environment.
    /// - Throws: ``Refusal``
    func genuineSubmission(_ text: ArraySlice<UInt8>, _ exchange: Exchange) throws -> Submission {
        let container = try reader.container(text)
        let name = Fingerprint(of: container.bytes)
        exchange.facts.receiptName = Self.text(name)
        let started = ContinuousClock.now
        let outcome = Result { try genuineSubmission(container, name, text: text, exchange) }
        exchange.facts.verificationNanoseconds = started.duration(to: .now).wholeNanoseconds
        let bundleId: String? =
            switch outcome {
            case .success(let submission): submission.receipt.payload.bundleId
            case .failure(let error): (error as? Refusal)?.genuineBundleId
            }
        exchange.facts.bundleId = bundleId
        exchange.facts.isConfiguredApp = bundleId.map(hasConfigured) ?? false
        return try outcome.get()
    }

    /// A sandbox receipt at production is answered as the sandbox if its app is
    /// configured so. The signature is verified first, so a forged receipt still gets 21007. Xcode's receipts
    /// do too, because every Mac can sign them.
    /// - Throws: ``Refusal``
    private func genuineSubmission(
        _ container: ReceiptContainer, _ name: Fingerprint, text: ArraySlice<UInt8>, _ exchange: Exchange
    ) throws -> Submission {
        do {
            return try reader.submission(container, name, text: text, at: exchange.environment)
        } catch let refusal as Refusal where refusal.condition == .sandboxAtProduction {
            guard apps.values.contains(where: answersSandboxAtProduction),
                let submission = try? reader.submission(container, name, text: text, at: .sandbox),
                submission.receipt.payload.environment != .xcode,
                answersSandboxAtProduction(submission.receipt.payload.bundleId)
            else { throw refusal }
            exchange.environment = .sandbox
            return submission
        }
    }

    /// Whether production answers the sandbox purchases of a bundle id. Apps that are not configured never do.
    func answersSandboxAtProduction(_ bundleId: String?) -> Bool {
        bundleId.flatMap { apps[$0] }.map(answersSandboxAtProduction) ?? false
    }

    private func answersSandboxAtProduction(_ app: ConfiguredApp) -> Bool {
        (app.sandboxAtProduction ?? configuration.sandboxAtProduction) == .answered
    }

    private func answer(
        _ receipt: AppReceipt, _ submission: Submission, _ request: VerifyReceiptRequest, _ app: ConfiguredApp?,
        _ password: PasswordCheck, _ exchange: Exchange
    ) async throws -> VerifyReceiptReply {
        try password.check(hasAutoRenewable: receipt.hasAutoRenewable)
        let context = try await context(
            of: submission.facts, excludesOldTransactions: request.excludesOldTransactions, app, exchange)
        return try reply(to: receipt, submission, context, password, exchange)
    }

    // Not in the asynchronous function, which would copy the reply into the memory of its task.
    private func reply(
        to receipt: AppReceipt, _ submission: Submission, _ context: ReplyContext, _ password: PasswordCheck,
        _ exchange: Exchange
    ) throws -> VerifyReceiptReply {
        let reply = AppReceiptReply(receipt, submission, context)
        // The store may contain subscriptions and renewals that this receipt does not. They are not shown without the
        // secret.
        try password.check(hasAutoRenewable: reply.showsSubscriptions)
        exchange.facts.transactionsFromStore = reply.latest.storeOnlyCount
        return VerifyReceiptReply(status: 0, body: reply.body(), facts: exchange.facts)
    }

    private func answer(
        _ receipt: TransactionReceipt, _ submission: Submission, _ app: ConfiguredApp?, _ password: PasswordCheck,
        _ exchange: Exchange
    ) async throws -> VerifyReceiptReply {
        if receipt.isAutoRenewable { try password.check(hasAutoRenewable: true) }
        let context = try await context(of: submission.facts, isTransactionReceipt: true, app, exchange)
        let reply = TransactionReceiptReply(
            receipt: receipt, submittedReceipt: submission.text, context: context
        ).reply()
        exchange.facts.transactionsFromStore = reply.transactionsFromStore
        return VerifyReceiptReply(
            status: StatusTable.row(reply.condition).status.lowerBound, body: reply.body, facts: exchange.facts)
    }

    func passwordCheck(_ request: VerifyReceiptRequest, _ app: ConfiguredApp?) -> PasswordCheck {
        PasswordCheck(password: request.password, secrets: [app?.secrets ?? [], configuration.accountSecrets])
    }

    /// The configuration of a receipt's app. Only production compares the app's id.
    /// - Throws: ``Refusal`` with 21003 for rejected apps.
    func configuredApp(of receipt: LegacyReceipt, _ exchange: Exchange) throws -> ConfiguredApp? {
        let appleId: Int64? =
            switch receipt {
            case .app(let receipt): receipt.appItemId
            case .transaction(let receipt): receipt.appItemId.flatMap { Int64($0) }
            }
        return try configuredApp(
            receipt.bundleId, appleId: exchange.environment == .production ? appleId : nil)
    }

    /// The configuration of a bundle id.
    ///
    /// - Parameters:
    ///   - bundleId: the bundle id of the receipt; nil if it has none.
    ///   - appleId: the app's id in the receipt; nil or 0 if it has none.
    /// - Throws: ``Refusal`` with 21003 for rejected apps.
    func configuredApp(_ bundleId: String?, appleId: Int64?) throws -> ConfiguredApp? {
        guard let app = bundleId.flatMap({ apps[$0] }) else {
            guard configuration.unknownBundleIds == .accepted else {
                throw Refusal(.unknownBundleId, "The bundle id is not configured.")
            }
            return nil
        }
        if let configured = app.appleId, let appleId, appleId != 0, appleId != configured {
            throw Refusal(.foreignAppleId, "The receipt is of app \(appleId), not \(configured).")
        }
        return app
    }

    func hasConfigured(_ bundleId: String) -> Bool { apps[bundleId] != nil }

    func configured(_ bundleId: String) -> ConfiguredApp? { apps[bundleId] }

    /// The first 12 hexadecimal digits of the SHA-256 of a receipt.
    static func name(_ bytes: [UInt8]) -> String { text(Fingerprint(of: bytes)) }

    private static func text(_ fingerprint: Fingerprint) -> String { String(fingerprint.description.prefix(12)) }
}

/// One request while it is being answered. Confined to one task.
final class Exchange {
    /// The endpoint that the request is answered as. It becomes the sandbox if production answers a sandbox purchase
    /// (``AppConfiguration/sandboxAtProduction``).
    var environment: EndpointEnvironment
    let now: Int64
    var facts = ReplyFacts()

    init(environment: EndpointEnvironment, now: Int64) {
        self.environment = environment
        self.now = now
    }
}
