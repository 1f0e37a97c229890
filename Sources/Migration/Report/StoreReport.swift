internal import AppStoreModels
internal import Encodings
public import ProductCatalog
internal import Purchases
public import TransactionStore

/// The counts of a store for a report. They match the tables of ``TableExport`` for the same store, catalog and date.
///
/// Two reports of the same documents with the same date and catalog are equal, except for ``sources`` and
/// ``enrichment``: the runs that stored the documents. At most two pages of customers are in memory.
public struct StoreReport: Sendable, Equatable {
    /// The subscriptions of one calendar month in UTC.
    public struct Month: Sendable, Equatable {
        /// Of the Gregorian calendar.
        public let year: Int
        /// 1 to 12.
        public let month: Int
        /// Subscriptions that were first bought in the month.
        public internal(set) var started = 0
        /// Subscriptions whose access ended in the month and that have no access at the date of the report. A
        /// subscription that lapsed and returned did not end.
        public internal(set) var ended = 0
        /// Subscriptions that had started and not ended at the end of the month, or at the date of the report.
        public internal(set) var active = 0
    }

    /// The purchases of one non-renewing product.
    public struct Term: Sendable, Equatable {
        /// `unknown` for purchases without a product id. `(other)` for all products after the first
        /// ``StoreReport/maximumProducts``.
        public let productId: String
        /// Rows of `terms`.
        public internal(set) var terms = 0
        /// Terms that are current at the date of the report and were not refunded by then.
        public internal(set) var running = 0
    }

    /// One migration, over all its runs.
    public struct Source: Sendable, Equatable {
        /// The first inputs as the command named them, and the number of all.
        public let inputs: [String]
        /// The number of all inputs. ``inputs`` has at most ``StoreReport/maximumExamples`` of them.
        public let inputCount: Int
        /// Its counts. The counts of transactions are 0, because a migration into a store does not count them.
        public let summary: MigrationSummary
    }

    /// A modern field that transactions lack.
    public struct UncarriedField: Sendable, Equatable {
        /// Where the values can come from.
        public enum Remedy: Sendable, Hashable {
            /// An answer of the App Store Server API.
            case appStore
            /// The product catalog, or an answer of the App Store Server API.
            case catalog
            /// Only the app or the caller's server.
            case app
        }

        /// The name of the field in Apple's transaction.
        public let field: String
        /// How many transactions lack it. Transactions that cannot have the field do not count.
        public let transactions: Int
        /// The catalog for types and groups, the app for `appAccountToken`, and the App Store for all other fields.
        public let remedy: Remedy
    }

    /// A reason of the quarantine.
    public struct Quarantine: Sendable, Equatable {
        /// The code of the reason; `unknown` for a line without one.
        public let reason: String
        /// Records with this reason, and documents of migrated records.
        public internal(set) var rows = 0
        /// How many of the rows are receipts inside migrated replies and notifications. The rows of these documents are in the
        /// store without the receipt.
        public internal(set) var embeddedReceipts = 0
        /// The first records in the order of the store: SHA-256 of the original bytes in hexadecimal digits, and a sentence.
        public internal(set) var examples: [Example] = []
    }

    /// One record in the quarantine.
    public struct Example: Sendable, Equatable {
        /// The hash of the original bytes, in 64 hexadecimal digits; empty if the quarantine has none.
        public let sha256: String
        /// Why it was not migrated, as a sentence.
        public let message: String
    }

    /// A purchase with several users in the records.
    public struct Conflict: Sendable, Equatable {
        /// The purchase, for example a subscription with all its periods.
        public let originalTransactionId: String
        /// The caller's ids of the users, at most ``StoreReport/maximumExamples``.
        public let userIds: [String]
    }

    /// A number of questions to the App Store.
    public struct Question: Sendable, Equatable {
        /// As in the column `reason` of `to_ask_apple`.
        public let reason: String
        /// A purchase counts once for each of its reasons.
        public internal(set) var purchases = 0
    }

