import Purchases
import TransactionStore

extension StoreConformance {
    /// A SHA-256 value for a number; their order is the order of the numbers.
    private static func hash(_ number: Int) -> [UInt8] {
        [UInt8](repeating: 0, count: 24) + withUnsafeBytes(of: UInt64(number).bigEndian, Array.init)
    }

    private static func checkpoint(_ records: Int64, state: String = "", migration: Character = "a")
        -> MigrationCheckpoint
    {
        MigrationCheckpoint(
            migration: String(repeating: migration, count: 64), records: records, digest: hash(Int(records)),
            state: Array(state.utf8))
    }

    private static func user(
        _ id: String, of original: String, carried: String = "", in scope: StoreScope = Samples.scope
    ) -> UserClaim {
        UserClaim(scope: scope, identity: Samples.original(original), userId: id, carried: carried)
    }

    private static func verified(
        _ number: Int, form: KnownReceipt.Form = .app, _ identities: [CustomerIdentity] = []
    ) -> VerifiedReceipt {
        VerifiedReceipt(key: hash(number), scope: Samples.scope, form: form, identities: identities)
    }

    private static func record(_ text: String) -> QuarantinedRecord { QuarantinedRecord(line: Array(text.utf8)) }

    private static func isBefore(_ left: [UInt8], _ right: [UInt8]) -> Bool { left.lexicographicallyPrecedes(right) }

    /// A step with something of each kind. Its parts have names that begin with `name`.
    private static func step(_ name: String, _ number: Int) -> MigrationStep {
        MigrationStep(
            facts: [Samples.set(Samples.fact("\(number)"), receipt: Samples.receipt(name))],
            users: [user(name, of: "\(number)")], receipts: [verified(number, [Samples.original("\(number)")])],
            quarantined: [record(name)], checkpoint: checkpoint(Int64(number), state: name))
    }

    /// Everything that ``step(_:_:)`` leaves in a store.
    private struct Kept: Equatable {
        let counts: StoreCounts
        let users: [UserClaim]
        let receipts: Set<VerifiedReceipt>
        let quarantine: [QuarantinedRecord]
        let checkpoint: MigrationCheckpoint?

        init(_ store: any CompleteTransactionStore) async throws {
            counts = try await store.counts()
            users = try await store.users(of: (1...9).map { Samples.original("\($0)") }, in: Samples.scope)
            receipts = Set(try await store.verifiedReceipts((1...9).map { StoreConformance.hash($0) }))
            quarantine = try await store.quarantine(after: nil, limit: 1_000)
            checkpoint = try await store.checkpoint(of: StoreConformance.checkpoint(0).migration)
        }
    }

    /// All pages of the quarantine.
    private static func pages(_ store: any CompleteTransactionStore, limit: Int) async throws -> [[QuarantinedRecord]] {
        var pages: [[QuarantinedRecord]] = []
        while true {
            let page = try await store.quarantine(after: pages.last?.last?.key, limit: limit)
            if page.isEmpty { return pages }
            pages.append(page)
        }
    }

