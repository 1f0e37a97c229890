import AppStoreModels
import PostgreSQLTransactionStore
import ProductCatalog
import Purchases
import Synchronization
import TestDatabase
import TestSupport
import Testing
import TransactionStore
import TransactionStoreConformance

@Suite("PostgreSQL ledger", .enabled(if: PostgreSQLServer.shared != nil, PostgreSQLServer.isMissing))
struct PostgreSQLLedgerTests {
    /// The commit of the first writer is held up after it has its position, while a second one writes.
    @Test("A position is not visible before lower positions, even if their commit is slow")
    func slowCommit() async throws {
        try await eventually("the commit is seen to be held up") {
            try await TestSchema.with { schema in try await Self.isHeldUp(schema) }
        }
    }

    /// - Returns: false if the first writer was done before it was looked at, on a busy machine, which says nothing.
    @inline(never)
    private static func isHeldUp(_ schema: TestSchema) async throws -> Bool {
        let slow = try await schema.open()
        let fast = try await schema.open()
        let reader = try await schema.open()
        try schema.server.sql(
            """
            CREATE FUNCTION \(schema.name).hold_up() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF NEW.transaction_id = '1'::bytea THEN PERFORM pg_sleep(5); END IF;
                RETURN NULL;
            END $$;
            CREATE CONSTRAINT TRIGGER hold_up AFTER INSERT ON \(schema.name).ledger
                DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION \(schema.name).hold_up()
            """)
        let isDone = Mutex(false)
        let first = Task {
            defer { isDone.withLock { $0 = true } }
            _ = try await slow.apply([Samples.set(Samples.fact("1"))])
        }
        let sleeping = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND query = 'COMMIT'"
        var isSeen = false
        try await eventually("the transaction sleeps, or is over") {
            isSeen = try schema.server.sql(sleeping) != "0"
            return isSeen || isDone.withLock { $0 }
        }
        let second = Task { _ = try await fast.apply([Samples.set(Samples.fact("2"))]) }
        var seen: [LedgerEntry] = []
        try await eventually("the second is seen") {
            seen += try await reader.changes(after: seen.last?.position ?? 0, limit: 10)
            return seen.last?.transactionId == "2"
        }
        _ = try await (first.value, second.value)
        #expect(LedgerAudit.text(seen) == "1 purchased, 2 purchased")
        for store in [slow, fast, reader] { try await store.close() }
        return isSeen
    }

    @Test("Entries are removed in steps up to the date, which leave those after it")
    func removalInSteps() async throws {
        try await TestSchema.with { schema in
            let store = try await schema.open()
            for id in 1...3 { _ = try await store.apply([Samples.set(Samples.fact("\(id)"))]) }
            for (revision, date) in [(1, Samples.june), (2, nil), (3, Samples.june)] as [(Int64, Int64?)] {
                for id in ["1", "3"] {
                    let fact = Samples.fact(id, source: .notificationV2, at: Samples.june + revision) {
                        $0.revocationDate = date
                    }
                    _ = try await store.apply([Samples.set(fact)])
                }
            }
            // Positions have gaps, here longer ones than a step.
            try schema.server.sql(
                """
                UPDATE \(schema.name).ledger SET position = position * \(LedgerLimits.removedAtOnce * 3 / 2);
                SELECT setval('\(schema.name).ledger_positions', 500000)
                """)
            try await Task.sleep(for: .milliseconds(20))
            _ = try await store.apply([Samples.set(Samples.fact("4"))])
            let last = try #require(try await LedgerAudit.check(store).last)
            #expect(last.transactionId == "4")
            let removal = try await store.removeEntries(before: last.recordedDate, evenUnread: false)
            #expect(removal == LedgerRemoval(position: last.position - 1, behind: []))
            #expect(LedgerAudit.text(try await store.changes(after: removal.position, limit: 10)) == "4 purchased")
            // Of purchased, revoked, reinstated and revoked, the two in the middle are gone.
            #expect(try schema.server.sql("SELECT count(*) FROM \(schema.name).ledger") == "6")
            try await store.close()
        }
    }

    @Test("A lease that lasts longer than any can, since the clock was set back, has expired")
    func clockSetBack() async throws {
        try await TestSchema.with { schema in
            let store = try await schema.open()
            #expect(try await store.lease("shop", to: "a", for: 60_000).isGranted)
            #expect(try await store.lease("shop", to: "b", for: 60_000).isGranted == false)
            let hours = 2 * LedgerLimits.maximumLeaseMilliseconds
            try schema.server.sql("UPDATE \(schema.name).ledger_consumers SET leased_until = leased_until + \(hours)")
            #expect(try await store.consumers() == [LedgerConsumer(name: "shop", position: 0, holder: nil)])
            #expect(try await store.lease("shop", to: "b", for: 60_000).isGranted)
            #expect(try await store.consumers() == [LedgerConsumer(name: "shop", position: 0, holder: "b")])
            try await store.close()
        }
    }