    /// The moment of statuses, in milliseconds since 1970-01-01T00:00:00Z.
    public let date: Int64
    /// The row counts of tables of the export.
    public internal(set) var customers = 0
    /// Rows of `transactions`.
    public internal(set) var transactions = 0
    /// Rows of `subscriptions`.
    public internal(set) var subscriptions = 0
    /// Rows of `entitlements`.
    public internal(set) var entitlements = 0
    /// Customers with access to anything.
    public internal(set) var customersWithAccess = 0
    /// Transactions by the columns of `transactions`; `unknown` if the column has no value.
    public internal(set) var transactionsByEnvironment: [String: Int] = [:]
    /// `signed` if at least one document with the transaction is signed; otherwise `recorded`.
    public internal(set) var transactionsByEvidence: [String: Int] = [:]
    /// By `source`, and by the kinds in `documents`: a transaction counts for each kind that states it.
    public internal(set) var transactionsBySource: [String: Int] = [:]
    /// By the sources of all documents. A transaction counts once for each source.
    public internal(set) var transactionsByDocument: [String: Int] = [:]
    /// The newest receipts of the customers, which the store keeps: `app`, and `transaction` for iOS 6.
    public internal(set) var receiptsByForm: [String: Int] = [:]
    /// By `type`, from the documents or the catalog; `unknown` if neither states it.
    public internal(set) var transactionsByType: [String: Int] = [:]
    /// By the year of `purchaseDate`.
    public internal(set) var transactionsByYear: [String: Int] = [:]
    /// Up to ``maximumProducts`` products are counted by name, in the order of their first appearance; the others count
    /// as `(other)`.
    public internal(set) var transactionsByProduct: [String: Int] = [:]
    /// Rows of `subscriptions` by `status`.
    public internal(set) var subscriptionsByStatus: [String: Int] = [:]
    /// From the first month with a start or an end to the month of the report, at most ``maximumMonths``.
    public internal(set) var months: [Month] = []
    /// Transactions that were refunded or revoked, by the year of `revocationDate` and by `revocationType`.
    public internal(set) var refundsByYear: [String: Int] = [:]
    /// `unknown` if no document states the type.
    public internal(set) var refundsByType: [String: Int] = [:]
    /// Subscriptions with a free trial that was not revoked, and how many of them have a later period that was neither free nor
    /// revoked.
    public internal(set) var trials = 0
    /// Those of ``trials`` with a later period that was neither free nor revoked.
    public internal(set) var trialsPaid = 0
    /// By product, in the order of the ids; at most ``maximumProducts``.
    public internal(set) var terms: [Term] = []
    /// In the order of the first inputs. Of a migration that was started over, only the last start; of a query without a key,
    /// only the last run. All retries are one source.
    public internal(set) var sources: [Source] = []
    /// The most frequent first.
    public internal(set) var uncarriedFields: [UncarriedField] = []
    /// In the order of the reasons.
    public internal(set) var quarantine: [Quarantine] = []
    /// Rows of `conflicts`, and the first of them.
    public internal(set) var conflicts = 0
    /// The first conflicts, at most ``maximumExamples``.
    public internal(set) var conflictExamples: [Conflict] = []
    /// Rows of `to_ask_apple`, in the order of what an answer could change.
    public internal(set) var questions: [Question] = []
    /// Purchases that the App Store Server API can return, those of Production and Sandbox, and those of them that an
    /// answer in the store states. A subscription is one purchase.
    public internal(set) var purchases = 0
    /// Those of ``purchases`` that an answer of the App Store Server API in the store states.
    public internal(set) var purchasesAnswered = 0
    /// Customers with such an answer.
    public internal(set) var customersAnswered = 0
    /// The number of answers that the App Store does not know a purchase or an id: one for each app and environment.
    public internal(set) var unknownToAppStore = 0
    /// The bundle ids of the purchases without an answer, sorted; at most ``maximumExamples``.
    public internal(set) var appsToQuery: [String] = []
    /// The number of runs of `enrich` that queried the App Store, and what they did.
    public internal(set) var enrichmentRuns = 0
    /// The sums over all runs of `enrich`.
    public internal(set) var enrichment = EnrichmentCounts()

