import Purchases
import TransactionStore

extension StoreConformance {
    private static func notification(_ uuid: String, at date: Int64) -> FactSet {
        Samples.set(notification: Samples.notification(uuid, "TEST", at: date))
    }

    static let retention: [StoreRule] = [
        StoreRule(opened: "notifications that were signed before a date are forgotten, and later ones are not") {
            store in
            _ = try await store.apply((0..<5).map { notification("uuid-\($0)", at: Samples.june + Int64($0)) })
            try await expect(store.removeNotifications(signedBefore: Samples.june + 3), equals: 3)
            for number in 0..<5 {
                try await expect(store.hasProcessed(notificationUUID: "uuid-\(number)"), equals: number >= 3)
            }
            try await expect(store.removeNotifications(signedBefore: Samples.june + 3), equals: 0)
            try await expect(store.apply([notification("uuid-0", at: Samples.june)]).repeatedNotifications, equals: 0)
        },
        StoreRule(opened: "receipts that were created before a date are removed, and their statements stay") { store in
            for number in 1...4 {
                try await store.add(
                    Samples.fact("\(number)"),
                    receipt: Samples.receipt("app\(number)", at: Samples.june + Int64(number)))
            }
            let other = Samples.receipt("transaction", form: .transaction, at: Samples.june + 9)
            try await store.add(Samples.fact("1"), receipt: other)
            try await expect(store.removeReceipts(signedBefore: Samples.june + 3), equals: 2)
            let left = try await store.customer(original: "1")
            try expect(left?.newestAppReceipt == nil && left?.newestTransactionReceipt != nil)
            try expect(left?.transactions.count, equals: 1)
            try await expect(store.customer(original: "3")?.newestAppReceipt?.bytes, equals: Array("app3".utf8))
            try await expect(store.counts().receipts, equals: 3)
            try await expect(LedgerAudit.check(store).count, equals: 4)
        },
        StoreRule(opened: "the newest signed date is that of the newest notification or receipt") { store in
            try await expect(store.newestSignedDate(orFrom: .max), equals: nil)
            try await store.add(
                Samples.fact("1"), receipt: Samples.receipt("transaction", form: .transaction, at: Samples.june + 5))
            try await store.add(Samples.fact("1"), receipt: Samples.receipt("app", at: Samples.june + 4))
            try await expect(store.newestSignedDate(orFrom: .max), equals: Samples.june + 5)
            _ = try await store.apply(
                [7, 9, 8].map { notification("uuid-\($0)", at: Samples.june + Int64($0)) })
            try await expect(store.newestSignedDate(orFrom: .max), equals: Samples.june + 9)
            let enough = try await store.newestSignedDate(orFrom: Samples.june + 7)
            try expect(enough.map { $0 >= Samples.june + 7 } == true)
            try await expect(store.removeNotifications(signedBefore: .max), equals: 3)
            try await expect(store.newestSignedDate(orFrom: Samples.june), equals: Samples.june + 5)
        },
    ]
}
