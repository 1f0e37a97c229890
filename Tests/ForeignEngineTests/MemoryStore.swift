import Foundation
import Purchases
import TransactionStore

/// What the stores of one place have in common, as the stores of one file have the file.
///
/// Everything is in dictionaries. Each call runs alone, so an `apply` is whole or not at all, and a reader sees one moment.
actor MemoryPlace {
    private struct TransactionKey: Hashable {
        let scope: StoreScope
        let id: String
    }

    private struct Filing: Hashable {
        let scope: StoreScope
        let original: String
    }

    private struct Key<Owner: Hashable>: Hashable {
        let owner: Owner
        let kind: Int64
    }

    private struct PlacedIdentity: Hashable {
        let scope: StoreScope
        let identity: CustomerIdentity

        init(scope: StoreScope, identity: CustomerIdentity) {
            self.scope = scope
            self.identity = identity
        }

        init(unknown id: String, _ scope: StoreScope) {
            self.init(scope: scope, identity: CustomerIdentity(.originalTransactionId, id))
        }
    }

    private struct Entry {
        let event: LedgerEntry.Event
        var filing: Filing
        let id: String
        var seatClaimId: String?
        var earlierPurchasesBefore: [String]?
        let date = MemoryPlace.now
        /// Keeps its position, and no reader gets it.
        var isErased = false
    }

    private static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }

    private var customers: [PlacedIdentity: Int] = [:]
    private var identities: [Int: [PlacedIdentity]] = [:]
    private var nextCustomer = 1
    /// How many customers were merged into others.
    private var merges = 0
    private var transactions: [Filing: [String: [Int64: FactRow]]] = [:]
    /// The original ids under which each transaction is or was stored.
    private var filings: [TransactionKey: Set<Filing>] = [:]
    private var renewalInfos: [Filing: [Int64: FactRow]] = [:]
    private var appTransactions: [Int: [Int64: FactRow]] = [:]
    private var receipts: [Int: [KnownReceipt.Form: KnownReceipt]] = [:]
    private var notifications: [[UInt8]: (scope: StoreScope, date: Int64, body: [UInt8])] = [:]
    private var ledger: [Entry] = []
    private var histories: [TransactionKey: LedgerHistory] = [:]
    /// What a term of a non-renewing subscription rests on, and when to look at it.
    private struct Term {
        let basis: Int64
        var lookDate: Int64 = 0
    }

    /// The terms by customer; nil for a customer who never had one.
    private var terms: [Int: [String: Term]] = [:]
    private var lastTermLooks: [StoreScope: LookDates] = [:]
    private var unclaimedSeats: Set<[String]> = []
    private var lookDates: [Filing: Int64] = [:]
    private var lastLook: LookDates?
    private var acknowledged: [String: Int64] = [:]
    /// Entries up to this position are kept, and read by no one.
    private var removed: Int64 = 0
    private var leases: [String: (holder: String, end: ContinuousClock.Instant)] = [:]
    /// By purchase, and then by the key of the claim.
    private var users: [PlacedIdentity: [[UInt8]: UserClaim]] = [:]
    private var verified: [[UInt8]: VerifiedReceipt] = [:]
    private var quarantined: [[UInt8]: QuarantinedRecord] = [:]
    private var checkpoints: [String: MigrationCheckpoint] = [:]
    private var budgets: [[String]: RequestBucket] = [:]
    /// The date of the newest answer.
    private var unknown: [PlacedIdentity: Int64] = [:]
    private var leftHashes: Set<LeftHash> = []
    private var consumptionTasks: [(task: ConsumptionTask, outcome: ConsumptionTask.Outcome?, mark: Int64?)] = []

    // MARK: Writing

    func apply(_ sets: [FactSet]) throws -> AppliedFacts { try apply(MigrationStep(facts: sets)) }

    func apply(_ given: MigrationStep) throws -> AppliedFacts {
        try MigrationLimits.check(given)
        for hash in given.leftHashes where leftHashes.insert(hash).inserted { remove(hash) }
        let secrets = Set(leftHashes.map(\.secret))
        let erased = ErasedIdentities(in: given, secrets: Array(secrets)) { leftHashes.intersection($0) }
        var result = AppliedFacts()
        let step = erased.remaining(of: given, &result)
        for set in step.facts { try apply(set, &result) }
        for user in step.users {
            users[PlacedIdentity(scope: user.scope, identity: user.identity), default: [:]][user.key] = user
        }
        for receipt in step.receipts where verified[receipt.key] == nil { verified[receipt.key] = receipt }
        for key in step.released { quarantined[key] = nil }
        for record in step.quarantined { quarantined[record.key] = record }
        if let checkpoint = step.checkpoint, checkpoint.records > checkpoints[checkpoint.migration]?.records ?? -1 {
            checkpoints[checkpoint.migration] = checkpoint
        }
        return result
    }

    private func apply(_ set: FactSet, _ result: inout AppliedFacts) throws {
        if let notification = set.notification {
            let id = Array(notification.notificationUUID.utf8)
            guard notifications[id] == nil else {
                result.repeatedNotifications += 1
                return
            }
            notifications[id] = (set.scope, notification.signedDate, notification.body)
        }
        guard !set.identities.isEmpty else { return }
        let placed = set.identities.map { PlacedIdentity(scope: set.scope, identity: $0) }
        let mergesBefore = merges
        var customer = customer(of: placed)
        var originals: [String] = []
        for fact in set.transactions {
            let (original, id) = (fact.storedOriginalTransactionId, fact.payload.transactionId ?? "")
            let filing = Filing(scope: set.scope, original: original)
            guard result.count(FactRow(fact), &transactions[filing, default: [:]][id, default: [:]]) else { continue }
            filings[TransactionKey(scope: set.scope, id: id), default: []].insert(filing)
            if !originals.contains(original) { originals.append(original) }
        }
        for original in originals { joinCustomers(of: Filing(scope: set.scope, original: original)) }
        customer = self.customer(of: placed)
        if merges > mergesBefore { result.mergesCustomers = true }
        for original in originals { try record(Filing(scope: set.scope, original: original)) }
        let hasTerms = set.transactions.contains(where: \.mayMoveTerms)
        if hasTerms || terms[customer] != nil { try recordTerms(of: customer, set.scope) }
        try recordSeats(set)
        if let task = ConsumptionTask(of: set) { consumptionTasks.append((task, nil, nil)) }
        var renewed = Set(originals)
        for fact in set.renewalInfos {
            let original = fact.payload.originalTransactionId ?? ""
            let filing = Filing(scope: set.scope, original: original)
            if result.count(FactRow(fact), &renewalInfos[filing, default: [:]]) { renewed.insert(original) }
        }
        let event = NotifiedEvent(of: set)
        if let event { renewed.insert(event.originalTransactionId) }
        for original in renewed.sorted() {
            try recordRenewal(
                Filing(scope: set.scope, original: original),
                event?.originalTransactionId == original ? event : nil)
        }
        let history = LedgerEndings.history(before: lastLook?.beginning, now: Self.now)
        for (original, date) in LedgerEndings.dates(in: set, after: history) where renewed.contains(original) {
            let filing = Filing(scope: set.scope, original: original)
            lookDates[filing] = LedgerEndings.merged(date, with: lookDates[filing])
        }
        if let fact = set.appTransaction {
            _ = result.count(FactRow(fact), &appTransactions[customer, default: [:]])
        }
        if let receipt = set.receipt {
            if keep(receipt, of: customer) { result.changed += 1 } else { result.unchanged += 1 }
        }
    }

    private func keep(_ receipt: KnownReceipt, of customer: Int) -> Bool {
        if let known = receipts[customer]?[receipt.form], !receipt.isNewer(than: known) { return false }
        receipts[customer, default: [:]][receipt.form] = receipt
        return true
    }

    /// The one customer with all of the identities. Several become one: all move to the one with the most identities.
    private func customer(of asked: [PlacedIdentity]) -> Int {
        var found: Set<Int> = []
        for identity in asked { if let customer = customers[identity] { found.insert(customer) } }
        let customer = found.max { (identities[$0]?.count ?? 0, $0) < (identities[$1]?.count ?? 0, $1) } ?? nextCustomer
        if customer == nextCustomer { nextCustomer += 1 }
        for other in found where other != customer { move(other, to: customer) }
        for identity in asked where customers[identity] == nil {
            customers[identity] = customer
            identities[customer, default: []].append(identity)
        }
        return customer
    }

    /// Merges the customers of the original transaction ids under which signed documents state a transaction of this one.
    private func joinCustomers(of given: Filing) {
        for (id, rows) in transactions[given] ?? [:] where Self.isSigned(rows) {
            let others = (filings[TransactionKey(scope: given.scope, id: id)] ?? []).filter {
                Self.isSigned(transactions[$0]?[id] ?? [:])
            }
            guard others.count > 1 else { continue }
            _ = customer(
                of: others.map {
                    PlacedIdentity(
                        scope: $0.scope, identity: CustomerIdentity(.originalTransactionId, $0.original))
                })
        }
    }

    private static func isSigned(_ rows: [Int64: FactRow]) -> Bool {
        rows.keys.contains { FactKind(rawValue: Int($0))?.isSigned == true }
    }

    private func move(_ other: Int, to customer: Int) {
        merges += 1
        if let moved = terms.removeValue(forKey: other) { terms[customer, default: [:]].merge(moved) { $1 } }
        for identity in identities.removeValue(forKey: other) ?? [] {
            customers[identity] = customer
            identities[customer, default: []].append(identity)
        }
        var ignored = AppliedFacts()
        for row in (appTransactions.removeValue(forKey: other) ?? [:]).values {
            _ = ignored.count(row, &appTransactions[customer, default: [:]])
        }
        for receipt in (receipts.removeValue(forKey: other) ?? [:]).values { _ = keep(receipt, of: customer) }
    }

    /// Appends what is due for the transactions under one original transaction id, and under those connected with it.
    private func record(_ given: Filing) throws {
        // The oldest first.
        for transaction in try resolved(given).reversed() {
            guard let id = transaction.payload.transactionId else { continue }
            let filing = Filing(scope: given.scope, original: transaction.storedOriginalTransactionId)
            let key = TransactionKey(scope: filing.scope, id: id)
            let history = histories[key]
            guard let due = DueEntry(after: history, for: transaction) else { continue }
            ledger.append(Entry(event: due.event, filing: filing, id: id))
            histories[key] = try LedgerHistory(
                number: due.number, event: due.event.rawValue,
                wasPurchased: history?.wasPurchased == true || due.event == .purchased)
        }
    }

    /// Appends an entry for each term that can have moved.
    private func recordTerms(of customer: Int, _ scope: StoreScope) throws {
        let transactions = try self.customer([customer], scope)?.transactions ?? []
        let known = terms[customer] ?? [:]
        let changes = TermChanges(of: transactions, known: known.mapValues(\.basis))
        var new: [String: Term] = [:]
        for (id, basis) in changes.bases {
            new[id] = known[id].flatMap { $0.basis == basis ? $0 : nil } ?? Term(basis: basis)
        }
        terms[customer] = new
        for id in changes.moved {
            guard let transaction = transactions.first(where: { $0.payload.transactionId == id }) else { continue }
            let filing = Filing(scope: scope, original: transaction.payload.originalTransactionId ?? id)
            let earlier = changes.earlierPurchases[id].flatMap(EarlierPurchases.decode)
            try append(Entry(event: .termMoved, filing: filing, id: id, earlierPurchasesBefore: earlier))
        }
    }

    private func recordSeats(_ set: FactSet) throws {
        guard let fact = set.transactions.first else { return }
        let filing = Filing(scope: set.scope, original: fact.storedOriginalTransactionId)
        for claim in set.unclaimedSeatIds
        where unclaimedSeats.insert([set.scope.bundleId, set.scope.environment.rawValue, claim]).inserted {
            try append(
                Entry(
                    event: .seatUnclaimed, filing: filing, id: fact.payload.transactionId ?? "", seatClaimId: claim))
        }
    }

    /// Appends what the notification of a set announces about a purchase, and what its renewal information shows.
    private func recordRenewal(_ filing: Filing, _ event: NotifiedEvent?) throws {
        let isRenewed = renewalInfos[filing]?[Int64(FactKind.signedTransaction.rawValue)] != nil
        guard isRenewed || event != nil else { return }
        let due = RenewalEntries(
            of: filing.original, in: try isRenewed ? purchase(filing) : nil, notified: event.map { [$0] } ?? [],
            history: events(filing))
        for entry in due.entries {
            try append(Entry(event: entry.event, filing: filing, id: entry.transactionId))
        }
    }

    func recordEndings(by date: Int64, limit: Int) throws -> RecordedEndings {
        let dates = LookDates(after: lastLook, asked: date)
        lastLook = dates
        let due = lookDates.filter { $0.value <= dates.date }.sorted { $0.value < $1.value }
        var result = RecordedEndings()
        for filing in due.prefix(LedgerEndings.purchases(limit)).map(\.key) {
            result.purchases += 1
            guard let purchase = try purchase(filing) else { continue }
            let ended = EndedEntries(of: filing.original, in: purchase, at: dates, history: events(filing))
            for entry in ended.entries {
                try append(Entry(event: entry.event, filing: filing, id: entry.transactionId))
            }
            result.entries += ended.entries.count
            lookDates[filing] = ended.nextDate
        }
        return result
    }

    func recordTermEnds(by date: Int64, limit: Int, catalogs: TermCatalogs) throws -> RecordedEndings {
        var result = RecordedEndings()
        for scope in scopes() where catalogs.contains(scope) {
            let dates = LookDates(after: lastTermLooks[scope], asked: date)
            lastTermLooks[scope] = dates
            for (number, known) in terms.sorted(by: { $0.key < $1.key })
            where identities[number]?.first?.scope == scope {
                let due = known.filter { $0.value.lookDate <= dates.date }.keys.sorted()
                let ids = Array(due.prefix(LedgerEndings.purchases(limit) - result.purchases))
                guard !ids.isEmpty, let customer = try customer([number], scope) else { continue }
                result.purchases += ids.count
                try recordEnds(of: ids, number, customer, catalogs, at: dates, &result)
            }
        }
        return result
    }

    private func recordEnds(
        of ids: [String], _ number: Int, _ customer: Customer, _ catalogs: TermCatalogs, at dates: LookDates,
        _ result: inout RecordedEndings
    ) throws {
        var filings: [String: Filing] = [:]
        for transaction in customer.transactions {
            guard let id = transaction.payload.transactionId else { continue }
            filings[id] = Filing(scope: customer.scope, original: transaction.payload.originalTransactionId ?? id)
        }
        var known: [String: [LedgerEntry.Event]] = [:]
        for filing in Set(ids.compactMap { filings[$0] }) { known.merge(events(filing)) { first, _ in first } }
        let ended = EndedTerms(of: ids, in: customer, catalogs: catalogs, at: dates, history: known)
        for entry in ended.entries {
            guard let filing = filings[entry.transactionId] else { continue }
            try append(Entry(event: entry.event, filing: filing, id: entry.transactionId))
        }
        result.entries += ended.entries.count
        for (id, date) in ended.nextDates { terms[number]?[id]?.lookDate = date }
    }

    /// The transactions and the signed renewal information under one original transaction id, and the transactions under those
    /// connected with it.
    private func purchase(_ filing: Filing) throws -> Customer? {
        var assembler = CustomerAssembler(scope: filing.scope)
        let identity = CustomerIdentity(.originalTransactionId, filing.original)
        try assembler.addIdentity(kind: Int64(identity.kind.rawValue), value: identity.value)
        if let row = renewalInfos[filing]?[Int64(FactKind.signedTransaction.rawValue)] {
            try assembler.addRenewalInfo(row)
        }
        for each in connected(filing) { try add(each, to: &assembler) }
        return assembler.customer()
    }

    /// The original transaction ids that are resolved together with this one, which is among them: documents state a transaction
    /// under two of them, and a signed one does so under at least one of the two.
    private func connected(_ filing: Filing) -> Set<Filing> {
        var found: Set<Filing> = [filing]
        var open = [filing]
        while let next = open.popLast() {
            for (id, rows) in transactions[next] ?? [:] {
                for other in filings[TransactionKey(scope: next.scope, id: id)] ?? [] where !found.contains(other) {
                    guard let others = transactions[other]?[id], Self.isSigned(rows) || Self.isSigned(others) else {
                        continue
                    }
                    found.insert(other)
                    open.append(other)
                }
            }
        }
        return found
    }

    /// The events in the ledger by transaction id.
    private func events(_ filing: Filing) -> [String: [LedgerEntry.Event]] {
        var events: [String: [LedgerEntry.Event]] = [:]
        let ids = transactions[filing] ?? [:]
        for entry in ledger where entry.filing.scope == filing.scope && ids[entry.id] != nil && !entry.isErased {
            events[entry.id, default: []].append(entry.event)
        }
        return events
    }

    /// Appends an entry that leaves the state of the transaction as it is.
    private func append(_ entry: Entry) throws {
        let key = TransactionKey(scope: entry.filing.scope, id: entry.id)
        guard let history = histories[key] else { return }
        ledger.append(entry)
        histories[key] = try LedgerHistory(
            number: history.number + 1, event: history.event.rawValue, wasPurchased: history.wasPurchased)
    }

    // MARK: Erasure

    func erase(
        _ asked: [CustomerIdentity], in scope: StoreScope, quarantined keys: [[UInt8]], leavingHashes: Bool
    ) -> ErasedRows {
        let found = Set(asked.compactMap { customers[PlacedIdentity(scope: scope, identity: $0)] })
        let all = Set(asked.filter(\.isMeaningful)).union(found.flatMap { identities[$0] ?? [] }.map(\.identity))
        var erased = delete(all, found, in: scope)
        for key in keys where quarantined.removeValue(forKey: key) != nil { erased.quarantined += 1 }
        if leavingHashes {
            let secret = leftHashes.first?.secret ?? LeftHash.makeSecret()
            for hash in LeftHash.hashes(of: all, in: scope, secret: secret)
            where leftHashes.insert(hash).inserted { erased.leftHashes += 1 }
        }
        return erased
    }

    func rowsToErase(
        _ asked: [CustomerIdentity], in scope: StoreScope, quarantined keys: [[UInt8]], leavingHashes: Bool
    ) -> ErasedRows {
        let purchases = (transactions, renewalInfos, users, unknown, consumptionTasks)
        let owners = (customers, identities, appTransactions, receipts, terms)
        let entries = (ledger, histories, unclaimedSeats, lookDates)
        let documents = (notifications, verified, quarantined, leftHashes)
        defer {
            (transactions, renewalInfos, users, unknown, consumptionTasks) = purchases
            (customers, identities, appTransactions, receipts, terms) = owners
            (ledger, histories, unclaimedSeats, lookDates) = entries
            (notifications, verified, quarantined, leftHashes) = documents
        }
        return erase(asked, in: scope, quarantined: keys, leavingHashes: leavingHashes)
    }

    func removeLeftHashes(of identities: [CustomerIdentity], in scope: StoreScope) -> Int64 {
        let count = leftHashes.count
        for secret in Set(leftHashes.map(\.secret)) {
            leftHashes.subtract(LeftHash.hashes(of: identities, in: scope, secret: secret))
        }
        return Int64(count - leftHashes.count)
    }

    /// Removes what is about the identity of a hash that another store left.
    private func remove(_ hash: LeftHash) {
        let named = customers.keys.first {
            $0.scope == hash.scope && LeftHash(of: $0.identity, in: hash.scope, secret: hash.secret) == hash
        }
        guard let named, named.identity.kind.leavesHash, let customer = customers[named] else { return }
        let all = Set((identities[customer] ?? []).map(\.identity))
        let others = all.filter { $0.kind == .originalTransactionId && $0 != named.identity }
        guard !others.isEmpty else {
            _ = delete(all, [customer], in: hash.scope)
            return
        }
        if named.identity.kind == .appTransactionId {
            let mentioned = MentionedIdentities([named.identity])
            appTransactions[customer] = appTransactions[customer]?.filter { !mentioned.areNamed(in: $0.value.payload) }
        }
        if named.identity.kind == .originalTransactionId {
            receipts[customer] = nil
            let filing = Filing(scope: hash.scope, original: named.identity.value)
            for id in (transactions[filing] ?? [:]).keys
            where heir(of: id, in: hash.scope, erasing: [named.identity]) == nil { terms[customer]?[id] = nil }
            // Without the erased purchase, the terms after it end earlier.
            for id in (terms[customer] ?? [:]).keys { terms[customer]?[id]?.lookDate = 0 }
            customers[named] = nil
            identities[customer]?.removeAll { $0 == named }
            // The entries of the other purchases can name this one.
            let kept = Set(others.map(\.value))
            for place in ledger.indices where ledger[place].filing.scope == hash.scope {
                if kept.contains(ledger[place].filing.original) { ledger[place].earlierPurchasesBefore = nil }
            }
        }
        _ = delete([named.identity], [], in: hash.scope)
    }

    /// Removes purchases, what names one of the identities, and customers.
    private func delete(_ all: Set<CustomerIdentity>, _ found: Set<Int>, in scope: StoreScope) -> ErasedRows {
        var erased = ErasedRows()
        let owned = found.flatMap { identities[$0] ?? [] }
        for identity in all where identity.kind == .originalTransactionId {
            let filing = Filing(scope: scope, original: identity.value)
            let tasks = consumptionTasks.count
            consumptionTasks.removeAll {
                $0.task.scope == scope && $0.task.originalTransactionId == identity.value
            }
            erased.consumptionTasks += Int64(tasks - consumptionTasks.count)
            let known = transactions.removeValue(forKey: filing) ?? [:]
            for id in Set(known.keys).union([identity.value]) {
                if unknown.removeValue(forKey: PlacedIdentity(unknown: id, scope)) != nil {
                    erased.unknownTransactions += 1
                }
            }
            erased.transactions += Int64(known.values.reduce(0) { $0 + $1.count })
            erased.renewalInfos += Int64(renewalInfos.removeValue(forKey: filing)?.count ?? 0)
            lookDates[filing] = nil
            for id in known.keys {
                guard let other = heir(of: id, in: scope, erasing: all) else {
                    histories[TransactionKey(scope: scope, id: id)] = nil
                    continue
                }
                for place in ledger.indices where ledger[place].filing == filing && ledger[place].id == id {
                    ledger[place].filing = other
                    ledger[place].earlierPurchasesBefore = nil
                }
            }
            for place in ledger.indices where ledger[place].filing == filing && !ledger[place].isErased {
                ledger[place].isErased = true
                erased.ledgerEntries += 1
                if let claim = ledger[place].seatClaimId {
                    unclaimedSeats.remove([scope.bundleId, scope.environment.rawValue, claim])
                }
            }
        }
        for customer in found {
            erased.appTransactions += Int64(appTransactions.removeValue(forKey: customer)?.count ?? 0)
            erased.receipts += Int64(receipts.removeValue(forKey: customer)?.count ?? 0)
            erased.identities += Int64(identities.removeValue(forKey: customer)?.count ?? 0)
            terms[customer] = nil
        }
        for identity in owned { customers[identity] = nil }
        for identity in all {
            let claims = users.removeValue(forKey: PlacedIdentity(scope: scope, identity: identity))
            erased.userClaims += Int64(claims?.count ?? 0)
        }
        for (key, receipt) in verified where receipt.scope == scope && !all.isDisjoint(with: receipt.identities) {
            verified[key] = nil
            erased.verifiedReceipts += 1
        }
        let mentioned = MentionedIdentities(all)
        for (id, known) in notifications where known.scope == scope && mentioned.areNamed(in: known.body) {
            notifications[id] = nil
            erased.notifications += 1
        }
        return erased
    }

    /// A purchase that is not erased and under which a signed document states a transaction. The entries then belong to it.
    private func heir(of id: String, in scope: StoreScope, erasing all: Set<CustomerIdentity>) -> Filing? {
        filings[TransactionKey(scope: scope, id: id)]?.first { filing in
            guard !all.contains(CustomerIdentity(.originalTransactionId, filing.original)) else { return false }
            return Self.isSigned(transactions[filing]?[id] ?? [:])
        }
    }

    func removeNotifications(signedBefore date: Int64) -> Int64 {
        let count = notifications.count
        notifications = notifications.filter { $0.value.date >= date }
        return Int64(count - notifications.count)
    }

    func removeReceipts(signedBefore date: Int64) -> Int64 {
        let count = receipts.values.reduce(0) { $0 + $1.count }
        receipts = receipts.mapValues { $0.filter { $0.value.signedDate >= date } }
        return Int64(count - receipts.values.reduce(0) { $0 + $1.count })
    }

    func newestSignedDate() -> Int64? {
        let signed = notifications.values.map { $0.date }
        return (signed + receipts.values.flatMap { $0.values.map(\.signedDate) }).max()
    }

    // MARK: Reading

    func customer(_ asked: [CustomerIdentity], in scope: StoreScope) throws -> Customer? {
        let found = Set(asked.compactMap { customers[PlacedIdentity(scope: scope, identity: $0)] })
        return try customer(found, scope)
    }

    private func customer(_ numbers: Set<Int>, _ scope: StoreScope) throws -> Customer? {
        var assembler = CustomerAssembler(scope: scope)
        for number in numbers {
            for placed in identities[number] ?? [] {
                let identity = placed.identity
                try assembler.addIdentity(kind: Int64(identity.kind.rawValue), value: identity.value)
                guard identity.kind == .originalTransactionId else { continue }
                let filing = Filing(scope: scope, original: identity.value)
                try add(filing, to: &assembler)
                for row in (renewalInfos[filing] ?? [:]).values { try assembler.addRenewalInfo(row) }
            }
            for row in (appTransactions[number] ?? [:]).values { try assembler.addAppTransaction(row) }
            for receipt in (receipts[number] ?? [:]).values {
                try assembler.addReceipt(
                    form: Int64(receipt.form.rawValue), signedDate: receipt.signedDate, bytes: receipt.bytes)
            }
        }
        return assembler.customer()
    }

    private func add(_ filing: Filing, to assembler: inout CustomerAssembler) throws {
        for rows in (transactions[filing] ?? [:]).values {
            for row in rows.values { try assembler.addTransaction(row) }
        }
    }

    private func resolved(_ filing: Filing) throws -> [StoredTransaction] {
        var assembler = CustomerAssembler(scope: filing.scope)
        for each in connected(filing) { try add(each, to: &assembler) }
        return assembler.joinedTransactions()
    }

    func hasProcessed(notificationUUID: String) -> Bool { notifications[Array(notificationUUID.utf8)] != nil }

    func counts() -> StoreCounts {
        StoreCounts(
            transactions: Int64(transactions.values.reduce(0) { $0 + $1.count }),
            renewalInfos: Int64(renewalInfos.count),
            appTransactions: Int64(appTransactions.count), customers: Int64(identities.count),
            receipts: Int64(receipts.values.reduce(0) { $0 + $1.count }), notifications: Int64(notifications.count),
            leftHashes: Int64(leftHashes.count))
    }

    func scopes() -> [StoreScope] {
        func isBefore(_ left: String, _ right: String) -> Bool { left.utf8.lexicographicallyPrecedes(right.utf8) }
        return Set(customers.keys.map(\.scope)).union(leftHashes.map(\.scope)).sorted { left, right in
            left.environment == right.environment
                ? isBefore(left.bundleId, right.bundleId)
                : isBefore(left.environment.rawValue, right.environment.rawValue)
        }
    }

    func customers(in scope: StoreScope, after last: CustomerIdentity?, limit: Int) throws -> [Customer] {
        var firsts: [(identity: CustomerIdentity, number: Int)] = []
        for (number, placed) in identities where placed.first?.scope == scope {
            guard let first = placed.lazy.map(\.identity).min() else { continue }
            if let last, !(last < first) { continue }
            firsts.append((first, number))
        }
        var page = CustomerPage(limit: limit)
        for first in firsts.sorted(by: { $0.identity < $1.identity }) where !page.isFull {
            if let customer = try customer([first.number], scope) { page.add(customer) }
        }
        return page.customers
    }

    func identities(of reference: CustomerReference, limit: Int) throws -> [ScopedIdentity] {
        var found: Set<ScopedIdentity> = []
        switch reference {
        case .userId(let id):
            for (placed, claims) in users where claims.values.contains(where: { $0.userId.utf8.elementsEqual(id.utf8) })
            {
                found.insert(ScopedIdentity(scope: placed.scope, identity: placed.identity))
            }
        case .transactionId, .webOrderLineItemId:
            for (filing, rows) in transactions
            where try rows.values.flatMap(\.values).contains(where: { try $0.has(reference, filing.scope) }) {
                let identity = CustomerIdentity(.originalTransactionId, filing.original)
                found.insert(ScopedIdentity(scope: filing.scope, identity: identity))
            }
        }
        return Array(found.sorted().prefix(CustomerReference.identities(limit)))
    }

    // MARK: Migrations

    func checkpoint(of migration: String) -> MigrationCheckpoint? { checkpoints[migration] }

    func checkpoints(after migration: String?, limit: Int) -> [MigrationCheckpoint] {
        let later = checkpoints.values.filter { $0.migration > migration ?? "" }
        return Array(later.sorted { $0.migration < $1.migration }.prefix(MigrationLimits.records(limit)))
    }

    func verifiedReceipts(_ keys: [[UInt8]]) -> [VerifiedReceipt] { Set(keys).compactMap { verified[$0] } }

    func users(of identities: [CustomerIdentity], in scope: StoreScope) -> [UserClaim] {
        Set(identities).sorted().flatMap { identity in
            let known = users[PlacedIdentity(scope: scope, identity: identity)] ?? [:]
            return known.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
        }
    }

    func quarantine(after key: [UInt8]?, limit: Int) -> [QuarantinedRecord] {
        var page = QuarantinePage(limit: limit)
        for next in quarantined.keys.sorted(by: { $0.lexicographicallyPrecedes($1) })
        where key?.lexicographicallyPrecedes(next) ?? true {
            guard let record = quarantined[next], page.hasRoom(for: record.line.count) else { break }
            page.add(record)
        }
        return page.records
    }

    // MARK: Ledger

    func changes(after position: Int64, limit: Int) throws -> [LedgerEntry] {
        try LedgerLimits.check(readFrom: position, removed: removed)
        // The position of an entry is its place, from 1.
        let start = Int(max(0, min(position, Int64(ledger.count))))
        var known: [Filing: [StoredTransaction]] = [:]
        let entries = ledger.enumerated().dropFirst(start).lazy.filter { !$0.element.isErased }
        return try entries.prefix(LedgerLimits.entries(limit)).map { place, entry in
            let transactions = try known[entry.filing] ?? resolved(entry.filing)
            known[entry.filing] = transactions
            guard let transaction = transactions.first(where: { $0.payload.transactionId == entry.id }) else {
                throw TransactionStoreError(.corrupt, "The ledger has an entry for a transaction that is missing.")
            }
            let before = ledger[..<place].reduce(nil as LedgerEntry.Event?) { last, other in
                guard other.filing.scope == entry.filing.scope, other.id == entry.id, !other.isErased else {
                    return last
                }
                return other.event.decidingEvent(after: last)
            }
            return LedgerEntry(
                position: Int64(place + 1), event: entry.event, eventBefore: before,
                scope: entry.filing.scope,
                transactionId: entry.id, transaction: transaction, seatClaimId: entry.seatClaimId,
                earlierPurchasesBefore: entry.earlierPurchasesBefore, recordedDate: entry.date)
        }
    }

    func entries(ofPurchases originalTransactionIds: [String], in scope: StoreScope) throws -> [LedgerEntry] {
        let filings = Set(originalTransactionIds.map { Filing(scope: scope, original: $0) })
        let places = ledger.indices.filter {
            Int64($0) >= removed && !ledger[$0].isErased && filings.contains(ledger[$0].filing)
        }
        return try places.flatMap { try changes(after: Int64($0), limit: 1) }
    }

    func acknowledge(_ position: Int64, by consumer: String) throws {
        try LedgerLimits.check(consumer: consumer)
        try LedgerLimits.check(position: position, last: Int64(ledger.count))
        acknowledged[consumer] = max(position, acknowledged[consumer] ?? 0)
    }

    func acknowledgedPosition(of consumer: String) throws -> Int64 {
        try LedgerLimits.check(consumer: consumer)
        return acknowledged[consumer] ?? 0
    }

    func lease(_ consumer: String, to holder: String, for milliseconds: Int64) throws -> ConsumerLease {
        try LedgerLimits.check(consumer: consumer)
        try LedgerLimits.check(holder: holder, milliseconds: milliseconds)
        let now = ContinuousClock.now
        if let known = leases[consumer], known.holder != holder, known.end > now {
            return ConsumerLease(
                isGranted: false, holder: known.holder,
                remainingMilliseconds: Int64((known.end - now) / .milliseconds(1))
            )
        }
        leases[consumer] = (holder, now + .milliseconds(milliseconds))
        acknowledged[consumer, default: 0] += 0
        return ConsumerLease(isGranted: true, holder: holder, remainingMilliseconds: milliseconds)
    }

    func endLease(of consumer: String, by holder: String) throws {
        try LedgerLimits.check(consumer: consumer)
        try LedgerLimits.check(holder: holder)
        if leases[consumer]?.holder == holder { leases[consumer] = nil }
    }

    func consumers() -> [LedgerConsumer] {
        let now = ContinuousClock.now
        return acknowledged.sorted { Array($0.key.utf8).lexicographicallyPrecedes(Array($1.key.utf8)) }.map {
            name, position in
            let lease = leases[name].flatMap { $0.end > now ? $0.holder : nil }
            return LedgerConsumer(name: name, position: position, holder: lease)
        }
    }

    func removeConsumer(_ name: String) throws -> Bool {
        try LedgerLimits.check(consumer: name)
        leases[name] = nil
        return acknowledged.removeValue(forKey: name) != nil
    }

    func removeEntries(before date: Int64, evenUnread: Bool) -> LedgerRemoval {
        let asked = ledger.dropFirst(Int(removed)).firstIndex { $0.date >= date } ?? ledger.count
        let removal = LedgerRemoval(
            asked: Int64(asked), removed: removed, consumers: consumers(), evenUnread: evenUnread)
        removed = removal.position
        return removal
    }

    // MARK: Rate limits

    func takePermits(_ count: Int, of budget: RequestBudget) throws -> RequestPermits {
        try budget.check()
        let key = [budget.scope.environment.rawValue, budget.scope.bundleId, budget.endpoint]
        let now = Int64(Date().timeIntervalSince1970 * 1_000_000)
        return budgets[key, default: RequestBucket(fullAt: 0)].take(count, of: budget, now: now)
    }

    // MARK: Unknown transactions

    func remember(_ transactions: [UnknownTransaction]) {
        let secrets = Set(leftHashes.map(\.secret))
        let erased = ErasedIdentities(in: transactions, secrets: Array(secrets)) { leftHashes.intersection($0) }
        for transaction in erased.remaining(of: transactions) where transaction.isMeaningful {
            let place = PlacedIdentity(unknown: transaction.transactionId, transaction.scope)
            unknown[place] = max(unknown[place] ?? .min, transaction.answeredDate)
        }
    }

    func unknownTransactions(_ ids: [String], in scope: StoreScope) -> [UnknownTransaction] {
        Set(ids).compactMap { id in
            unknown[PlacedIdentity(unknown: id, scope)].map {
                UnknownTransaction(scope: scope, transactionId: id, answeredDate: $0)
            }
        }
    }

    func forgetUnknownTransactions(_ ids: [String], in scope: StoreScope) {
        for id in ids { unknown[PlacedIdentity(unknown: id, scope)] = nil }
    }

    func unknownTransactionCount() -> Int64 { Int64(unknown.count) }

    // MARK: Consumption requests

    func openConsumptionTasks(after last: ConsumptionTask?, limit: Int) -> [ConsumptionTask] {
        func isBefore(_ left: ConsumptionTask, _ right: ConsumptionTask) -> Bool {
            if left.requestedDate != right.requestedDate { return left.requestedDate < right.requestedDate }
            return left.notificationUUID.utf8.lexicographicallyPrecedes(right.notificationUUID.utf8)
        }
        let open = consumptionTasks.filter { $0.outcome == nil }.map(\.task).sorted(by: isBefore)
        let next = open.filter { task in last.map { isBefore($0, task) } ?? true }
        return next.prefix(ConsumptionTask.tasks(limit)).map { task in
            let place = ledger.firstIndex {
                $0.event == .purchased && $0.id == task.transactionId && $0.filing.scope == task.scope
            }
            return ConsumptionTask(
                notificationUUID: task.notificationUUID, scope: task.scope,
                originalTransactionId: task.originalTransactionId, transactionId: task.transactionId,
                reason: task.reason, requestedDate: task.requestedDate,
                purchasedPosition: place.map { Int64($0 + 1) })
        }
    }

    func closeConsumptionTasks(_ uuids: [String], as outcome: ConsumptionTask.Outcome) -> Int {
        let uuids = Set(uuids)
        var closed = 0
        for place in consumptionTasks.indices
        where consumptionTasks[place].outcome == nil && uuids.contains(consumptionTasks[place].task.notificationUUID) {
            consumptionTasks[place].outcome = outcome
            closed += 1
        }
        return closed
    }

    func claimConsumptionTasks(
        _ uuids: [String], for milliseconds: Int64, renewing claim: ConsumptionClaim?
    ) throws -> ConsumptionClaim? {
        try ConsumptionClaim.check(milliseconds: milliseconds)
        let open = consumptionTasks.filter { $0.outcome == nil && uuids.contains($0.task.notificationUUID) }
        let requests = open.map {
            ConsumptionClaim.Request(notificationUUID: $0.task.notificationUUID, mark: $0.mark)
        }
        guard let granted = ConsumptionClaim(requests, at: Self.now, for: milliseconds, renewing: claim) else {
            return nil
        }
        for place in consumptionTasks.indices
        where granted.notificationUUIDs.contains(consumptionTasks[place].task.notificationUUID) {
            consumptionTasks[place].mark = granted.end
        }
        return granted
    }

    func endClaim(_ claim: ConsumptionClaim, maybeAnswered: Bool) {
        for place in consumptionTasks.indices where consumptionTasks[place].mark == claim.end {
            let uuid = consumptionTasks[place].task.notificationUUID
            guard claim.notificationUUIDs.contains(uuid) else { continue }
            let stays = maybeAnswered || claim.maybeAnswered.contains(uuid)
            consumptionTasks[place].mark = stays ? min(claim.end, Self.now) : nil
        }
    }

    func countMissedConsumptionTasks(requestedAfter start: Int64, upTo end: Int64) -> MissedConsumptionTasks {
        var counted = MissedConsumptionTasks()
        for place in consumptionTasks.indices {
            let (task, outcome, mark) = consumptionTasks[place]
            guard outcome == nil, mark != ConsumptionClaim.counted, task.requestedDate > start,
                task.requestedDate <= end, !ConsumptionClaim.isClaimed(mark ?? 0, at: Self.now)
            else { continue }
            if mark == nil { counted.missed += 1 } else { counted.unknown += 1 }
            consumptionTasks[place].mark = ConsumptionClaim.counted
        }
        return counted
    }
}