    /// The maximum number of products counted by name.
    public static let maximumProducts = 10_000
    /// Fifty years.
    public static let maximumMonths = 600
    /// The maximum number of examples of each kind.
    public static let maximumExamples = 5

    /// The rows in the quarantine.
    public var quarantined: Int { quarantine.reduce(0) { $0 + $1.rows } }
    /// The rows in the quarantine that `enrich` looks up in the App Store Server API.
    public var bareTransactionIds: Int {
        quarantine.reduce(0) { $0 + ($1.reason == QuarantineReason.bareTransactionId.code ? $1.rows : 0) }
    }
    /// The rows in the quarantine that are receipts inside migrated replies and notifications.
    public var embeddedReceiptsQuarantined: Int { quarantine.reduce(0) { $0 + $1.embeddedReceipts } }
    /// Purchases that were refunded or revoked; copies of a purchase count once.
    public var refunds: Int { refundsByYear.values.reduce(0, +) }

    /// Reads a store.
    ///
    /// - Parameters:
    ///   - store: the store, which is only read.
    ///   - catalog: gives types, groups, levels and durations that documents do not state.
    ///   - date: the moment of statuses, in milliseconds since 1970-01-01T00:00:00Z.
    /// - Throws: `TransactionStoreError` or `CancellationError`.
    public init(
        _ store: any CustomerDirectory & MigrationStore & UnknownTransactions, catalog: ProductCatalog?, date: Int64
    ) async throws {
        self.date = date
        var counter = StoreReportCounter(date: date, catalog: catalog)
        try await store.forEachPage { customers in
            customers.map { ExportedCustomer($0.customer, users: $0.users, catalog: catalog, at: date) }
        } body: { page in
            for customer in page.joined() { counter.add(customer, to: &self) }
        }
        unknownToAppStore = Int(try await store.unknownTransactionCount())
        var last: String?
        while true {
            // The state of a checkpoint may be long.
            let page = try await store.checkpoints(after: last, limit: 10)
            guard let end = page.last else { break }
            last = end.migration
            for checkpoint in page { counter.add(checkpoint, to: &self) }
        }
        try await store.forEachQuarantinePage { page in
            for record in page { try counter.add(record) }
        }
        counter.finish(&self)
    }
}

/// The counts that take their final form at the end.
private struct StoreReportCounter {
    let date: Int64
    let catalog: ProductCatalog?
    /// By `CivilDay.monthsSinceYear0`.
    private var months: [Int64: (started: Int, ended: Int)] = [:]
    private var terms: [String: StoreReport.Term] = [:]
    private var quarantine: [String: StoreReport.Quarantine] = [:]
    private var questions: [OpenQuestion.Reason: Int] = [:]
    private var appsToQuery: Set<String> = []
    private var uncarried: [TransactionField: Int] = [:]
    /// The last start of each migration, by the name of the first.
    private var sources: [String: (start: Int, source: StoreReport.Source)] = [:]

    init(date: Int64, catalog: ProductCatalog?) { (self.date, self.catalog) = (date, catalog) }

    mutating func add(_ customer: ExportedCustomer, to report: inout StoreReport) {
        report.customers += 1
        report.entitlements += customer.entitlements.count
        if customer.entitlements.giveAccess { report.customersWithAccess += 1 }
        add(customer.transactions, of: customer.customer, to: &report)
        addSubscriptions(of: customer, to: &report)
        for term in customer.termsByTransaction { add(term) }
        let receipts = [customer.customer.newestAppReceipt, customer.customer.newestTransactionReceipt]
        for receipt in receipts.compactMap(\.self) { Self.count(receipt.form.name, in: &report.receiptsByForm) }
        report.conflicts += customer.users.conflicts.count
        for conflict in customer.users.conflicts where report.conflictExamples.count < StoreReport.maximumExamples {
            report.conflictExamples.append(
                StoreReport.Conflict(
                    originalTransactionId: conflict.originalTransactionId,
                    userIds: Array(conflict.userIds.prefix(StoreReport.maximumExamples))))
        }
        for question in customer.questions { questions[question.reason, default: 0] += 1 }
        addAnswers(about: customer.customer, to: &report)
    }