    @Test("A database made by schema 1 is upgraded: its content is in the ledger, once and in its current state")
    func upgrade() async throws {
        try await TestSchema.with { schema in
            let old = try await schema.open()
            let revoked = Samples.fact("2", original: "1", source: .notificationV2) { $0.revocationDate = Samples.june }
            _ = try await old.apply([
                Samples.set(Samples.fact("1"), Samples.fact("2", original: "1"), revoked),
                Samples.set(Samples.fact("3", source: .recordedReply)),
                Samples.set(Samples.fact("4", source: .appStoreServerAPI) { $0.isUpgraded = true }),
                Samples.set(Samples.fact("1"), scope: StoreScope(environment: .sandbox, bundleId: "a")),
            ])
            // More purchases than a page of the upgrade has.
            _ = try await old.apply((1...1_200).map { Samples.set(Samples.fact("\(10_000 + $0)")) })
            try await old.close()
            try schema.downgrade(to: 1)
            let new = try await schema.open()
            let entries = try await LedgerAudit.check(new)
            #expect(entries.count == 1_204)
            let own = entries.filter { $0.scope == Samples.scope && $0.transactionId.count == 1 }
            #expect(LedgerAudit.text(own) == "1 purchased, 2 revoked, 4 upgraded")
            _ = try await new.apply([Samples.set(Samples.fact("1", at: .max), Samples.fact("3"))])
            let rest = try await new.changes(after: entries.last?.position ?? 0, limit: 10)
            #expect(LedgerAudit.text(rest) == "3 purchased")
            try await new.close()
        }
    }

    @Test("A database of schema 2 is upgraded: a refund moves the terms after it, and the upgrade adds no entry")
    func upgradeOfTerms() async throws {
        try await TestSchema.with { schema in
            func season(_ id: Int, day: Int64, refunded: Bool = false) -> TransactionFact {
                Samples.fact("\(id)", source: .notificationV2, at: Samples.june + (refunded ? 1 : 0)) {
                    $0.type = .nonRenewingSubscription
                    $0.purchaseDate = Samples.june + day * Samples.day
                    $0.revocationDate = refunded ? Samples.june + 90 * Samples.day : nil
                }
            }
            let old = try await schema.open()
            // Not in the order of their ids, and on several pages of the upgrade.
            _ = try await old.apply([
                Samples.set(season(10_000, day: 3), season(10_900, day: 2), season(12_000, day: 1))
            ])
            _ = try await old.apply((10_001...10_899).map { Samples.set(Samples.fact("\($0)")) })
            _ = try await old.apply((10_901...11_600).map { Samples.set(Samples.fact("\($0)")) })
            try await old.close()
            try schema.downgrade(to: 2)
            let new = try await schema.open()
            let entries = try await LedgerAudit.check(new)
            #expect(entries.allSatisfy { $0.event == .purchased })
            // Each is looked at once, by a program with a catalog.
            let catalogs = TermCatalogs(other: ProductCatalog())
            #expect(try await new.recordTermEnds(by: Samples.june, limit: 10, catalogs: catalogs).purchases == 3)
            #expect(try await new.recordTermEnds(by: Samples.june, limit: 10, catalogs: catalogs).purchases == 0)
            _ = try await new.apply([Samples.set(season(10_900, day: 2, refunded: true))])
            let rest = try await new.changes(after: entries.last?.position ?? 0, limit: 10)
            #expect(LedgerAudit.text(rest) == "10900 revoked, 10000 termMoved")
            try await new.close()
        }
    }

    @Test("Damaged rows keep only the terms of their customer from entries, and receipts are not read")
    func damagedTerms() async throws {
        try await TestSchema.with { schema in
            let store = try await schema.open()
            try await checkDamagedTerms(store) {
                try schema.server.sql(
                    """
                    UPDATE \(schema.name).transactions SET payload = '{' WHERE transaction_id = '1'::bytea;
                    INSERT INTO \(schema.name).receipts (customer, signed_date, form, octets)
                    SELECT DISTINCT customer, 0, 9, '\\x00'::bytea FROM \(schema.name).identities
                    """)
            }
            try await store.close()
        }
    }
}
