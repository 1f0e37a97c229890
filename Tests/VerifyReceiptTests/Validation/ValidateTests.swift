import AppStoreModels
import LegacyReceipts
import ProductCatalog
import Purchases
import ReceiptForge
import TestSupport
import Testing
import TransactionStore
import VerifyReceipt

/// Requests of cordova-plugin-purchase, and the frame of the answer.
@Suite struct ValidateTests {
    @Test func itIsOffUntilTheAppTurnsItOn() async throws {
        let request = try validation(of: appReceipt())
        #expect(try await validatingEndpoint().ask(validation: request).isOK)
        let others = try [
            testEndpoint(), testEndpoint { $0.apps = [AppConfiguration(bundleId: bundleId)] },
            validatingEndpoint { $0.apps[0].bundleId = "com.example.other" },
        ]
        for endpoint in others {
            let answer = try await endpoint.ask(validation: request)
            // Not a verdict: the plugin reports a failed communication.
            #expect(answer.reply.httpStatus == 404 && answer.code == 6_777_014)
        }
        #expect(!others[0].answersValidations && !others[1].answersValidations)
        #expect(try validatingEndpoint().answersValidations)
    }

    @Test func anApplicationIsAnsweredWithItsReceiptAndItsPurchases() async throws {
        let receipt = try appReceipt([month(2), nonConsumable])
        let answer = try await validatingEndpoint().ask(
            validation: validation(of: receipt), now: created.adding(days: 1).milliseconds)
        let keys = ["id", "latest_receipt", "transaction", "collection", "ineligible_for_intro_price", "date"]
        #expect(answer.data?.keys == keys)
        #expect(answer.data?.text("id") == bundleId)
        // The subscription is current, so its own product has no introductory offer, although its group is unknown.
        #expect(answer.data?["ineligible_for_intro_price"]?.array?.compactMap(\.string) == [monthly])
        #expect(answer.data?.text("date") == "2024-03-16T10:20:30Z")
        // As `receipt` of the reply to the same receipt, and the type.
        let reply = try await testEndpoint().ask(body(receipt), now: created.adding(days: 1).milliseconds)
        let expected = try unwrap(reply.receipt)
        #expect(answer.transaction?.keys == ["type"] + expected.keys)
        #expect(answer.transaction?.text("type") == "ios-appstore")
        for key in expected.keys { #expect(answer.transaction?[key] == expected[key], "\(key)") }
        #expect(answer.collection.compactMap { $0.text("id") } == [monthly, tree].sorted())
        let facts = answer.reply.facts
        #expect(facts.receiptName?.count == 12 && facts.bundleId == bundleId && facts.isConfiguredApp)
        #expect(facts.verificationNanoseconds > 0)
    }

    @Test func aProductIsAnsweredUnderItsOwnId() async throws {
        let receipt = try appReceipt([nonConsumable])
        let answer = try await validatingEndpoint().ask(
            validation: validation(of: receipt, id: tree, type: "non consumable"))
        #expect(answer.isOK && answer.data?.text("id") == tree)
        for id in ["com.example.orchard.never.bought", "com.example.other", "x\\u0000\\\"<script>"] {
            let other = try await validatingEndpoint().ask(
                validation: validation(of: receipt, id: id, type: "non consumable"))
            #expect(other.code == 6_777_012 && other.reply.httpStatus == 200)
        }
    }

    @Test func theApplicationMustBeTheReceipts() async throws {
        let answer = try await validatingEndpoint().ask(
            validation: validation(of: appReceipt(), id: "com.example.other"))
        #expect(answer.code == 6_777_012)
        #expect(try await validatingEndpoint().ask(validation: validation(of: appReceipt(), id: "")).code == 6_777_012)
    }

    @Test(arguments: [
        "application", "paid subscription", "non renewing subscription", "consumable", "non consumable", "?",
    ])
    func theTypeChangesNothingAboutTheApplication(_ type: String) async throws {
        let answer = try await validatingEndpoint().ask(validation: validation(of: appReceipt([month(0)]), type: type))
        #expect(answer.isOK)
    }

    /// Nothing proves the user that a request names, so nothing is concluded from it.
    @Test(arguments: [
        #","additionalData":{"applicationUsername":"me","obfuscatedUsername":"7e57a11c-0000-4000-8000-00000000f06e"}"#,
        #","additionalData":{"applicationUsername":17}"#, #","additionalData":null"#,
        #","device":{"plugin":"13"},"offers":[[[{"id":1}]]],"products":{"id":"com.example.other"},"license":false"#,
    ])
    func membersThatDecideNothingAreSkipped(_ more: String) async throws {
        let receipt = try appReceipt([nonConsumable])
        let plain = try await validatingEndpoint().ask(validation: validation(of: receipt))
        let answer = try await validatingEndpoint().ask(validation: validation(of: receipt, more))
        #expect(answer.isOK && answer.reply.body == plain.reply.body)
    }

    /// The plugin sends the newest transaction id, the bundle id or a product id. Only the document says what was bought.
    @Test(arguments: [#""530001234569999""#, #""com.example.other""#, "7", "null"])
    func theIdOfTheTransactionDecidesNothing(_ id: String) async throws {
        let receipt = try appReceipt([nonConsumable])
        let plain = try await validatingEndpoint().ask(validation: validation(of: receipt))
        let transaction = #"{"id":\#(id),"type":"ios-appstore","appStoreReceipt":"\#(base64(receipt))"}"#
        let answer = try await validatingEndpoint().ask(validation: validation(transaction: transaction))
        #expect(answer.isOK && answer.reply.body == plain.reply.body)
    }

    @Test func membersOfAnySizeAreSkipped() async throws {
        let more =
            #","products":["# + Array(repeating: #"{"id":"a","offers":[]}"#, count: 20_000).joined(separator: ",") + "]"
        #expect(try await validatingEndpoint().ask(validation: validation(of: appReceipt(), more)).isOK)
    }

    @Test func escapesInTheReceiptAreRead() async throws {
        let text = try base64(appReceipt()).replacing("/", with: "\\/")
        let transaction = #"{"\u0074ype":"ios-appstore","appStoreReceipt":"\#(text)"}"#
        #expect(text.contains("\\/"))
        #expect(try await validatingEndpoint().ask(validation: validation(transaction: transaction)).isOK)
    }

    // MARK: latest_receipt and warning

    @Test func theStoreMakesTheStateTheLatest() async throws {
        let store = MemoryStore()
        let (old, new) = (try appReceipt([month(0)]), try appReceipt([month(0), month(1), month(2)]))
        _ = try await store.apply([VerifyReceiptEndpoint.facts(of: new)])
        let answer = try await validatingEndpoint(store: store).ask(validation: validation(of: old))
        #expect(answer.data?["latest_receipt"] == .bool(true) && answer.data?["warning"] == nil)
        #expect(answer.purchase(monthly)?["expiryDate"]?.integer == created.adding(months: 1).milliseconds)
        #expect(answer.reply.facts.transactionsFromStore == 2)
        let alone = try await validatingEndpoint().ask(validation: validation(of: old))
        #expect(alone.data?["latest_receipt"] == .bool(false) && alone.data?["warning"] == nil)
        #expect(alone.purchase(monthly)?["expiryDate"]?.integer == created.adding(months: -1).milliseconds)
    }

    @Test func aValidatedReceiptIsStored() async throws {
        let store = MemoryStore()
        #expect(
            try await validatingEndpoint(store: store).ask(
                validation: validation(of: appReceipt([month(0), month(1)]))
            ).isOK)
        let reply = try await testEndpoint(store: store).ask(body(appReceipt([month(0)])))
        #expect(reply.latest?.count == 2)
    }

    @Test func anAnswerWithoutTheStoreWarns() async throws {
        let store = FailingStore(reading: TransactionStoreError(.unavailable, "on purpose"))
        let answer = try await validatingEndpoint(store: store) { $0.whenStoreFails = .receiptOnly }
            .ask(validation: validation(of: appReceipt([month(0)])))
        #expect(answer.isOK && answer.data?["latest_receipt"] == .bool(false))
        #expect(answer.data?.text("warning")?.contains("store") == true)
    }

    @Test func anAnswerWithoutTheAppStoreWarns() async throws {
        let freshness = Freshness(source: .appStore, maximumAge: 3_600_000)
        let answer = try await validatingEndpoint(store: MemoryStore()) {
            $0.freshness = freshness
            $0.customerRefresher = AbsentAppStore()
        }.ask(validation: validation(of: appReceipt([month(0)])))
        #expect(answer.isOK && answer.data?["latest_receipt"] == .bool(false))
        #expect(answer.data?.text("warning")?.contains("App Store") == true)
    }

    struct AbsentAppStore: CustomerRefreshing {
        struct Away: Error {}

        func refresh(
            originalTransactionIds: [String], identities: [CustomerIdentity], scope: StoreScope, notBefore: Int64
        ) async throws -> RefreshedPurchases { throw Away() }
    }
}