    static let migration: [StoreRule] = [
        StoreRule(opened: "a store without a migration has no checkpoint, users, verified receipts or quarantine") {
            store in
            let kept = try await Kept(store)
            try expect(kept.checkpoint == nil)
            try expect(kept.users.isEmpty && kept.receipts.isEmpty && kept.quarantine.isEmpty)
            try await expect(store.users(of: [], in: Samples.scope).isEmpty)
            try await expect(store.verifiedReceipts([]).isEmpty)
            try await expect(store.checkpoint(of: "no name of a migration") == nil)
            try await expect(store.checkpoints(after: nil, limit: 10).isEmpty)
            try await expect(store.apply(MigrationStep()), equals: AppliedFacts())
        },
        StoreRule(opened: "a step of a migration is applied completely; applying it again changes nothing") { store in
            let first = try await store.apply(step("one", 1))
            try expect(first.changed, equals: 2)
            let kept = try await Kept(store)
            try await expect(store.customer(original: "1")?.newestAppReceipt?.bytes, equals: Array("one".utf8))
            try expect(kept.users, equals: [user("one", of: "1")])
            try expect(kept.receipts, equals: [verified(1, [Samples.original("1")])])
            try expect(kept.quarantine, equals: [record("one")])
            try expect(kept.checkpoint, equals: checkpoint(1, state: "one"))
            let again = try await store.apply(step("one", 1))
            try expect(again.changed, equals: 0)
            try expect(again.unchanged, equals: 2)
            try await expect(Kept(store), equals: kept)
            try await expect(LedgerAudit.check(store).count, equals: 1)
        },
        StoreRule(opened: "a step that is rejected leaves nothing in the store") { store in
            _ = try await store.apply(step("one", 1))
            let kept = try await Kept(store)
            var wrong: [MigrationStep] = []
            func add(_ change: (inout MigrationStep) -> Void) {
                var step = step("two", 2)
                step.released = [record("one").key]
                change(&step)
                wrong.append(step)
            }
            add { $0.users.append(user("zero", of: "0")) }
            add { $0.users.append(user("too long", of: String(repeating: "1", count: 257))) }
            add { $0.receipts.append(verified(3, [Samples.original("")])) }
            add {
                $0.receipts.append(
                    VerifiedReceipt(key: [1], scope: Samples.scope, form: .app, identities: [Samples.original("2")]))
            }
            let name = checkpoint(2).migration
            for (migration, records, digest): (String, Int64, Int) in [
                ("short", 2, 2), (String(repeating: "g", count: 64), 2, 2), (name, -1, 2), (name, 2, 31),
            ] {
                add {
                    $0.checkpoint = MigrationCheckpoint(
                        migration: migration, records: records, digest: digest == 31 ? [] : hash(2), state: [])
                }
            }
            for step in wrong {
                try await expectError(.invalidArgument, "the step was not rejected") { _ = try await store.apply(step) }
                try await expect(Kept(store), equals: kept)
                try await expect(store.customer(original: "2") == nil)
            }
            _ = try await store.apply(step("two", 2))
            try await expect(Kept(store).quarantine.count, equals: 2)
        },
        StoreRule(opened: "the facts of a step are applied like other facts: in any order, notifications once") {
            store in
            let notification = Samples.notification("uuid")
            try await store.add(Samples.fact("1", product: "new", at: 2))
            let sets = [
                Samples.set(Samples.fact("1", product: "old", at: 1), Samples.fact("2", original: "1")),
                Samples.set(Samples.fact("3"), notification: notification),
                Samples.set(Samples.fact("4"), notification: notification),
                Samples.set(Samples.fact("1"), Samples.fact("3"), scope: Samples.scope),
            ]
            let result = try await store.apply(MigrationStep(facts: sets, users: [user("u", of: "3")]))
            try expect(result.repeatedNotifications, equals: 1)
            let customer = try require(try await store.customer(original: "3"))
            try expect(Set(customer.transactions.compactMap(\.payload.transactionId)), equals: ["1", "2", "3"])
            try await expect(store.customer(original: "4") == nil)
            try await expect(store.users(of: customer.identities, in: Samples.scope).map(\.userId), equals: ["u"])
            try await LedgerAudit.check(store)
        },
        StoreRule(opened: "a step stores thousands of users, verified receipts and facts at once") { store in
            let numbers = Array(1...5_000)
            // Every third purchase has a second user, and some of everything is known before.
            let users = numbers.flatMap { number in
                [user("u\(number)", of: "\(number)")] + (number % 3 == 0 ? [user("v", of: "\(number)")] : [])
            }
            let receipts = numbers.map { verified($0, [Samples.original("\($0)")]) }
            _ = try await store.apply(
                MigrationStep(users: Array(users.prefix(100)), receipts: Array(receipts.suffix(100))))
            let result = try await store.apply(
                MigrationStep(
                    facts: numbers.map { Samples.set(Samples.fact("\($0)")) }, users: users.reversed() + users,
                    receipts: receipts.reversed() + receipts))
            try expect(result.changed, equals: numbers.count)
            let found = try await store.users(of: numbers.map { Samples.original("\($0)") }, in: Samples.scope)
            try expect(found.count, equals: users.count)
            try expect(Set(found) == Set(users))
            try await expect(store.verifiedReceipts(receipts.map(\.key)).count, equals: receipts.count)
        },
        StoreRule(opened: "of the checkpoints of a migration, the one with the most records stays") { store in
            let name = checkpoint(0).migration
            for (records, state, standing): (Int64, String, String) in [
                (0, "first", "first"), (5, "five", "five"), (4, "older", "five"), (5, "same", "five"),
                (.max, "last", "last"), (6, "older", "last"),
            ] {
                let step = MigrationStep(
                    checkpoint: MigrationCheckpoint(
                        migration: name, records: records, digest: hash(7), state: Array(state.utf8)))
                _ = try await store.apply(step)
                let kept = try require(try await store.checkpoint(of: name))
                try expect(String(decoding: kept.state, as: UTF8.self), equals: standing)
                try expect(kept.digest, equals: hash(7))
            }
            try await expect(store.checkpoint(of: name)?.records, equals: .max)
            let other = checkpoint(3, migration: "b")
            _ = try await store.apply(MigrationStep(checkpoint: other))
            try await expect(store.checkpoint(of: other.migration), equals: other)
            try await expect(store.checkpoint(of: checkpoint(0, migration: "c").migration) == nil)
            let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
            let large = MigrationCheckpoint(migration: other.migration, records: 4, digest: hash(4), state: bytes)
            _ = try await store.apply(MigrationStep(checkpoint: large))
            try await expect(store.checkpoint(of: other.migration), equals: large)
        },
        StoreRule(opened: "the checkpoints of all migrations are listed by name, in pages") { store in
            let names: [Character] = ["b", "9", "e", "a", "0"]
            for (place, name) in names.enumerated() {
                for records in [1, Int64(place) + 1] {
                    _ = try await store.apply(
                        MigrationStep(checkpoint: checkpoint(records, state: "\(name)", migration: name)))
                }
            }
            let expected = names.enumerated().sorted { $0.element < $1.element }.map { place, name in
                checkpoint(Int64(place) + 1, state: "\(name)", migration: name)
            }
            try await expect(store.checkpoints(after: nil, limit: 1_000), equals: expected)
            try await expect(store.checkpoints(after: nil, limit: 0), equals: Array(expected.prefix(1)))
            var found: [MigrationCheckpoint] = []
            while true {
                let page = try await store.checkpoints(after: found.last?.migration, limit: 2)
                if page.isEmpty { break }
                try expect(page.count <= 2)
                found += page
            }
            try expect(found, equals: expected)
        },
        StoreRule(opened: "an older step that is applied late adds its content and keeps the checkpoint") { store in
            _ = try await store.apply(step("two", 2))
            _ = try await store.apply(step("one", 1))
            let kept = try await Kept(store)
            try expect(kept.checkpoint, equals: checkpoint(2, state: "two"))
            try expect(kept.users.map(\.userId), equals: ["one", "two"])
            try expect(kept.receipts.count == 2 && kept.quarantine.count == 2)
        },
        StoreRule(opened: "users are ordered by identity and then by key, and only those of the scope are returned") {
            store in
            let token = CustomerIdentity(.appAccountToken, "9F1E3C54-0D2F-4A5B-8C6D-7E8F90A1B2C3")
            let digest = CustomerIdentity(.receiptDigest, "ab")
            let app = CustomerIdentity(.appTransactionId, "700")
            let identities = [Samples.original("9"), Samples.original("10"), digest, app, token]
            let users = identities.flatMap { identity in
                (1...3).map { UserClaim(scope: Samples.scope, identity: identity, userId: "user \($0)") }
            }
            let foreign = [
                user("sandbox", of: "9", in: Samples.sandbox),
                user("app", of: "9", in: StoreScope(environment: .production, bundleId: "another")),
            ]
            _ = try await store.apply(MigrationStep(users: users.reversed() + foreign))
            let expected = users.sorted { left, right in
                left.identity == right.identity ? isBefore(left.key, right.key) : left.identity < right.identity
            }
            // Identities may be repeated, unknown or meaningless.
            let more = identities.reversed() + identities + ["1", "0", ""].map(Samples.original)
            try await expect(store.users(of: more, in: Samples.scope), equals: expected)
            try await expect(store.users(of: [app], in: Samples.scope).count, equals: 3)
            try await expect(store.users(of: [Samples.original("700")], in: Samples.scope).isEmpty)
            try await expect(store.users(of: identities, in: Samples.sandbox), equals: [foreign[0]])
            let unknown = StoreScope(environment: .xcode, bundleId: "unknown")
            try await expect(store.users(of: identities, in: unknown).isEmpty)
        },
        StoreRule(opened: "a user with two carried values has two claims, and a repeated claim is one") { store in
            let claims = [
                user("u", of: "1"), user("u", of: "1", carried: #"{"plan":"a"}"#),
                user("u", of: "1", carried: #"{"plan":"b"}"#), user("v", of: "1", carried: #"{"plan":"b"}"#),
                user("u", of: "2", carried: #"{"plan":"a"}"#),
            ]
            _ = try await store.apply(MigrationStep(users: claims + claims))
            for claim in claims { _ = try await store.apply(MigrationStep(users: [claim])) }
            let found = try await store.users(of: [Samples.original("1"), Samples.original("2")], in: Samples.scope)
            try expect(found.count, equals: 5)
            try expect(Set(found), equals: Set(claims))
            try expect(found.last, equals: claims[4])
        },
        StoreRule(opened: "user ids and carried columns of any Unicode, up to megabytes, are returned unchanged") {
            store in
            let texts =
                [
                    "", "'; DROP TABLE user_claims; --", "\"", "\\", "a\u{0}b", "\u{0}", "%s$1?1:x",
                    "\u{1F600}\u{202E}", "\n\r\t", "é", "e\u{301}", " 1", "1 ", "NULL", "{\"a\":1}", "\u{FEFF}x",
                    "\u{10FFFF}", String(repeating: "xé\u{0}", count: 2_500), String(repeating: "y", count: 1_000_000),
                ]
            let claims = texts.enumerated().flatMap { place, text in
                [user(text, of: "1", carried: texts[texts.count - 1 - place]), user(text, of: "2")]
            }
            _ = try await store.apply(MigrationStep(users: claims))
            func bytes(_ claims: [UserClaim]) -> Set<[[UInt8]]> {
                Set(claims.map { [Array($0.userId.utf8), Array($0.carried.utf8)] })
            }
            for original in ["1", "2"] {
                let identity = Samples.original(original)
                let found = try await store.users(of: [identity], in: Samples.scope)
                try expect(found.count, equals: texts.count)
                try expect(bytes(found) == bytes(claims.filter { $0.identity == identity }))
            }
        },
        StoreRule(opened: "users stay with their purchases when customers merge") { store in
            for original in ["1", "2"] {
                _ = try await store.apply(
                    MigrationStep(
                        facts: [Samples.set(Samples.fact(original))], users: [user("user of \(original)", of: original)]
                    ))
            }
            try await store.add(Samples.fact("3"), Samples.fact("2"))
            try await store.add(Samples.fact("3"), Samples.fact("1"))
            try await expect(store.counts().customers, equals: 1)
            let merged = try require(try await store.customer(original: "1")?.identities)
            let users = try await store.users(of: merged, in: Samples.scope)
            try expect(users, equals: [user("user of 1", of: "1"), user("user of 2", of: "2")])
        },
        StoreRule(opened: "users are stored before and without facts about their purchases") { store in
            _ = try await store.apply(MigrationStep(users: [user("early", of: "5")]))
            try await expect(store.counts().customers, equals: 0)
            try await expect(store.customer(original: "5") == nil)
            try await expect(store.users(of: [Samples.original("5")], in: Samples.scope).count, equals: 1)
        },
        StoreRule(opened: "verified receipts are found by thousands of keys; unknown keys are left out") { store in
            let many = (1...2_000).map { Samples.original("\($0)") }
            let receipts = (1...6_000).map { number in
                verified(
                    number, form: number % 2 == 0 ? .app : .transaction,
                    number == 17 ? many : number % 5 == 0 ? [] : [Samples.original("\(number)")])
            }
            let other = VerifiedReceipt(
                key: hash(6_001), scope: StoreScope(environment: .sandbox, bundleId: "other"), form: .app,
                identities: [
                    CustomerIdentity(.receiptDigest, "a b 1"), CustomerIdentity(.appTransactionId, "5"),
                    CustomerIdentity(.appAccountToken, "9f1e3c54-0d2f-4a5b-8c6d-7e8f90a1b2c3"),
                ])
            _ = try await store.apply(MigrationStep(receipts: receipts + [other]))
            let keys = (1...12_000).map(hash)
            let found = try await store.verifiedReceipts(keys.shuffled() + keys)
            try expect(found.count, equals: 6_001)
            try expect(Set(found) == Set(receipts + [other]))
            try await expect(store.verifiedReceipts([hash(7_000), [], [0, 1]]).isEmpty)
        },
        StoreRule(opened: "the quarantine is read in pages by key, in order and without duplicates") { store in
            let records = (1...250).map { record("{\"line\":\($0)}") }
            let expected = records.sorted { isBefore($0.key, $1.key) }
            _ = try await store.apply(MigrationStep(quarantined: records + records.prefix(50)))
            _ = try await store.apply(MigrationStep(quarantined: Array(records.suffix(60))))
            for limit in [1, 7, 100, 250, 251] {
                let pages = try await pages(store, limit: limit)
                try expect(pages.flatMap { $0 } == expected)
                try expect(pages.dropLast().allSatisfy { $0.count == limit })
            }
            try await expect(store.quarantine(after: nil, limit: 0).count, equals: 1)
            try await expect(store.quarantine(after: nil, limit: .max).count, equals: 250)
            // The key of an unknown record is a position too.
            try await expect(store.quarantine(after: Array(expected[0].key.prefix(31)), limit: 1) == [expected[0]])
            try await expect(store.quarantine(after: [UInt8](repeating: 0xFF, count: 32), limit: 1).isEmpty)
        },
        StoreRule(opened: "quarantined lines of 5 MB are returned unchanged, in pages of limited size") { store in
            let records = (0..<5).map { number in
                let block = (0..<65_536).map { UInt8(truncatingIfNeeded: ($0 &* 31 &+ number) ^ ($0 >> 8)) }
                return QuarantinedRecord(line: Samples.bytes(5_000_000, repeating: block))
            }
            let long = QuarantinedRecord(
                line: [UInt8](repeating: UInt8(ascii: "x"), count: MigrationLimits.pageBytes + 1))
            let all = (records + [long]).sorted { isBefore($0.key, $1.key) }
            _ = try await store.apply(MigrationStep(quarantined: records + [long]))
            let pages = try await pages(store, limit: 1_000)
            try expect(pages.flatMap { $0 } == all)
            try expect(
                pages.allSatisfy { page in
                    page.count == 1 || page.reduce(0) { $0 + $1.line.count } <= MigrationLimits.pageBytes
                })
            // Each page is as long as allowed.
            for (page, next) in zip(pages, pages.dropFirst()) {
                let bytes = (page + next.prefix(1)).reduce(0) { $0 + $1.line.count }
                try expect(bytes > MigrationLimits.pageBytes)
            }
        },
        StoreRule("a page of the quarantine has a record while one is left, beside a program that releases others") {
            place in
            let (reader, writer) = (try await place.open(), try await place.open())
            let records = (0...200).map { record("line \($0)") }.sorted { isBefore($0.key, $1.key) }
            _ = try await writer.apply(MigrationStep(quarantined: records))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for record in records.dropLast() {
                        _ = try await writer.apply(MigrationStep(released: [record.key]))
                    }
                }
                group.addTask {
                    while true {
                        try Task.checkCancellation()
                        let page = try await reader.quarantine(after: nil, limit: 1)
                        try expect(page.count, equals: 1)
                        if page == records.suffix(1) { return }
                    }
                }
                for try await _ in group {}
            }
            try await reader.close()
            try await writer.close()
        },
        StoreRule(opened: "released records leave the quarantine; one that is quarantined again in the step stays") {
            store in
            let records = (1...5).map { record("line \($0)") }
            _ = try await store.apply(MigrationStep(quarantined: records))
            let step = MigrationStep(
                quarantined: [records[1], record("new")],
                released: records.prefix(3).map(\.key) + [hash(1), records[0].key])
            for _ in 0..<2 {
                _ = try await store.apply(step)
                let left = try await store.quarantine(after: nil, limit: 100)
                try expect(Set(left), equals: Set([records[1], records[3], records[4], record("new")]))
            }
            // A released record can come back.
            _ = try await store.apply(MigrationStep(quarantined: [records[0]]))
            try await expect(store.quarantine(after: nil, limit: 100).count, equals: 5)
        },
        StoreRule("all data of a migration remains after closing and opening the store") { place in
            let first = try await place.open()
            _ = try await first.apply(step("one", 1))
            _ = try await first.apply(step("two", 2))
            let kept = try await Kept(first)
            try expect(kept.users.count == 2 && kept.receipts.count == 2 && kept.quarantine.count == 2)
            try await first.close()
            try await expectError(.closed, "a closed store took a step") { _ = try await first.apply(step("three", 3)) }
            let second = try await place.open()
            try await expect(Kept(second), equals: kept)
            try await expect(second.customer(original: "2")?.transactions.count, equals: 1)
            try await second.close()
        },
        StoreRule(openedTwice: "two migrations at the same time lose nothing") { stores in
            // Both migrations have the same purchases, users, receipts and lines in opposite orders, and both join
            // customers.
            @Sendable func step(_ number: Int, _ migration: Int, _ records: Int) -> MigrationStep {
                let numbers = [number, number % 40 + 1, (number + 7) % 40 + 1]
                return MigrationStep(
                    facts: numbers.map { Samples.set(Samples.fact("\($0)"), Samples.fact("\(($0 + 1) / 2)")) },
                    users: numbers.map { user("u", of: "\($0)", carried: "\($0)") },
                    receipts: numbers.map { verified($0) }, quarantined: numbers.map { record("\($0)") },
                    released: numbers.map { record("old \($0)").key },
                    checkpoint: checkpoint(Int64(records), migration: migration == 0 ? "a" : "b"))
            }
            _ = try await stores[0].apply(MigrationStep(quarantined: (1...40).map { record("old \($0)") }))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (migration, store) in stores.enumerated() {
                    group.addTask {
                        for place in 1...40 {
                            let number = migration == 0 ? place : 41 - place
                            _ = try await store.apply(step(number, migration, place))
                        }
                    }
                    group.addTask {
                        for number in 1...40 { try await store.add(Samples.fact("\(number)")) }
                    }
                }
                try await group.waitForAll()
            }
            let store = stores[1]
            try await expect(store.counts().customers, equals: 1)
            let users = try await store.users(of: (1...40).map { Samples.original("\($0)") }, in: Samples.scope)
            try expect(users.map(\.carried), equals: (1...40).map(String.init).sorted())
            try await expect(store.verifiedReceipts((1...40).map(hash)).count, equals: 40)
            let lines = try await store.quarantine(after: nil, limit: 100)
            try expect(Set(lines), equals: Set((1...40).map { record("\($0)") }))
            for name in ["a", "b"] as [Character] {
                let found = try await store.checkpoint(of: checkpoint(0, migration: name).migration)
                try expect(found?.records, equals: 40)
            }
            try await LedgerAudit.check(store)
        },
    ]
}
