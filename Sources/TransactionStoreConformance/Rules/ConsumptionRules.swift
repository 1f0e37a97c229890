import AppStoreModels
import Purchases
import TransactionStore

extension StoreConformance {
    private static let minute: Int64 = 60_000

    private static func open(_ store: any CompleteTransactionStore, limit: Int = 100) async throws -> [String] {
        var uuids: [String] = []
        var last: ConsumptionTask?
        while true {
            let page = try await store.openConsumptionTasks(after: last, limit: limit)
            try expect(page.count <= max(1, limit))
            guard let end = page.last else { return uuids }
            uuids += page.map(\.notificationUUID)
            last = end
        }
    }

    /// Claims a request, and ends the claim without closing the request.
    private static func attempt(
        _ uuid: String, in store: any CompleteTransactionStore, maybeAnswered: Bool
    ) async throws {
        let claim = try await store.claimConsumptionTasks([uuid], for: minute, renewing: nil)
        try expect(claim?.notificationUUIDs, equals: [uuid])
        if let claim { try await store.endClaim(claim, maybeAnswered: maybeAnswered) }
    }

    static let consumptionTasks: [StoreRule] = [
        StoreRule("a consumption request is an open task with its reason and date, also after reopening the store") {
            place in
            var store = try await place.open()
            let set = Samples.consumptionRequest("a", of: "1", at: 7, reason: "FULFILLMENT_ISSUE")
            _ = try await store.apply([set, set])
            try await store.add(set)
            try await store.close()
            store = try await place.open()
            let tasks = try await store.openConsumptionTasks(after: nil, limit: 10)
            let position = try await store.changes(after: 0, limit: 1).first?.position
            try expect(
                tasks,
                equals: [
                    ConsumptionTask(
                        notificationUUID: "a", scope: Samples.scope, originalTransactionId: "1", transactionId: "1",
                        reason: "FULFILLMENT_ISSUE", requestedDate: Samples.june + 7, purchasedPosition: position)
                ])
            try expect(tasks.first?.deadline, equals: Samples.june + 7 + 43_200_000)
            try await store.close()
        },
        StoreRule(opened: "a consumption task is closed once, and no repeated notification opens it again") { store in
            let sets = [
                Samples.consumptionRequest("a", of: "1"), Samples.consumptionRequest("b", of: "1", at: 1),
                Samples.consumptionRequest("c", of: "2", at: 2),
            ]
            _ = try await store.apply(sets)
            try await expect(store.closeConsumptionTasks(["a", "a", "unknown"], as: .answered), equals: 1)
            try await expect(open(store), equals: ["b", "c"])
            try await expect(store.closeConsumptionTasks(["a", "c"], as: .dismissed), equals: 1)
            try await expect(store.closeConsumptionTasks([], as: .answered), equals: 0)
            _ = try await store.apply(sets)
            try await store.add(sets)
            try await expect(open(store), equals: ["b"])
        },
        StoreRule(opened: "only a CONSUMPTION_REQUEST that Apple signed, with a transaction, opens a task") { store in
            _ = try await store.apply([
                notified("refund", "REFUND", nil, "1"), notified("expired", "EXPIRED", nil, "1", at: 1),
                notified("v1", "CONSUMPTION_REQUEST", nil, "1", source: .notificationV1),
                Samples.set(notification: Samples.notification("empty", "CONSUMPTION_REQUEST", at: 1)),
            ])
            try await expect(open(store).isEmpty)
            for (number, body) in ["", "{", "[]", #"{"data":1}"#, #"{"data":{"consumptionRequestReason":"\u0000"}}"#]
                .enumerated()
            {
                try await store.add(
                    notified("\(number)", "CONSUMPTION_REQUEST", nil, "1", at: Int64(number), body: body))
            }
            let tasks = try await store.openConsumptionTasks(after: nil, limit: 10)
            try expect(tasks.map(\.notificationUUID), equals: ["0", "1", "2", "3", "4"])
            try expect(tasks.allSatisfy { $0.reason == nil })
        },
        StoreRule(opened: "open consumption tasks are in the order of their deadlines, page by page, for all apps") {
            store in
            let other = StoreScope(environment: .sandbox, bundleId: "com.example.other")
            _ = try await store.apply([
                Samples.consumptionRequest("d", of: "4", at: 5), Samples.consumptionRequest("c", of: "3", at: 5),
                Samples.consumptionRequest("b", of: "2", at: -5),
                Samples.set(
                    Samples.fact("2", source: .notificationV2), scope: other,
                    notification: Samples.notification("o", "CONSUMPTION_REQUEST", at: .max)),
            ])
            try await store.add(Samples.consumptionRequest("a", of: "1", at: 5))
            for limit in [0, 1, 2, 3, 100] {
                try await expect(open(store, limit: limit), equals: ["b", "a", "c", "d", "o"])
            }
            let last = try await store.openConsumptionTasks(after: nil, limit: 10).last
            try expect(last?.scope, equals: other)
            try expect(last?.deadline, equals: .max)
        },
        StoreRule(opened: "many consumption tasks of one call are all opened") { store in
            let sets = (0..<300).map { Samples.consumptionRequest("\(1_000 + $0)", of: "\($0 % 7 + 1)", at: Int64($0)) }
            _ = try await store.apply(sets)
            try await expect(open(store, limit: 64), equals: (0..<300).map { "\(1_000 + $0)" })
        },
        StoreRule(openedTwice: "one program at a time claims a consumption request, and can renew and end the claim") {
            stores in
            let (first, second) = (stores[0], stores[1])
            _ = try await first.apply([
                Samples.consumptionRequest("a", of: "1"), Samples.consumptionRequest("b", of: "2", at: 1),
                Samples.consumptionRequest("c", of: "3", at: 2),
            ])
            let claim = try await first.claimConsumptionTasks(["a", "b", "unknown"], for: minute, renewing: nil)
            try expect(claim?.notificationUUIDs.sorted(), equals: ["a", "b"])
            try expect(claim?.maybeAnswered, equals: [])
            // Nothing is claimed if one of the requests is not free.
            try await expect(second.claimConsumptionTasks(["c", "b"], for: minute, renewing: nil), equals: nil)
            let other = try await second.claimConsumptionTasks(["c"], for: minute, renewing: nil)
            try expect(other?.notificationUUIDs, equals: ["c"])
            let renewed = try await first.claimConsumptionTasks(["a", "b"], for: 2 * minute, renewing: claim)
            try expect(renewed?.notificationUUIDs.sorted(), equals: ["a", "b"])
            try expect(renewed?.maybeAnswered, equals: [])
            // The claim from before the renewal ends nothing.
            if let claim { try await first.endClaim(claim, maybeAnswered: false) }
            try await expect(second.claimConsumptionTasks(["a"], for: minute, renewing: nil), equals: nil)
            if let renewed { try await first.endClaim(renewed, maybeAnswered: false) }
            let taken = try await second.claimConsumptionTasks(["a", "b"], for: minute, renewing: nil)
            try expect(taken?.notificationUUIDs.sorted(), equals: ["a", "b"])
            try expect(taken?.maybeAnswered, equals: [])
            // A claimed request stays open until it is closed, by any program. A closed one cannot be claimed.
            try await expect(open(first), equals: ["a", "b", "c"])
            try await expect(first.closeConsumptionTasks(["a"], as: .dismissed), equals: 1)
            try await expect(
                first.claimConsumptionTasks(["a"], for: minute, renewing: nil)?.notificationUUIDs, equals: [])
            for time in [.min, -1, 0, ConsumptionClaim.maximumMilliseconds + 1, .max] {
                try await expectError(.invalidArgument) {
                    _ = try await first.claimConsumptionTasks(["b"], for: time, renewing: nil)
                }
            }
        },
        StoreRule("a claim of a killed program ends by itself, and the next one knows that an answer may have arrived")
        {
            place in
            let first = try await place.open()
            try await first.add(Samples.consumptionRequest("a", of: "1"))
            let claim = try await first.claimConsumptionTasks(["a"], for: 300, renewing: nil)
            try expect(claim?.notificationUUIDs, equals: ["a"])
            try await first.close()
            let second = try await place.open()
            var next: ConsumptionClaim?
            var waited = 0
            while next == nil {
                try expect(waited < 40, "the claim does not end")
                try await Task.sleep(for: .milliseconds(100))
                waited += 1
                next = try await second.claimConsumptionTasks(["a"], for: minute, renewing: nil)
            }
            try expect(next?.maybeAnswered, equals: ["a"])
            let renewed = try await second.claimConsumptionTasks(["a"], for: minute, renewing: next)
            try expect(renewed?.maybeAnswered, equals: ["a"])
            // The killed program comes back.
            try await expect(second.claimConsumptionTasks(["a"], for: minute, renewing: claim), equals: nil)
            try await second.close()
        },
        StoreRule(openedTwice: "of concurrent programs, one claims a consumption request") { stores in
            try await stores[0].add(Samples.consumptionRequest("a", of: "1"))
            let claims = try await concurrently(0..<12) { number in
                try await stores[number % 2].claimConsumptionTasks(["a"], for: minute, renewing: nil)
            }
            try expect(claims.compactMap { $0 }.count, equals: 1)
        },
        StoreRule("a consumption request counts as missed once, or as unknown if an answer may have arrived") { place in
            var store = try await place.open()
            let june = Samples.june
            _ = try await store.apply([
                Samples.consumptionRequest("before", of: "1"), Samples.consumptionRequest("never", of: "2", at: 1),
                Samples.consumptionRequest("refused", of: "3", at: 2),
                Samples.consumptionRequest("silent", of: "4", at: 3),
                Samples.consumptionRequest("killed", of: "5", at: 4),
                Samples.consumptionRequest("both", of: "6", at: 5),
                Samples.consumptionRequest("answered", of: "7", at: 6),
                Samples.consumptionRequest("later", of: "8", at: 7),
            ])
            try await attempt("refused", in: store, maybeAnswered: false)
            try await attempt("silent", in: store, maybeAnswered: true)
            try await attempt("both", in: store, maybeAnswered: true)
            try await attempt("both", in: store, maybeAnswered: false)
            _ = try await store.claimConsumptionTasks(["killed"], for: 1, renewing: nil)
            _ = try await store.closeConsumptionTasks(["answered"], as: .answered)
            var counted = MissedConsumptionTasks()
            for _ in 0..<40 {
                let next = try await store.countMissedConsumptionTasks(requestedAfter: june, upTo: june + 6)
                counted.missed += next.missed
                counted.unknown += next.unknown
                if counted.unknown == 3 { break }
                // The claim of the killed program has to end.
                try await Task.sleep(for: .milliseconds(100))
            }
            try expect(counted, equals: MissedConsumptionTasks(missed: 2, unknown: 3))
            try await store.close()
            store = try await place.open()
            try await expect(
                store.countMissedConsumptionTasks(requestedAfter: june, upTo: june + 6),
                equals: MissedConsumptionTasks())
            // Those that counted stay open.
            try await expect(open(store).count, equals: 7)
            try await expect(store.closeConsumptionTasks(["never"], as: .dismissed), equals: 1)
            try await expect(
                store.countMissedConsumptionTasks(requestedAfter: .min, upTo: .max),
                equals: MissedConsumptionTasks(missed: 2))
            try await store.close()
        },
        StoreRule(opened: "a consumption request that a program with a wrong clock counted can still be answered") {
            store in
            _ = try await store.apply([
                Samples.consumptionRequest("a", of: "1"), Samples.consumptionRequest("b", of: "2"),
            ])
            try await attempt("b", in: store, maybeAnswered: true)
            try await expect(
                store.countMissedConsumptionTasks(requestedAfter: .min, upTo: .max),
                equals: MissedConsumptionTasks(missed: 1, unknown: 1))
            let claim = try await store.claimConsumptionTasks(["a", "b"], for: minute, renewing: nil)
            try expect(claim?.notificationUUIDs.sorted(), equals: ["a", "b"])
            // While a program sends an answer, nothing counts, and the request is not free.
            try await expect(
                store.countMissedConsumptionTasks(requestedAfter: .min, upTo: .max),
                equals: MissedConsumptionTasks())
            try await expect(store.claimConsumptionTasks(["a"], for: minute, renewing: nil), equals: nil)
            try await expect(store.closeConsumptionTasks(["a", "b"], as: .answered), equals: 2)
        },
    ]
}