extension AppliedFacts {
    /// Whether the row stands now.
    fileprivate mutating func count(_ row: FactRow, _ known: inout [Int64: FactRow]) -> Bool {
        if let other = known[row.kind], !row.replaces(other) {
            unchanged += 1
            return false
        }
        known[row.kind] = row
        changed += 1
        return true
    }
}

extension FactRow {
    /// Whether the fact itself states the reference, independent of newer facts.
    fileprivate func has(_ reference: CustomerReference, _ scope: StoreScope) throws -> Bool {
        var assembler = CustomerAssembler(scope: scope)
        try assembler.addTransaction(self)
        guard let payload = assembler.joinedTransactions().first?.payload else { return false }
        switch reference {
        case .transactionId(let id): return payload.transactionId == id
        case .webOrderLineItemId(let id): return payload.webOrderLineItemId == id
        case .userId: return false
        }
    }
}

/// One store of a place.
actor MemoryStore: CompleteTransactionStore {
    private let place: MemoryPlace
    private var isClosed = false

    init(_ place: MemoryPlace) { self.place = place }

    private var opened: MemoryPlace {
        get throws {
            guard !isClosed else { throw TransactionStoreError(.closed, "The store is closed.") }
            return place
        }
    }

    func apply(_ sets: [FactSet]) async throws -> AppliedFacts { try await opened.apply(sets) }

    func customer(_ identities: [CustomerIdentity], in scope: StoreScope) async throws -> Customer? {
        try await opened.customer(identities, in: scope)
    }

    func hasProcessed(notificationUUID: String) async throws -> Bool {
        try await opened.hasProcessed(notificationUUID: notificationUUID)
    }

    func counts() async throws -> StoreCounts { try await opened.counts() }

    func checkReadiness() async throws { _ = try opened }

    func close() async throws { isClosed = true }

    func changes(after position: Int64, limit: Int) async throws -> [LedgerEntry] {
        try await opened.changes(after: position, limit: limit)
    }

    func entries(ofPurchases originalTransactionIds: [String], in scope: StoreScope) async throws -> [LedgerEntry] {
        try await opened.entries(ofPurchases: originalTransactionIds, in: scope)
    }

    func acknowledge(_ position: Int64, by consumer: String) async throws {
        try await opened.acknowledge(position, by: consumer)
    }

    func acknowledgedPosition(of consumer: String) async throws -> Int64 {
        try await opened.acknowledgedPosition(of: consumer)
    }

    func lease(_ consumer: String, to holder: String, for milliseconds: Int64) async throws -> ConsumerLease {
        try await opened.lease(consumer, to: holder, for: milliseconds)
    }

    func endLease(of consumer: String, by holder: String) async throws {
        try await opened.endLease(of: consumer, by: holder)
    }

    func consumers() async throws -> [LedgerConsumer] { try await opened.consumers() }

    func removeConsumer(_ name: String) async throws -> Bool { try await opened.removeConsumer(name) }

    func removeEntries(before date: Int64, evenUnread: Bool) async throws -> LedgerRemoval {
        try await opened.removeEntries(before: date, evenUnread: evenUnread)
    }

    func recordEndings(by date: Int64, limit: Int) async throws -> RecordedEndings {
        try await opened.recordEndings(by: date, limit: limit)
    }

    func recordTermEnds(by date: Int64, limit: Int, catalogs: TermCatalogs) async throws -> RecordedEndings {
        try await opened.recordTermEnds(by: date, limit: limit, catalogs: catalogs)
    }

    func removeNotifications(signedBefore date: Int64) async throws -> Int64 {
        try await opened.removeNotifications(signedBefore: date)
    }

    func removeReceipts(signedBefore date: Int64) async throws -> Int64 {
        try await opened.removeReceipts(signedBefore: date)
    }

    func newestSignedDate(orFrom date: Int64) async throws -> Int64? { try await opened.newestSignedDate() }

    func erase(
        _ identities: [CustomerIdentity], in scope: StoreScope, quarantined: [[UInt8]], leavingHashes: Bool
    ) async throws -> ErasedRows {
        try await opened.erase(identities, in: scope, quarantined: quarantined, leavingHashes: leavingHashes)
    }

    func rowsToErase(
        _ identities: [CustomerIdentity], in scope: StoreScope, quarantined: [[UInt8]], leavingHashes: Bool
    ) async throws -> ErasedRows {
        try await opened.rowsToErase(identities, in: scope, quarantined: quarantined, leavingHashes: leavingHashes)
    }

    func removeLeftHashes(of identities: [CustomerIdentity], in scope: StoreScope) async throws -> Int64 {
        try await opened.removeLeftHashes(of: identities, in: scope)
    }

    func takePermits(_ count: Int, of budget: RequestBudget) async throws -> RequestPermits {
        try await opened.takePermits(count, of: budget)
    }

    func remember(_ transactions: [UnknownTransaction]) async throws { try await opened.remember(transactions) }

    func unknownTransactions(_ ids: [String], in scope: StoreScope) async throws -> [UnknownTransaction] {
        try await opened.unknownTransactions(ids, in: scope)
    }

    func forgetUnknownTransactions(_ ids: [String], in scope: StoreScope) async throws {
        try await opened.forgetUnknownTransactions(ids, in: scope)
    }

    func unknownTransactionCount() async throws -> Int64 { try await opened.unknownTransactionCount() }

    func openConsumptionTasks(after task: ConsumptionTask?, limit: Int) async throws -> [ConsumptionTask] {
        try await opened.openConsumptionTasks(after: task, limit: limit)
    }

    func closeConsumptionTasks(_ uuids: [String], as outcome: ConsumptionTask.Outcome) async throws -> Int {
        try await opened.closeConsumptionTasks(uuids, as: outcome)
    }

    func claimConsumptionTasks(
        _ uuids: [String], for milliseconds: Int64, renewing claim: ConsumptionClaim?
    ) async throws -> ConsumptionClaim? {
        try await opened.claimConsumptionTasks(uuids, for: milliseconds, renewing: claim)
    }

    func endClaim(_ claim: ConsumptionClaim, maybeAnswered: Bool) async throws {
        try await opened.endClaim(claim, maybeAnswered: maybeAnswered)
    }

    func countMissedConsumptionTasks(
        requestedAfter start: Int64, upTo end: Int64
    ) async throws -> MissedConsumptionTasks {
        try await opened.countMissedConsumptionTasks(requestedAfter: start, upTo: end)
    }

    func scopes() async throws -> [StoreScope] { try await opened.scopes() }

    func customers(in scope: StoreScope, after identity: CustomerIdentity?, limit: Int) async throws -> [Customer] {
        try await opened.customers(in: scope, after: identity, limit: limit)
    }

    func identities(of reference: CustomerReference, limit: Int) async throws -> [ScopedIdentity] {
        try await opened.identities(of: reference, limit: limit)
    }

    func apply(_ step: MigrationStep) async throws -> AppliedFacts { try await opened.apply(step) }

    func checkpoint(of migration: String) async throws -> MigrationCheckpoint? {
        try await opened.checkpoint(of: migration)
    }

    func checkpoints(after migration: String?, limit: Int) async throws -> [MigrationCheckpoint] {
        try await opened.checkpoints(after: migration, limit: limit)
    }

    func verifiedReceipts(_ keys: [[UInt8]]) async throws -> [VerifiedReceipt] {
        try await opened.verifiedReceipts(keys)
    }

    func users(of identities: [CustomerIdentity], in scope: StoreScope) async throws -> [UserClaim] {
        try await opened.users(of: identities, in: scope)
    }

    func quarantine(after key: [UInt8]?, limit: Int) async throws -> [QuarantinedRecord] {
        try await opened.quarantine(after: key, limit: limit)
    }
}
