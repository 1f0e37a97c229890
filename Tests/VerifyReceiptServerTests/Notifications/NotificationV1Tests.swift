import AppStoreModels
import Foundation
import Purchases
import ReceiptForge
import Testing
import TransactionStore
import VerifyReceipt
import VerifyReceiptServer

/// `/notifications/v1` (Reference.md V8).
extension ServerTests {
    @Suite(.serialized) struct NotificationsV1 {
        private static let original = "530001234567000"
        private static let path = "/notifications/v1"

        private static func configuration(
            secrets: [String] = ["new-secret", "old-secret"],
            _ change: (inout VerifyReceiptServerConfiguration) -> Void = { _ in }
        ) -> VerifyReceiptServerConfiguration {
            Notifications.configuration {
                $0.notifications.version1 = true
                $0.endpoint.apps[0].appleId = nil
                $0.endpoint.apps[0].sharedSecrets = secrets.map(SharedSecret.init)
                change(&$0)
            }
        }

        /// A notification about the subscription of the old receipt.
        private static func notification(
            _ type: String = "DID_CHANGE_RENEWAL_STATUS", password: String? = "new-secret", isOn: Bool = false,
            changed: Int64 = 1_711_000_000_000, receipt: [UInt8]? = nil
        ) throws -> String {
            let row: [String: Any] = [
                "product_id": Signed.monthly, "transaction_id": original, "original_transaction_id": original,
                "quantity": "1", "purchase_date_ms": "\(Signed.bought.milliseconds)",
                "original_purchase_date_ms": "\(Signed.bought.milliseconds)",
                "expires_date_ms": "\(Signed.bought.adding(months: 1).milliseconds)",
                "subscription_group_identifier": "20662382",
            ]
            let pending = [
                "auto_renew_product_id": Signed.monthly, "product_id": Signed.monthly,
                "original_transaction_id": original, "auto_renew_status": isOn ? "1" : "0",
            ]
            var unified: [String: Any] = [
                "status": 0, "environment": "Production", "latest_receipt_info": [row],
                "pending_renewal_info": [pending],
            ]
            unified["latest_receipt"] = receipt.map { Data($0).base64EncodedString() }
            var object: [String: Any] = [
                "notification_type": type, "environment": "PROD", "bid": Signed.bundleId, "bvrs": "42",
                "auto_renew_status": isOn ? "true" : "false", "auto_renew_product_id": Signed.monthly,
                "auto_renew_status_change_date_ms": "\(changed)", "unified_receipt": unified,
            ]
            object["password"] = password
            let data = try JSONSerialization.data(withJSONObject: object, options: .sortedKeys)
            return String(decoding: data, as: UTF8.self)
        }

        private static func ask(_ server: TestServer, _ receipt: [UInt8]) async throws -> [[String: String]] {
            let body = Sent.body(Data(receipt).base64EncodedString(), password: "new-secret")
            let answer = try await Wire.ask(server.port, Sent.post(body))
            #expect(answer.verifyStatus == 0)
            let object = try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any]
            return object?["pending_renewal_info"] as? [[String: String]] ?? []
        }

        @Test func aRenewalIsStoredAndRepeatsChangeNothing() async throws {
            try await Notifications.withStore { store in
                try await TestServer.run(Self.configuration(), store: store) { server in
                    let receipt = try Signed.receipt(Self.original)
                    #expect(try await Self.ask(server, receipt).isEmpty)
                    for _ in 0..<2 {
                        let answer = try await Wire.ask(server.port, Sent.post(Self.notification(), path: Self.path))
                        #expect(answer.status == 200)
                    }
                    #expect(try await Self.ask(server, receipt).first?["auto_renew_status"] == "0")
                    #expect(try await store.counts().notifications == 1)
                    let name = "legacy_receipts_notifications_total"
                    let label = #"\#(name){version="v1",type="DID_CHANGE_RENEWAL_STATUS",outcome="#
                    #expect(server.server.metricsText.contains(label + "\"accepted\"} 1"))
                    #expect(server.server.metricsText.contains(label + "\"repeated\"} 1"))
                }
            }
        }

        /// They name no time of their own; that of the change decides, whichever comes first.
        @Test func newestChangeStands() async throws {
            let changes = try [
                Self.notification(isOn: false, changed: 1_711_000_000_000),
                Self.notification(isOn: true, changed: 1_711_000_900_000),
            ]
            for order in [changes, changes.reversed()] {
                try await Notifications.withStore { store in
                    try await TestServer.run(Self.configuration(), store: store) { server in
                        let receipt = try Signed.receipt(Self.original)
                        _ = try await Self.ask(server, receipt)
                        for body in order { _ = try await Wire.ask(server.port, Sent.post(body, path: Self.path)) }
                        #expect(try await Self.ask(server, receipt).first?["auto_renew_status"] == "1")
                    }
                }
            }
        }

