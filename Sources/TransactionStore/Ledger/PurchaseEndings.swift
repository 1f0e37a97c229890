internal import AppStoreModels
internal import Encodings
public import Purchases

/// Adds the ends that no document states to the ledger: of a subscription, its grace period, its billing retry, or the
/// term of a non-renewing subscription.
///
/// The store keeps for each subscription when to look at it next. Writers set the date (``LedgerEndings``), and a look
/// appends the entries of ``EndedEntries`` and sets the next date, in one database transaction. So each ending has one
/// entry, with any number of programs that look, and whether its document comes before or after the look. Only purchases
/// whose date has come are read.
///
/// Endings before the first look have no entry: what a migration brings is history.
public protocol PurchaseEndings: Sendable {
    /// Looks at the purchases whose date has come, those of the oldest dates first, in one database transaction. Other
    /// writers wait for it, so it must not take long.
    /// - Parameters:
    ///   - date: what ended at this time or before it has ended, in milliseconds since 1970-01-01T00:00:00Z. At the first
    ///     call, the beginning of all entries.
    ///   - limit: how many purchases to look at, see ``LedgerEndings/purchases(_:)``.
    /// - Throws: ``TransactionStoreError``.
    func recordEndings(by date: Int64, limit: Int) async throws -> RecordedEndings

    /// The same for the terms of non-renewing subscriptions. A store has no catalog, so it cannot compute the ends of
    /// terms. It looks at a purchase once after each document that can have moved its term, and then at the end
    /// (``EndedTerms``). The dates of apps without a catalog stay, for a program that has one.
    /// - Parameters:
    ///   - date: as above. The first call with a catalog of an app begins the entries about its terms.
    ///   - limit: how many transactions to look at, see ``LedgerEndings/purchases(_:)``.
    ///   - catalogs: state the lengths of the terms.
    /// - Throws: ``TransactionStoreError``.
    func recordTermEnds(by date: Int64, limit: Int, catalogs: TermCatalogs) async throws -> RecordedEndings
}

extension PurchaseEndings {
    /// Looks at all purchases whose date has come. Others write between two batches. Ends early if the task is cancelled.
    /// - Parameters:
    ///   - date: as in ``recordEndings(by:limit:)``.
    ///   - catalogs: state the lengths of terms. Terms of apps without a catalog get no entries.
    public func recordAllEndings(
        by date: Int64, catalogs: TermCatalogs = TermCatalogs()
    ) async throws -> RecordedEndings {
        var all = RecordedEndings()
        try await recordAll(&all) { try await $0.recordEndings(by: date, limit: LedgerEndings.batch) }
        guard !catalogs.isEmpty else { return all }
        try await recordAll(&all) {
            try await $0.recordTermEnds(by: date, limit: LedgerEndings.batch, catalogs: catalogs)
        }
        return all
    }

    private func recordAll(
        _ all: inout RecordedEndings, _ look: @Sendable (Self) async throws -> RecordedEndings
    ) async throws {
        try await WriteBatches.run {
            guard !Task.isCancelled else { return false }
            let batch = try await look(self)
            all.purchases += batch.purchases
            all.entries += batch.entries
            all.unreadable += batch.unreadable
            return batch.purchases >= LedgerEndings.batch
        }
    }
}

/// The result of looks at purchases.
public struct RecordedEndings: Hashable, Sendable {
    /// How many purchases were looked at.
    public var purchases = 0
    /// How many entries were added.
    public var entries = 0
    /// How many of the purchases have damaged rows. They are looked at again a day later, so that they do not keep the
    /// others from their turn.
    public var unreadable = 0

    /// A result without purchases: all numbers are 0.
    public init() {}
}

/// The dates of the looks. An engine keeps both, and replaces them at each look. The looks at terms have their own, for each
/// app and environment.
public struct LookDates: Hashable, Sendable {
    /// When the looks began: endings up to then have no entry.
    public let beginning: Int64
    /// The date of this look.
    public let date: Int64

    /// The dates that an engine has kept.
    public init(beginning: Int64, date: Int64) {
        self.beginning = beginning
        self.date = date
    }

    /// The dates of the next look. Two programs may have clocks that differ, or wait longer for documents, up to a day.
    /// The later clock must not reverse an end that the other one recorded. So a look goes back only by more than two
    /// days: then a clock was wrong.
    /// - Parameters:
    ///   - last: the dates of the look before; nil for the first one.
    ///   - date: the date that the caller requests.
    public init(after last: LookDates?, asked date: Int64) {
        let isBehind = last.map { $0.date > date && $0.date.subtractingSaturated(date) <= 172_800_000 } ?? false
        self.date = isBehind ? last?.date ?? date : date
        beginning = min(last?.beginning ?? date, self.date)
    }
}

/// When to look at purchases. An engine keeps one date for each purchase, and none for one that time cannot change.
public enum LedgerEndings {
    /// How many purchases one call looks at. The writers of a server wait for that long.
    public static let batch = 100

