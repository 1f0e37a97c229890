import AppStoreModels
import Foundation
import Purchases
import SharedReceipts
import Testing
import TransactionStore
import VerifyReceipt
import VerifyReceiptServer

/// Notifications of version 1 as the App Store sent them, posted to the server.
extension ServerTests {
    @Suite(.serialized, .enabled(if: SharedReceipts.arePresent)) struct RecordedNotifications {
        /// What a notification says, found without knowing its structure.
        private struct Stated {
            var bundleIds: Set<String> = []
            var hasType = false
            /// Transaction ids by original transaction id.
            var purchases: [String: Set<String>] = [:]

            init(_ json: Any) {
                read(json)
                hasType = (json as? [String: Any])?["notification_type"] is String
            }

            private mutating func read(_ json: Any) {
                if let list = json as? [Any] {
                    for element in list { read(element) }
                }
                guard let object = json as? [String: Any] else { return }
                for name in ["bid", "bundle_id"] {
                    if let text = object[name] as? String { bundleIds.insert(text) }
                }
                if let id = object["transaction_id"] as? String, let original = object["original_transaction_id"] {
                    purchases["\(original)", default: []].insert(id)
                }
                for value in object.values { read(value) }
            }
        }

        /// The notification with a password that we know: those on record are masked.
        private func body(_ file: URL) throws -> String {
            let object = try #require(try JSONValue.parse(SharedReceipts.bytes(file)).object)
            let members = object.members.filter { $0.key != "password" }
            var writer = JSONWriter(reservingCapacity: 32_768)
            writer.value(
                .object(JSONObject(members: members + [.init(key: "password", value: .string("account"))])))
            return String(decoding: writer.bytes, as: UTF8.self)
        }

        private func configuration() -> VerifyReceiptServerConfiguration {
            .testing {
                $0.notifications.version1 = true
                $0.endpoint.accountSecrets = [SharedSecret("account")]
            }
        }

        @Test func purchasesInRecordedNotificationsAreStored() async throws {
            let files = try SharedReceipts.files("notifications-v1").filter { $0.pathExtension == "json" }
            let outcomes = try await Notifications.withStore { store in
                try await TestServer.run(configuration(), store: store) { server in
                    var outcomes: [Int: Int] = [:]
                    for file in files {
                        let name = file.lastPathComponent
                        let body = try body(file)
                        let stated = Stated(try JSONSerialization.jsonObject(with: Data(body.utf8)))
                        let status = try await Wire.ask(
                            server.port, Sent.post(body, path: "/notifications/v1")
                        ).status
                        outcomes[status, default: 0] += 1
                        guard stated.hasType, let bundleId = stated.bundleIds.first else {
                            #expect(status == 400, "\(name) names no app, or has no type")
                            continue
                        }
                        #expect(status == 200, "\(name)")
                        try await check(stated, of: bundleId, in: store, name)
                    }
                    return outcomes
                }
            }
            print("notifications-v1: \(files.count) posted, by HTTP status \(outcomes)")
            #expect(outcomes[200] ?? 0 >= 7 && !files.isEmpty)
        }

        private func check(
            _ stated: Stated, of bundleId: String, in store: any TransactionStore, _ name: String
        ) async throws {
            #expect(!stated.purchases.isEmpty, "\(name)")
            for (original, ids) in stated.purchases {
                var found: Set<String> = []
                for environment in [Environment.production, .sandbox] {
                    let identity = CustomerIdentity(.originalTransactionId, original)
                    let scope = StoreScope(environment: environment, bundleId: bundleId)
                    let customer = try await store.customer([identity], in: scope)
                    found.formUnion(customer?.transactions.compactMap(\.payload.transactionId) ?? [])
                }
                #expect(ids.isSubset(of: found), "\(name): \(ids.subtracting(found).sorted())")
            }
        }
    }
}
