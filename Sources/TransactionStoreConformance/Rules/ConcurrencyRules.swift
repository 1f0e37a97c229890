import AppStoreModels
import Purchases
import Synchronization
import TransactionStore

extension StoreConformance {
    static let concurrency: [StoreRule] = [
        StoreRule(openedTwice: "with many writers through two connections, the newest fact stays") { stores in
            try await concurrently(0..<16) { writer in
                let store = stores[writer % 2]
                for step in 0..<12 {
                    // Dates increase in some writers and decrease in others. Each date belongs to one writer only.
                    let order = writer % 3 == 0 ? 11 - step : step
                    let date = Int64(order * 16 + writer)
                    let fact = Samples.fact("1", product: "p\(date)", at: date)
                    let own = Samples.fact("\(1000 + writer * 100 + step)", original: "1", at: date)
                    try await store.add(Samples.set(fact, own, receipt: Samples.receipt("r\(date)", at: date)))
                }
            }
            let newest = Int64(11 * 16 + 15)
            for store in stores {
                let customer = try require(try await store.customer(original: "1"))
                try expect(customer.transactions.count, equals: 16 * 12 + 1)
                try expect(customer.transactions.last?.payload.productId, equals: "p\(newest)")
                try expect(customer.newestAppReceipt?.bytes, equals: Array("r\(newest)".utf8))
            }
        },
        StoreRule(openedTwice: "writers that merge the same customers at the same time leave one customer") { stores in
            try await concurrently(1...40) { number in
                let next = number % 40 + 1
                let facts = [Samples.fact("\(number)"), Samples.fact("\(next)")]
                try await stores[number % 2].add(Samples.set(facts[0], facts[1], app: Samples.app("\(number)")))
            }
            try await expect(stores[0].counts().customers, equals: 1)
            try await expect(stores[1].customer(original: "17")?.transactions.count, equals: 40)
        },
        StoreRule(openedTwice: "a notification that many calls apply at the same time is applied once") { stores in
            let repeated = try await concurrently(0..<20) { number in
                let set = Samples.set(Samples.fact("1"), notification: Samples.notification("uuid"))
                return try await stores[number % 2].apply([set]).repeatedNotifications
            }
            try expect(repeated.reduce(0, +), equals: 19)
        },
        StoreRule(opened: "each concurrent call gets its own result, even if others fail") { store in
            let known = (1...60).map { number in
                Samples.set(
                    Samples.fact("\(number)"), Samples.fact("\(number + 100)", original: "\(number)"),
                    receipt: Samples.receipt("r\(number)"), notification: Samples.notification("known\(number)"))
            }
            _ = try await store.apply(known)
            try await concurrently(1...60) { number in
                let id = "\(number)"
                let later = Samples.june + Int64(number)
                switch number % 5 {
                case 0:
                    let result = try await store.apply([known[number - 1]])
                    try expect(result.repeatedNotifications == 1 && result.changed == 0 && result.unchanged == 0)
                case 1:
                    // One fact is newer, one is unchanged, one is new.
                    let set = Samples.set(
                        Samples.fact(id, product: "new", at: later), Samples.fact("\(number + 100)", original: id),
                        Samples.fact("\(number + 200)", original: id))
                    let result = try await store.apply([set])
                    try expect(result.changed == 2 && result.unchanged == 1)
                case 2:
                    let set = Samples.set(Samples.fact(id), receipt: Samples.receipt("r\(number)"))
                    let result = try await store.apply([set])
                    try expect(result.changed == 0 && result.unchanged == 2)
                case 3:
                    let set = Samples.set(Samples.fact(id), receipt: Samples.receipt("s\(number)", at: later))
                    let result = try await store.apply([set])
                    try expect(result.changed == 1 && result.unchanged == 1)
                default:
                    let result = try await store.apply([
                        Samples.set(Samples.fact("\(number + 300)")),
                        Samples.set(Samples.fact(id), notification: Samples.notification("other\(number)")),
                    ])
                    try expect(result.changed == 1 && result.unchanged == 1 && result.repeatedNotifications == 0)
                }
            }
        },
        StoreRule(
            openedTwice: "a refund counts if another program writes the purchase under another original id meanwhile"
        ) {
            stores in
            let applied = try await concurrently(0..<40) { number in
                let id = "\(number / 2 + 100)"
                let isRefund = number % 2 == 1
                let fact = Samples.fact(
                    id, original: isRefund ? "2\(id)" : "1\(id)", source: isRefund ? .notificationV2 : .receipt,
                    at: Samples.june + (isRefund ? 1 : 0)
                ) { $0.revocationDate = isRefund ? Samples.june : nil }
                return try await stores[number % 2].apply([Samples.set(fact)])
            }
            // An engine may write again to merge the customers. That counts nothing twice.
            try expect(applied.map(\.changed).reduce(0, +), equals: 40)
            try expect(applied.map(\.unchanged).reduce(0, +), equals: 0)
            try await expect(stores[1].counts().customers, equals: 20)
            let entries = try await LedgerAudit.check(stores[0])
            let last = Dictionary(grouping: entries, by: \.transactionId).mapValues { $0.last?.event }
            try expect(last.count, equals: 20)
            try expect(last.values.allSatisfy { $0 == .revoked })
        },
        StoreRule(openedTwice: "readers see a document completely or not at all") { stores in
            let (writer, reader) = (stores[0], stores[1])
            try await writer.add(Samples.fact("1", at: 0), Samples.fact("2", original: "1", at: 0))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for date in Int64(1)...60 {
                        try await writer.add(
                            Samples.fact("1", at: date), Samples.fact("2", original: "1", at: date),
                            receipt: Samples.receipt("r", at: date))
                    }
                }
                group.addTask {
                    for _ in 0..<60 {
                        let customer = try require(try await reader.customer(original: "1"))
                        let dates = Set(customer.transactions.flatMap(\.origins).map(\.signedDate))
                        try expect(dates.count, equals: 1)
                        try expect(customer.newestAppReceipt.map { dates.contains($0.signedDate) } ?? true)
                    }
                }
                try await group.waitForAll()
            }
        },
        StoreRule(openedTwice: "a look-up of several customers reads one snapshot") { stores in
            let (writer, reader) = (stores[0], stores[1])
            // With many customers, writes happen between the reads of the first and the last.
            let names = (1...20).map { "\($0)" }
            @Sendable func sets(_ date: Int64) -> [FactSet] { names.map { Samples.set(Samples.fact($0, at: date)) } }
            _ = try await writer.apply(sets(0))
            let seen = try await withThrowingTaskGroup(of: Void.self) { group in
                let isDone = Mutex(false)
                group.addTask {
                    defer { isDone.withLock { $0 = true } }
                    for date in Int64(1)...100 { _ = try await writer.apply(sets(date)) }
                }
                var seen: Set<Int64> = []
                while true {
                    let isLast = isDone.withLock { $0 }
                    let asked = names.map { Samples.original($0) }
                    let all = try require(try await reader.customer(asked, in: Samples.scope))
                    try expect(all.transactions.count, equals: names.count)
                    let dates = Set(all.transactions.flatMap(\.origins).map(\.signedDate))
                    try expect(dates.count, equals: 1)
                    seen.formUnion(dates)
                    if isLast { break }
                }
                try await group.waitForAll()
                return seen
            }
            try expect(seen.contains(100))
        },
        StoreRule("close waits for running writes") { place in
            let store = try await place.open()
            let written = await withTaskGroup(of: Bool.self) { group in
                for number in 1...30 {
                    group.addTask {
                        (try? await store.apply([Samples.set(Samples.fact("\(number)"))])) != nil
                    }
                }
                group.addTask {
                    try? await store.close()
                    return false
                }
                return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            let again = try await place.open()
            try await expect(again.counts().transactions, equals: Int64(written))
            try await again.close()
        },
    ]
}
