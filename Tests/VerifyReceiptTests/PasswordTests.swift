import AppStoreModels
import LegacyReceipts
import Purchases
import ReceiptForge
import Testing
import TransactionStore
import VerifyReceipt

/// `password` (Reference.md V1.4).
@Suite struct PasswordTests {
    private func endpoint(
        secrets: [String] = ["s3cret"], account: [String] = [], store: (any TransactionStore)? = nil
    ) throws -> VerifyReceiptEndpoint {
        try testEndpoint(store: store) {
            $0.apps = [AppConfiguration(bundleId: bundleId, sharedSecrets: secrets.map { SharedSecret($0) })]
            $0.accountSecrets = account.map { SharedSecret($0) }
        }
    }

    @Test func withoutASecretEveryPasswordWillDo() async throws {
        let bytes = try appReceipt([month(0)])
        for password in [nil, "", "anything"] {
            #expect(try await endpoint(secrets: []).ask(body(bytes, password: password)).status == 0)
        }
    }

    @Test func aMissingPasswordWithAutoRenewablesIsAMismatch() async throws {
        let bytes = try appReceipt([month(0)])
        for password in [nil, ""] {
            let reply = try await endpoint().ask(body(bytes, password: password))
            #expect(
                String(decoding: reply.reply.body, as: UTF8.self) == #"{"status":21004,"environment":"Production"}"#)
        }
        #expect(try await endpoint().ask(body(bytes, #","password":null"#)).status == 21004)
    }

    @Test func aWrongPasswordIsAMismatch() async throws {
        let bytes = try appReceipt([month(0)])
        for password in ["S3cret", "s3cret ", "s3cre", "s3crett", "wrong"] {
            #expect(try await endpoint().ask(body(bytes, password: password)).status == 21004)
        }
        #expect(try await endpoint().ask(body(bytes, #","password":1"#)).status == 21004)
    }

    @Test func aWrongPasswordIsAMismatchWithoutAutoRenewablesToo() async throws {
        #expect(try await endpoint().ask(body(try appReceipt([nonConsumable]), password: "wrong")).status == 21004)
        #expect(try await endpoint().ask(body(try appReceipt(), password: "wrong")).status == 21004)
    }

    @Test func aMissingPasswordWithoutAutoRenewablesIsNone() async throws {
        #expect(try await endpoint().ask(body(try appReceipt([nonConsumable]))).status == 0)
    }

    @Test func severalSecretsAreValidAtOnce() async throws {
        let endpoint = try endpoint(secrets: ["old", "new"])
        let bytes = try appReceipt([month(0)])
        #expect(try await endpoint.ask(body(bytes, password: "old")).status == 0)
        #expect(try await endpoint.ask(body(bytes, password: "new")).status == 0)
        #expect(try await endpoint.ask(body(bytes, password: "newer")).status == 21004)
    }

    @Test func anAccountWideSecretIsValidForEveryApp() async throws {
        let bytes = try appReceipt([month(0)])
        #expect(try await endpoint(account: ["wide"]).ask(body(bytes, password: "wide")).status == 0)
        #expect(try await endpoint(secrets: [], account: ["wide"]).ask(body(bytes)).status == 21004)
        let other = try testEndpoint { $0.accountSecrets = [SharedSecret("wide")] }
        #expect(try await other.ask(body(bytes, password: "wide")).status == 0)
        #expect(try await other.ask(body(bytes, password: "narrow")).status == 21004)
    }

    @Test func theSecretOfAnotherAppIsAMismatch() async throws {
        let endpoint = try testEndpoint {
            $0.apps = [
                AppConfiguration(bundleId: bundleId, sharedSecrets: [SharedSecret("one")]),
                AppConfiguration(bundleId: "com.example.other", sharedSecrets: [SharedSecret("two")]),
            ]
        }
        #expect(try await endpoint.ask(body(try appReceipt([month(0)]), password: "two")).status == 21004)
    }

    @Test func escapesInThePasswordAreUndone() async throws {
        let endpoint = try endpoint(secrets: ["a/b\"é"])
        let bytes = try appReceipt([month(0)])
        #expect(try await endpoint.ask(body(bytes, password: #"a\/b\"\u00e9"#)).status == 0)
        #expect(try await endpoint.ask(body(bytes, password: #"a/b\"é"#)).status == 0)
    }

    /// The customer's data in the store is not returned without the secret either.
    @Test func aMissingPasswordIsAMismatchWhereTheStoreKnowsOfAutoRenewables() async throws {
        let store = MemoryStore()
        _ = try await store.apply([VerifyReceiptEndpoint.facts(of: appReceipt([month(0), nonConsumable]))])
        let old = try appReceipt([nonConsumable], at: created.adding(days: -10))
        #expect(try await endpoint(store: store).ask(body(old)).status == 21004)
        #expect(try await endpoint(store: store).ask(body(old, password: "s3cret")).latest?.count == 2)
    }