    private mutating func addAnswers(about customer: Customer, to report: inout StoreReport) {
        guard [Environment.production, .sandbox].contains(customer.scope.environment) else { return }
        let (all, answered) = customer.purchasesByAnswer
        report.purchases += all.count
        report.purchasesAnswered += answered.count
        if !answered.isEmpty { report.customersAnswered += 1 }
        if answered.count < all.count { appsToQuery.insert(customer.scope.bundleId) }
    }

    private mutating func add(
        _ transactions: [ExportedTransaction], of customer: Customer, to report: inout StoreReport
    ) {
        for transaction in transactions {
            for field in transaction.uncarriedFields { uncarried[field, default: 0] += 1 }
            let payload = transaction.stored.payload
            report.transactions += 1
            report.transactionsByEnvironment[customer.scope.environment.rawValue, default: 0] += 1
            report.transactionsByEvidence[transaction.stored.isSigned ? "signed" : "recorded", default: 0] += 1
            let origins = transaction.stored.origins
            Self.count(origins.deciding?.source.rawValue, in: &report.transactionsBySource)
            for source in origins.distinctSources {
                Self.count(source.rawValue, in: &report.transactionsByDocument)
            }
            Self.count(transaction.type?.rawValue, in: &report.transactionsByType)
            Self.count(payload.purchaseDate.map(Self.year), in: &report.transactionsByYear)
            Self.count(payload.productId, in: &report.transactionsByProduct)
        }
        guard transactions.contains(where: { $0.stored.payload.hasRevocation }) else { return }
        for payload in customer.revokedPurchases(catalog: catalog) {
            Self.count(payload.revocationDate.map(Self.year), in: &report.refundsByYear)
            Self.count(payload.revocationType?.rawValue, in: &report.refundsByType)
        }
    }

    /// Counts a name. Documents can state any text and any date, so the number of names is limited.
    private static func count(_ name: String?, in counts: inout [String: Int]) {
        let name = name ?? "unknown"
        let isKnown = counts[name] != nil || counts.count < StoreReport.maximumProducts
        counts[isKnown ? name : "(other)", default: 0] += 1
    }

    private mutating func addSubscriptions(of customer: ExportedCustomer, to report: inout StoreReport) {
        guard !customer.subscriptions.isEmpty else { return }
        let transactions = customer.history.transactionsByPurchase
        for (_, standing) in customer.subscriptions {
            report.subscriptions += 1
            report.subscriptionsByStatus[standing.status.name, default: 0] += 1
            let periods = transactions[standing.subscriptionId] ?? []
            if let start = periods.subscriptionStart { months[month(start), default: (0, 0)].started += 1 }
            if let end = standing.accessEnded { months[month(end), default: (0, 0)].ended += 1 }
            guard let isPaid = periods.isPaidAfterTrial else { continue }
            report.trials += 1
            if isPaid { report.trialsPaid += 1 }
        }
    }

    private mutating func add(_ term: ExportedTerm) {
        let product = term.stored.payload.productId ?? "unknown"
        let isKnown = terms[product] != nil || terms.count < StoreReport.maximumProducts
        let name = isKnown ? product : "(other)"
        terms[name, default: StoreReport.Term(productId: name)].terms += 1
        if term.term.isRunning(at: date) { terms[name]?.running += 1 }
    }

    /// - Throws: `TransactionStoreError` for a line that cannot be read.
    mutating func add(_ record: QuarantinedRecord) throws {
        let line = try record.object()
        let reason = line["reason"]?.string ?? "unknown"
        var count = quarantine[reason] ?? StoreReport.Quarantine(reason: reason)
        count.rows += 1
        if line["source"]?["path"]?.string == MemberPath.embedded { count.embeddedReceipts += 1 }
        if count.examples.count < StoreReport.maximumExamples {
            count.examples.append(
                StoreReport.Example(
                    sha256: line["source"]?["sha256"]?.string ?? "", message: line["message"]?.string ?? ""))
        }
        quarantine[reason] = count
    }

