import AppStoreModels
import Purchases
import TransactionStore

extension StoreConformance {
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
    ]
}