    /// A renewal whose transaction is not known is about a subscription all the same.
    @Test func aMissingPasswordIsAMismatchWhereTheStoreKnowsARenewalAlone() async throws {
        let token = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
        let scope = StoreScope(environment: .production, bundleId: bundleId)
        let bought = JWSTransactionDecodedPayload {
            $0.originalTransactionId = nonConsumable.transactionId
            $0.transactionId = nonConsumable.transactionId
            $0.bundleId = bundleId
            $0.productId = tree
            $0.purchaseDate = created.adding(days: -40).milliseconds
            $0.type = .nonConsumable
            $0.appAccountToken = token
            $0.signedDate = created.milliseconds
            $0.environment = .production
        }
        var renewal = JWSRenewalInfoDecodedPayload()
        renewal.originalTransactionId = "530001299999999"
        renewal.productId = monthly
        renewal.autoRenewStatus = .on
        renewal.appAccountToken = token
        renewal.signedDate = created.milliseconds
        let store = MemoryStore()
        _ = try await store.apply([
            FactSet(scope: scope, transactions: [TransactionFact(bought, source: .appStoreServerAPI)]),
            FactSet(scope: scope, renewalInfos: [RenewalInfoFact(renewal, source: .appStoreServerAPI)]),
        ])
        let bytes = try appReceipt([nonConsumable])
        #expect(try await endpoint(store: store).ask(body(bytes)).status == 21004)
        let reply = try await endpoint(store: store).ask(body(bytes, password: "s3cret"))
        #expect(reply.pending?.first?.text("auto_renew_status") == "1")
    }

    @Test func theSignatureIsCheckedBeforeThePassword() async throws {
        let bytes = damaged(try appReceipt([month(0)]))
        #expect(try await endpoint().ask(body(bytes, password: "wrong")).status == 21003)
    }

    @Test func aRefusedPasswordTeachesTheStoreNothing() async throws {
        let store = MemoryStore()
        _ = try await endpoint(store: store).ask(body(try appReceipt([month(0)]), password: "wrong"))
        #expect(try await store.counts().receipts == 0)
    }

    @Test func aTransactionReceiptWithoutAnEndIsAnsweredWithAnyPassword() async throws {
        let bytes = try transactionReceipt(subscription: false)
        for password in [nil, "wrong"] {
            #expect(try await endpoint().ask(body(bytes, password: password)).status == 0)
        }
    }

    @Test func aTransactionReceiptOfASubscriptionNeedsThePassword() async throws {
        let bytes = try transactionReceipt(subscription: true)
        let now = transactionDate.milliseconds + 1
        #expect(try await endpoint().ask(body(bytes), now: now).status == 21004)
        #expect(try await endpoint().ask(body(bytes, password: "wrong"), now: now).status == 21004)
        #expect(try await endpoint().ask(body(bytes, password: "s3cret"), now: now).status == 0)
    }

    @Test func aTransactionReceiptOfASubscriptionNeedsTheAccountWideSecretWhereThatIsTheOnlyOne() async throws {
        let bytes = try transactionReceipt(subscription: true)
        let now = transactionDate.milliseconds + 1
        let endpoints = [
            try testEndpoint { $0.accountSecrets = [SharedSecret("wide")] },
            try endpoint(secrets: [], account: ["wide"]),
        ]
        for endpoint in endpoints {
            #expect(try await endpoint.ask(body(bytes), now: now).status == 21004)
            #expect(try await endpoint.ask(body(bytes, password: "narrow"), now: now).status == 21004)
            #expect(try await endpoint.ask(body(bytes, password: "wide"), now: now).status == 0)
        }
        let both = try endpoint(secrets: ["s3cret"], account: ["wide"])
        #expect(try await both.ask(body(bytes, password: "wide"), now: now).status == 0)
        #expect(try await both.ask(body(bytes, password: "s3cret"), now: now).status == 0)
    }

    @Test func aSecretDoesNotShowItself() {
        let secret = SharedSecret("s3cret")
        #expect("\(secret)" == "SharedSecret(redacted)")
        #expect(String(reflecting: secret) == "SharedSecret(redacted)")
        var dumped = ""
        dump(AppConfiguration(bundleId: bundleId, sharedSecrets: [secret]), to: &dumped)
        #expect(!dumped.contains("s3cret") && !dumped.contains("digest"))
    }

    @Test func anEmptySecretMatchesNothing() async throws {
        let bytes = try appReceipt([month(0)])
        for password in ["", "anything"] {
            #expect(try await endpoint(secrets: [""]).ask(body(bytes, password: password)).status == 21004)
        }
    }
}