    /// Adds the counts of a migration, or of `enrich`. Leaves out counts of another version that this one cannot read.
    mutating func add(_ checkpoint: MigrationCheckpoint, to report: inout StoreReport) {
        if checkpoint.migration == EnrichmentRuns.name {
            guard let runs = EnrichmentRuns(state: checkpoint.state) else { return }
            (report.enrichmentRuns, report.enrichment) = (runs.count, runs.total)
            return
        }
        guard let progress = MigrationProgress(state: checkpoint.state) else { return }
        let first = progress.start?.migration ?? checkpoint.migration
        let start = progress.start?.number ?? 1
        if let known = sources[first], known.start > start { return }
        sources[first] = (start, StoreReport.Source(progress))
    }

    func finish(_ report: inout StoreReport) {
        report.sources = sources.sorted { left, right in
            let (first, second) = (left.value.source.inputs.first ?? "", right.value.source.inputs.first ?? "")
            return (first, left.key) < (second, right.key)
        }.map(\.value.source)
        report.uncarriedFields = uncarried.sorted { left, right in
            left.value != right.value ? left.value > right.value : left.key.rawValue < right.key.rawValue
        }.map { field, count in
            StoreReport.UncarriedField(field: "\(field.name)", transactions: count, remedy: field.remedy)
        }
        report.terms = terms.values.sorted { $0.productId < $1.productId }
        report.quarantine = quarantine.values.sorted { $0.reason < $1.reason }
        report.questions = OpenQuestion.Reason.allCases.compactMap { reason in
            questions[reason].map { StoreReport.Question(reason: reason.name, purchases: $0) }
        }
        report.appsToQuery = Array(appsToQuery.sorted().prefix(StoreReport.maximumExamples))
        guard let first = months.keys.min() else { return }
        let last = month(date)
        var active = 0
        for place in first...last {
            let day = CivilDay(monthsSinceYear0: place)
            var month = StoreReport.Month(year: Int(day.year), month: Int(day.month))
            let counts = months[place] ?? (0, 0)
            (month.started, month.ended) = counts
            active += counts.started - counts.ended
            month.active = active
            report.months.append(month)
        }
    }

    /// The month in which a date counts. Dates before the first month that is listed count in it.
    private func month(_ milliseconds: Int64) -> Int64 {
        let last = CivilDay(milliseconds: date).monthsSinceYear0
        let first = last - Int64(StoreReport.maximumMonths) + 1
        return min(max(CivilDay(milliseconds: milliseconds).monthsSinceYear0, first), last)
    }

    private static func year(_ milliseconds: Int64) -> String { String(CivilDay(milliseconds: milliseconds).year) }
}

extension ExportedTransaction {
    /// The modern fields that are in neither the documents nor the catalog of the report.
    fileprivate var uncarriedFields: [TransactionField] {
        stored.uncarriedFields.filter { field in
            switch field {
            case .type: type == nil
            case .subscriptionGroupIdentifier: group == nil
            default: true
            }
        }
    }
}

extension TransactionField {
    fileprivate var remedy: StoreReport.UncarriedField.Remedy {
        switch self {
        case .type, .subscriptionGroupIdentifier: .catalog
        case .appAccountToken: .app
        default: .appStore
        }
    }
}

extension StoreReport.Source {
    fileprivate init(_ progress: MigrationProgress) {
        // Earlier versions stored only where each input ends.
        let inputs = progress.start?.inputs ?? progress.marks.map(\.input)
        self.init(
            inputs: Array(inputs.prefix(StoreReport.maximumExamples)),
            inputCount: progress.start?.inputCount ?? inputs.count, summary: progress.summary)
    }
}