    /// The number of purchases to look at for `limit`: 1 to 1,000.
    public static func purchases(_ limit: Int) -> Int { max(1, min(limit, 1_000)) }

    /// The date of a purchase that ended by time alone, or has no term: it is looked at again when a document changes it.
    public static let whenChanged = Int64.max

    /// Dates up to this one need not be kept: all ends that follow from them came before the first look. Billing is retried
    /// for 60 days after a period.
    /// - Parameters:
    ///   - beginning: ``LookDates/beginning``; nil if there was no look.
    ///   - now: the clock of the database, in milliseconds since 1970.
    public static func history(before beginning: Int64?, now: Int64) -> Int64 {
        (beginning ?? now).subtractingSaturated(historyMargin)
    }

    /// 90 days.
    package static let historyMargin: Int64 = 7_776_000_000

    /// The dates that a set states, by original transaction id. After an engine has written changed facts of the set, it
    /// keeps ``merged(_:with:)`` for each.
    /// - Parameters:
    ///   - set: the facts of documents.
    ///   - history: ``history(before:now:)``. Earlier dates do not count.
    public static func dates(in set: FactSet, after history: Int64) -> [String: Int64] {
        dates(
            periods: set.transactions.map { ($0.storedOriginalTransactionId, $0.lookDate) },
            retries: set.renewalInfos.map { ($0.payload.originalTransactionId ?? "", $0.lookDate) }, after: history)
    }

    /// The same for the look dates of transactions and of renewal infos, each with its purchase. The periods before the last
    /// one do not count: others follow them, and each receipt lists them again.
    package static func dates<Purchase: Hashable>(
        periods: [(Purchase, Int64?)], retries: [(Purchase, Int64?)], after history: Int64
    ) -> [Purchase: Int64] {
        var dates: [Purchase: Int64] = [:]
        for case (let purchase, let date?) in periods where date > history {
            dates[purchase] = max(dates[purchase] ?? date, date)
        }
        for case (let purchase, let date?) in retries where date > history {
            dates[purchase] = min(dates[purchase] ?? date, date)
        }
        return dates
    }

    /// The date to keep instead of a known one. A purchase that ended by time is looked at at once.
    public static func merged(_ date: Int64, with known: Int64?) -> Int64 {
        guard let known else { return date }
        return known == whenChanged ? 0 : min(known, date)
    }

    /// When to look again at a purchase whose rows cannot be read.
    public static func oneDay(after date: Int64) -> Int64 { date.addingSaturated(.millisecondsPerDay) }
}

/// The entries that are due at a look at one purchase, because time has passed.
///
/// A period, a grace period and the time of billing retry end once, and the notification about an end adds no second
/// entry. A document can show that a period which ended by time continues or is unpaid. Then an entry states it, and
/// the new end gets its own entry.
public struct EndedEntries: Sendable {
    /// In the order in which an engine appends them.
    public let entries: [RenewalEntries.Entry]
    /// The date to keep; nil for none.
    public let nextDate: Int64?

    /// - Parameters:
    ///   - originalTransactionId: the id that the purchase is stored under.
    ///   - purchase: a customer with the transactions and the signed renewal info of this purchase, and with the
    ///     transactions of connected purchases (``DueEntry``).
    ///   - dates: the dates of the look.
    ///   - history: as in ``RenewalEntries``.
    public init(
        of originalTransactionId: String, in purchase: Customer, at dates: LookDates,
        history: [String: [LedgerEntry.Event]]
    ) {
        let purchase = purchase.only(originalTransactionId)
        var ledger = PeriodEvents(purchase, history)
        var isEndedByTime = false
        // A look is behind the documents. If another period is known to have begun since, its entry has come already, and one
        // that ends access must not come after it.
        let date = max(dates.date, RenewalState.newestStart(in: purchase) ?? dates.date)
        if let state = RenewalState(of: originalTransactionId, in: purchase, at: date) {
            let id = state.transactionId
            let ended = ledger.endedByTime(in: id)
            let known = RenewalState.Known(
                status: ledger.status(of: [id]), previousStatus: ledger.status(of: state.previousTransactionIds),
                priceIncrease: nil, isEndedByTime: ended != nil)
            let changes = ledger.isGranted(id) ? state.changes(since: known) : []
            if let ended {
                for change in changes { ledger.append(LedgerEntry.Event(change), of: ended) }
            } else if !changes.isEmpty,
                !state.equals(RenewalState(of: originalTransactionId, in: purchase, at: dates.beginning))
            {
                for change in changes { ledger.add(LedgerEntry.Event(change), of: id) }
            }
            isEndedByTime = ledger.endedByTime(in: id) != nil
        }
        entries = ledger.entries
        nextDate =
            RenewalState.nextEnd(of: originalTransactionId, in: purchase, after: dates.date)
            ?? (isEndedByTime ? LedgerEndings.whenChanged : nil)
    }
}
