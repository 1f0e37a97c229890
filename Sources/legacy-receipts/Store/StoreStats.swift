import AppStoreModels
import Purchases
import TransactionStore

/// The numbers of a store.
struct StoreStats {
    private let scopes: [StoreScope]
    private let counts: StoreCounts
    private let consumers: [(consumer: LedgerConsumer, hasUnread: Bool)]
    private let openConsumptionRequests: Int64
    private let unknownTransactions: Int64

    /// - Throws: `TransactionStoreError`.
    init(of store: any CompleteTransactionStore) async throws {
        scopes = try await store.scopes()
        counts = try await store.counts()
        var consumers: [(LedgerConsumer, Bool)] = []
        for consumer in try await store.consumers() {
            consumers.append((consumer, try await Self.hasUnread(consumer, in: store)))
        }
        self.consumers = consumers
        openConsumptionRequests = Int64(try await store.allOpenConsumptionTasks().count)
        unknownTransactions = try await store.unknownTransactionCount()
    }

    private static func hasUnread(_ consumer: LedgerConsumer, in store: any DeliveryLedger) async throws -> Bool {
        do {
            return try await !store.changes(after: consumer.position, limit: 1).isEmpty
        } catch let error as TransactionStoreError where error.code == .entriesRemoved {
            return true
        }
    }

    var text: String {
        var lines = scopes.map { "app: \($0.bundleId), \($0.environment.rawValue)" }
        lines.append("customers: \(counts.customers)")
        lines += counts.lines.map { "\($0.0): \($0.1)" }
        lines.append("open consumption requests: \(openConsumptionRequests)")
        lines.append("transactions unknown to the App Store: \(unknownTransactions)")
        lines += consumers.map {
            "ledger consumer \($0.consumer.name): \($0.hasUnread ? "has unread entries" : "has read everything"), "
                + "position \($0.consumer.position)"
        }
        return lines.joined(separator: "\n")
    }

    var json: String {
        let json = JSONWriter.object { writer in
            writer.objects("apps", scopes) { writer, scope in
                writer.member("bundleId", scope.bundleId)
                writer.member("environment", scope.environment.rawValue)
            }
            writer.member("customers", counts.customers)
            writer.member("transactions", counts.transactions)
            writer.member("renewalInfos", counts.renewalInfos)
            writer.member("appTransactions", counts.appTransactions)
            writer.member("receipts", counts.receipts)
            writer.member("notifications", counts.notifications)
            writer.member("leftHashes", counts.leftHashes)
            writer.member("openConsumptionRequests", openConsumptionRequests)
            writer.member("unknownTransactions", unknownTransactions)
            writer.objects("ledgerConsumers", consumers) { writer, entry in
                let (consumer, hasUnread) = entry
                writer.member("name", consumer.name)
                writer.member("position", consumer.position)
                writer.member("hasUnread", hasUnread)
            }
        }
        return String(decoding: json, as: UTF8.self)
    }
}

extension StoreCounts {
    /// The number of rows of each kind, with its name.
    var lines: [(String, Int64)] {
        [
            ("transactions", transactions), ("renewal infos", renewalInfos), ("app transactions", appTransactions),
            ("receipts", receipts), ("notifications", notifications),
            ("hashes of erased customers", leftHashes),
        ]
    }
}
