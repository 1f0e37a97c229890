import AppStoreModels
import Purchases
import TransactionStore

/// The numbers of a store.
struct StoreStats {
    private let scopes: [StoreScope]
    private let numbers: [Number]
    private let consumers: [(consumer: LedgerConsumer, hasUnread: Bool)]

    /// A number with its label in the text and its member in the JSON.
    typealias Number = (label: String, member: String, count: Int64)

    /// - Throws: `TransactionStoreError`.
    init(of store: any CompleteTransactionStore) async throws {
        scopes = try await store.scopes()
        let counts = try await store.counts()
        let requests = Int64(try await store.allOpenConsumptionTasks().count)
        let unknown = try await store.unknownTransactionCount()
        numbers =
            [(label: "customers", member: "customers", count: counts.customers)] + counts.numbers + [
                (label: "open consumption requests", member: "openConsumptionRequests", count: requests),
                (label: "transactions unknown to the App Store", member: "unknownTransactions", count: unknown),
            ]
        var consumers: [(LedgerConsumer, Bool)] = []
        for consumer in try await store.consumers() {
            consumers.append((consumer, try await Self.hasUnread(consumer, in: store)))
        }
        self.consumers = consumers
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
        lines += numbers.map { "\($0.label): \($0.count)" }
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
            writer.members(numbers.map { (name: $0.member, count: Int($0.count)) })
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
    /// The number of rows of each kind.
    var numbers: [StoreStats.Number] {
        [
            ("transactions", "transactions", transactions), ("renewal infos", "renewalInfos", renewalInfos),
            ("app transactions", "appTransactions", appTransactions), ("receipts", "receipts", receipts),
            ("notifications", "notifications", notifications),
            ("hashes of erased customers", "leftHashes", leftHashes),
        ]
    }
}