        /// The notification is unsigned, but Apple signed the receipt inside of it.
        @Test func embeddedReceiptCountsAsSigned() async throws {
            let renewed = try ForgedAppReceipt.production(
                bundleId: Signed.bundleId, created: Signed.bought.adding(months: 2)
            ).with {
                let product = Signed.monthly
                $0.purchases = [0, 1].map { (month: Int64) in
                    let id = month == 0 ? Self.original : "530001234568037"
                    let at = Signed.bought.adding(months: month)
                    return ForgedPurchase(
                        .autoRenewable, product: product, id: id, at: at, originalId: Self.original,
                        originallyAt: Signed.bought
                    ).with { $0.expiresDate = .seconds(at.adding(months: 1)) }
                }
            }.signedData(.g5).encoded()
            try await Notifications.withStore { store in
                try await TestServer.run(Self.configuration(), store: store) { server in
                    let body = try Self.notification("DID_RENEW", receipt: renewed)
                    #expect(try await Wire.ask(server.port, Sent.post(body, path: Self.path)).status == 200)
                    let identity = CustomerIdentity(.originalTransactionId, Self.original)
                    let scope = StoreScope(environment: .production, bundleId: Signed.bundleId)
                    let customer = try #require(try await store.customer([identity], in: scope))
                    #expect(customer.transactions.map(\.isSigned) == [true, true])
                    #expect(customer.newestAppReceipt?.bytes == renewed)
                    let date = customer.renewalInfos.first?.origins.first?.signedDate
                    #expect(date == Signed.bought.adding(months: 2).milliseconds)
                }
            }
        }

        @Test(arguments: [("new-secret", 200), ("old-secret", 200), ("account", 200), ("wrong", 403), (nil, 403)])
        func sharedSecretDecides(password: String?, status: Int) async throws {
            let configuration = Self.configuration { $0.endpoint.accountSecrets = [SharedSecret("account")] }
            let store = PuppetStore()
            try await TestServer.run(configuration, store: store) { server in
                let body = try Self.notification(password: password)
                #expect(try await Wire.ask(server.port, Sent.post(body, path: Self.path)).status == status)
                #expect(!server.log.text.contains("-secret"))
            }
            #expect(store.calls == (status == 200 ? 1 : 0))
        }

        @Test func appWithoutASecretIsRefused() async throws {
            try await TestServer.run(Self.configuration(secrets: []), store: PuppetStore()) { server in
                for password in ["", "anything"] {
                    let body = try Self.notification(password: password)
                    #expect(try await Wire.ask(server.port, Sent.post(body, path: Self.path)).status == 403)
                }
            }
        }

        @Test func theSecretOfOneAppAuthenticatesNoOther() async throws {
            let foreign = try Self.notification().replacing(
                #""product_id":"#, with: #""bid":"com.example.other","product_id":"#)
            let store = PuppetStore()
            try await TestServer.run(Self.configuration(), store: store) { server in
                let status = try await Wire.ask(server.port, Sent.post(foreign, path: Self.path)).status
                #expect(status == 403)
            }
            #expect(store.calls == 0)
        }

        private static let otherBundleId = "com.example.other"

        /// Two apps, each with a secret of its own: whether an app is configured decides nothing then.
        private static func twoApps() -> VerifyReceiptServerConfiguration {
            configuration {
                let other = AppConfiguration(bundleId: otherBundleId, sharedSecrets: [SharedSecret("other-secret")])
                $0.endpoint.apps.append(other)
            }
        }

        @Test(arguments: [(Signed.bundleId, "new-secret"), (otherBundleId, "other-secret")])
        func secretOpensItsOwnAppOnly(bundleId: String, own: String) async throws {
            for password in ["new-secret", "other-secret"] {
                let store = PuppetStore()
                try await TestServer.run(Self.twoApps(), store: store) { server in
                    let body = try Self.notification(password: password).replacing(Signed.bundleId, with: bundleId)
                    let answer = try await Wire.ask(server.port, Sent.post(body, path: Self.path))
                    #expect(answer.status == (password == own ? 200 : 403), "\(password) for \(bundleId)")
                }
                #expect(store.calls == (password == own ? 1 : 0))
            }
        }

        @Test func theSecretOfOneAppAuthenticatesNoRowsOfAnotherApp() async throws {
            for (password, row, status) in [
                ("new-secret", Self.otherBundleId, 403), ("other-secret", Self.otherBundleId, 403),
                ("new-secret", Signed.bundleId, 200),
            ] {
                let body = try Self.notification(password: password).replacing(
                    #""product_id":"#, with: #""bid":"\#(row)","product_id":"#)
                let store = PuppetStore()
                try await TestServer.run(Self.twoApps(), store: store) { server in
                    let answer = try await Wire.ask(server.port, Sent.post(body, path: Self.path))
                    #expect(answer.status == status, "\(password), rows of \(row)")
                }
                #expect(store.calls == (status == 200 ? 1 : 0))
            }
        }

        @Test func unknownTypeIsKeptAndNonsenseRefused() async throws {
            try await Notifications.withStore { store in
                try await TestServer.run(Self.configuration(), store: store) { server in
                    let bare =
                        #"{"notification_type":"NEW","environment":"PROD","bid":"\#(Signed.bundleId)","password":"new-secret"}"#
                    let answer = try await Wire.ask(server.port, Sent.post(bare, path: Self.path))
                    #expect(answer.status == 200)
                    let count = try await store.counts().notifications
                    #expect(count == 1)
                    let nonsense = [
                        "", "[]", "{}", #"{"password":"new-secret"}"#,
                        #"{"notification_type":"X","password":"new-secret","bid":"\#(Signed.bundleId)","latest_receipt_info":7}"#,
                    ]
                    for body in nonsense {
                        let answer = try await Wire.ask(server.port, Sent.post(body, path: Self.path))
                        #expect(answer.status == 400)
                    }
                }
            }
        }

        @Test func sharedSecretIsNotStored() throws {
            let object = try JSONValue.parse(Array(try Self.notification(password: "hush").utf8)).object
            let sets = [FactSet](notificationV1: try #require(object), mapping: nil, receipts: [], now: 0)
            let body = String(decoding: try #require(sets.first?.notification).body, as: UTF8.self)
            #expect(body.contains("DID_CHANGE_RENEWAL_STATUS") && !body.contains("hush"))
        }
    }
}
