import AppStoreModels
import Encodings
import Foundation
import LegacyReceipts
import Migration
import Purchases
import ReceiptForge
import SQLiteTransactionStore
import SharedReceipts
import Synchronization
import TestSupport
import Testing

/// What backends stored after verifyReceipt: JWS of StoreKit 2 and the App Store Server API, notifications of version 2, and
/// decoded StoreKit 2 JSON.
struct StoreKit2Tests {
    /// 2025-06-01T00:00:00Z.
    private static let date: Int64 = 1_748_736_000_000
    private static let bundleId = "com.example.orchard"
    private static let authority = TestSignedDataAuthority.standard

    private static func json(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return [UInt8](try encoder.encode(value))
    }

    private static func object(_ value: some Encodable) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(json(value))) as? [String: Any])
    }

    private static func transaction(
        _ change: (inout JWSTransactionDecodedPayload) -> Void = { _ in }
    ) -> JWSTransactionDecodedPayload {
        var payload = JWSTransactionDecodedPayload {
            $0.originalTransactionId = "2000000000000001"
            $0.transactionId = "2000000000000002"
            $0.bundleId = bundleId
            $0.productId = "com.example.orchard.apple"
            $0.subscriptionGroupIdentifier = "21000001"
            $0.purchaseDate = date - 5_000
            $0.originalPurchaseDate = date - 86_400_000
            $0.expiresDate = date + 86_400_000
            $0.quantity = 1
            $0.type = .autoRenewableSubscription
            $0.inAppOwnershipType = .purchased
            $0.signedDate = date
            $0.environment = .sandbox
            $0.storefront = "USA"
            $0.transactionReason = .renewal
            $0.currency = "USD"
            $0.price = 4_990
        }
        change(&payload)
        return payload
    }

    private static let renewalInfo = JWSRenewalInfoDecodedPayload {
        $0.originalTransactionId = "2000000000000001"
        $0.autoRenewProductId = "com.example.orchard.apple"
        $0.productId = "com.example.orchard.apple"
        $0.autoRenewStatus = .on
        $0.signedDate = date
        $0.environment = .sandbox
    }

    private static let appTransaction = AppTransaction {
        $0.receiptType = .sandbox
        $0.bundleId = bundleId
        $0.applicationVersion = "2.1"
        $0.receiptCreationDate = date
        $0.originalPurchaseDate = date - 86_400_000
        $0.originalApplicationVersion = "1.0"
        $0.appTransactionId = "700000000000001"
    }

    private static func sign(_ value: some Encodable) throws -> String { try authority.sign(payload: json(value)) }

    private static func notification(_ change: (inout ResponseBodyV2DecodedPayload) -> Void = { _ in }) throws -> String
    {
        var payload = try ResponseBodyV2DecodedPayload {
            $0.notificationType = .didRenew
            $0.notificationUUID = "002e14d5-51f5-4503-b5a8-c3a1af68eb20"
            $0.data = try NotificationData {
                $0.environment = .sandbox
                $0.bundleId = bundleId
                $0.signedTransactionInfo = try sign(transaction())
                $0.signedRenewalInfo = try sign(renewalInfo)
                $0.status = .active
            }
            $0.version = "2.0"
            $0.signedDate = date
        }
        change(&payload)
        return try sign(payload)
    }

    private struct Result {
        var transactions: [JSONValue]
        var renewals: [JSONValue]
        var apps: [JSONValue]
        var quarantine: [JSONValue]
        var summary: MigrationSummary
        /// What a migration into a store stores, and what it quarantines of a record.
        var facts: [FactSet]
        var documentsQuarantined: [String: Int]

        var reasons: [String] { quarantine.compactMap { $0["reason"]?.string } }
        var kinds: [String] { quarantine.compactMap { $0["source"]?["kind"]?.string } }
    }

    private func migrate(_ document: Any, options change: (inout MigrationOptions) -> Void = { _ in }) async throws
        -> Result
    {
        try await migrate(
            text: (document as? String).map { [UInt8]($0.utf8) }
                ?? [UInt8](JSONSerialization.data(withJSONObject: document)), options: change)
    }

    private func migrate(text: [UInt8], options change: (inout MigrationOptions) -> Void = { _ in }) async throws
        -> Result
    {
        let folder = try TemporaryFolder()
        let input = try folder.write("input.json", text)
        var options = MigrationOptions(
            trust: TrustPolicy(
                additionalRoots: [Self.authority.rootCertificate, try TestCertificateAuthority.rootDER]))
        change(&options)
        let output = folder.url.appending(path: "output")
        let summary = try await streamRecords(options, inputs: [input], to: output.path)
        let store = StoreMigrationTests.Stopping(
            try SQLiteTransactionStore.open(path: folder.file("store")), at: .max, commits: true)
        let stored = try await StoreMigration(options: StoreMigration.Options(migration: options, date: Self.date))
            .run(inputs: [input], into: store)
        try await store.store.close()
        func lines(_ name: String) throws -> [JSONValue] {
            try [UInt8](Data(contentsOf: output.appending(path: name))).split(separator: 0x0A).map {
                try JSONValue.parse($0)
            }
        }
        return Result(
            transactions: try lines("transactions.ndjson"), renewals: try lines("renewal-infos.ndjson"),
            apps: try lines("app-transactions.ndjson"), quarantine: try lines("quarantine.ndjson"), summary: summary,
            facts: store.facts.withLock { $0 },
            documentsQuarantined: stored.records.documentsQuarantinedByReason)
    }

    // MARK: Signed

    @Test("A signed transaction is migrated with every field from the JWS, long after its leaf certificate has expired")
    func signedTransaction() async throws {
        let result = try await migrate(try Self.sign(Self.transaction()))
        try #require(result.transactions.count == 1)
        let line = result.transactions[0]
        #expect(line["transaction"]?["price"]?.integer == 4_990)
        #expect(line["transaction"]?["transactionId"]?.string == "2000000000000002")
        #expect(line["provenance"]?["price"]?.string == "StoreKit 2 JWS")
        #expect(line["provenance"]?["bundleId"]?.string == "StoreKit 2 JWS")
        #expect(line["standing"]?.string == "verifiedJWS")
        #expect(line["asOf"]?.integer == Self.date && line["asOfKind"]?.string == "signed")
        #expect(line["source"]?["kind"]?.string == "signedTransaction")
        #expect(result.summary.migratedByKind == ["signedTransaction": 1])
        #expect(result.summary.migratedByEnvironment == ["Sandbox": 1])
    }

    @Test("A version 2 notification gives its transaction and its renewal info, as an object or as the bare JWS")
    func notifications() async throws {
        let jws = try Self.notification()
        for record: Any in [jws, ["signedPayload": jws, "user": 7] as [String: Any]] {
            let result = try await migrate(record)
            #expect(result.transactions.count == 1 && result.renewals.count == 1 && result.quarantine.isEmpty)
            #expect(result.renewals.first?["provenance"]?["autoRenewStatus"]?.string == "StoreKit 2 JWS")
            #expect(result.renewals.first?["standing"]?.string == "verifiedJWS")
            #expect(result.summary.migratedByKind == ["notificationV2": 1])
            let facts = result.facts
            try #require(facts.count == 1)
            #expect(facts[0].notification?.notificationUUID == "002e14d5-51f5-4503-b5a8-c3a1af68eb20")
            #expect(facts[0].transactions.count == 1 && facts[0].renewalInfos.count == 1)
            #expect(facts[0].transactions.first?.origin.source == .notificationV2)
        }
    }

    @Test("Answers of the App Store Server API give every JWS in them")
    func answers() async throws {
        let (transaction, renewal) = (try Self.sign(Self.transaction()), try Self.sign(Self.renewalInfo))
        let other = try Self.sign(Self.transaction { $0.transactionId = "2000000000000003" })
        let history = try await migrate(
            ["signedTransactions": [transaction, other], "revision": "r", "hasMore": false, "bundleId": Self.bundleId])
        #expect(history.transactions.count == 2 && history.quarantine.isEmpty)
        #expect(history.transactions[0]["record"]?["revision"]?.string == "r")
        let statuses: [String: Any] = [
            "environment": "Sandbox", "bundleId": Self.bundleId,
            "data": [
                [
                    "subscriptionGroupIdentifier": "21000001",
                    "lastTransactions": [
                        [
                            "originalTransactionId": "2000000000000001", "status": 1,
                            "signedTransactionInfo": transaction, "signedRenewalInfo": renewal,
                        ]
                    ],
                ]
            ],
        ]
        for record: Any in [statuses, ["response": statuses]] {
            let result = try await migrate(record)
            #expect(result.transactions.count == 1 && result.renewals.count == 1 && result.quarantine.isEmpty)
            #expect(result.summary.migratedByKind == ["signedTransaction": 1])
        }
        let app = try await migrate(["signedAppTransactionInfo": try Self.sign(Self.appTransaction)])
        #expect(app.apps.count == 1)
        #expect(app.apps.first?["provenance"]?["originalApplicationVersion"]?.string == "StoreKit 2 JWS")
        #expect(app.apps.first?["asOf"]?.integer == Self.date)
        #expect(app.summary.migratedByKind == ["signedAppTransaction": 1])
    }

    @Test("The facts of a record: a set for each subscription, with its renewal info, and one for the app transaction")
    func facts() async throws {
        let other = Self.transaction {
            $0.originalTransactionId = "2000000000000009"
            $0.transactionId = "2000000000000009"
        }
        let result = try await migrate([
            "signedTransactions": [try Self.sign(Self.transaction()), try Self.sign(other)],
            "signedRenewalInfo": try Self.sign(Self.renewalInfo),
            "signedAppTransactionInfo": try Self.sign(Self.appTransaction),
        ])
        let facts = result.facts
        #expect(facts.count == 3)
        #expect(facts.count { $0.appTransaction != nil } == 1)
        #expect(facts.filter { !$0.renewalInfos.isEmpty }.map { $0.transactions.count } == [1])
        #expect(facts.allSatisfy { $0.scope == StoreScope(environment: .sandbox, bundleId: Self.bundleId) })
    }

    @Test(
        "A wrapper of a client library gives the JWS in it",
        arguments: [
            "serverVerificationData", "jwsRepresentation", "jwsRepresentationIos", "purchaseToken",
            "transactionReceipt",
        ])
    func wrappers(name: String) async throws {
        let result = try await migrate([
            name: try Self.sign(Self.transaction()), "productId": "com.example.orchard.apple",
            "transactionId": "2000000000000002", "transactionDate": Self.date, "platform": "ios", "store": "apple",
        ])
        #expect(result.transactions.count == 1 && result.quarantine.isEmpty)
        #expect(result.transactions.first?["standing"]?.string == "verifiedJWS")
        #expect(result.transactions.first?["record"]?["transactionDate"]?.integer == Self.date)
    }

    @Test("Flutter's serverVerificationData may be StoreKit 2 JSON, which is recorded evidence")
    func flutter() async throws {
        let text = String(decoding: try Self.json(Self.transaction()), as: UTF8.self)
        let result = try await migrate(["verificationData": ["serverVerificationData": text, "source": "app_store"]])
        #expect(result.transactions.first?["standing"]?.string == "recorded")
        #expect(result.summary.migratedByKind == ["storeKit2JSON": 1])
    }

    // MARK: Refused

    @Test("A JWS that does not hold is quarantined as what it is, with the reason")
    func forged() async throws {
        let genuine = try Self.sign(Self.transaction())
        let parts = genuine.split(separator: ".").map(String.init)
        let changed = ForgedSignedPayload.base64URL(try Self.json(Self.transaction { $0.quantity = 9 }))
        let result = try await migrate("\(parts[0]).\(changed).\(parts[2])")
        #expect(result.reasons == ["jwsSignatureMismatch"] && result.kinds == ["signedTransaction"])
        #expect(result.quarantine.first?["verdict"]?.string == "notGenuine")
        #expect(result.quarantine.first?["message"]?.string?.hasPrefix("The signed transaction is not valid.") == true)
        #expect(result.transactions.isEmpty && result.facts.isEmpty)
        // The root of the receipts' test authority is none of it.
        let untrusted = try await migrate(genuine) { $0.trust = .apple }
        #expect(untrusted.reasons == ["jwsUntrustedRoot"])
    }

    @Test("A notification is refused as a whole if a JWS in it does not hold, and its message names the member")
    func forgedInside() async throws {
        let foreign = try TestSignedDataAuthority.foreign().sign(payload: Self.json(Self.transaction()))
        let result = try await migrate([
            "signedPayload": try Self.notification { $0.data?.signedTransactionInfo = foreign }
        ])
        #expect(result.reasons == ["jwsUntrustedRoot"] && result.kinds == ["notificationV2"])
        #expect(result.quarantine.first?["message"]?.string?.contains("data.signedTransactionInfo") == true)
    }

    @Test("Of several JWS in a record, only the one that does not hold is quarantined")
    func partlyForged() async throws {
        let genuine = try Self.sign(Self.transaction())
        let foreign = try TestSignedDataAuthority.foreign().sign(payload: Self.json(Self.renewalInfo))
        let result = try await migrate(["signedTransactionInfo": genuine, "signedRenewalInfo": foreign])
        #expect(result.transactions.count == 1 && result.renewals.isEmpty)
        #expect(result.reasons == ["jwsUntrustedRoot"] && result.kinds == ["signedRenewalInfo"])
        #expect(result.quarantine.first?["source"]?["path"]?.string == "signedRenewalInfo")
        #expect(result.summary.documentsQuarantined == 1)
    }

    @Test("A JWS without x5c is another token, and one with another payload is no document")
    func otherTokens() async throws {
        func base64(_ text: String) -> String { ForgedSignedPayload.base64URL(Array(text.utf8)) }
        let google = "\(base64(#"{"alg":"RS256","kid":"1"}"#)).\(base64(#"{"sub":"1","iss":"other"}"#)).AAAA"
        let result = try await migrate(google)
        #expect(result.reasons == ["jwsOtherToken"] && result.kinds == ["otherJWS"])
        #expect(result.quarantine.first?["verdict"]?.string == "notAReceipt")
        let other = try await migrate(try Self.authority.sign(payload: Array(#"{"sub":"1"}"#.utf8)))
        #expect(other.reasons == ["jwsOtherPayload"])
        let claims = String(decoding: try Self.json(Self.transaction()), as: UTF8.self)
        let unsigned = try await migrate("\(base64(#"{"alg":"ES256"}"#)).\(base64(claims)).AAAA")
        #expect(unsigned.reasons == ["jwsOtherToken"])
    }

    @Test(
        "A JWS of Xcode is refused unless the trust options accept it", arguments: [Environment.xcode, .localTesting])
    func xcode(environment: Environment) async throws {
        let jws = try Self.sign(Self.transaction { $0.environment = environment })
        #expect(try await migrate(jws).reasons == ["jwsXcodeNotAccepted"])
        let accepted = try await migrate(jws) { $0.trust.acceptsXcodeReceipts = true }
        #expect(accepted.transactions.count == 1 && accepted.quarantine.isEmpty)
    }

    @Test("A JWS of another app or environment than the requested ones is kept out")
    func filters() async throws {
        let jws = try Self.sign(Self.transaction())
        #expect(try await migrate(jws) { $0.bundleIds = ["com.example.other"] }.reasons == ["otherBundleId"])
        #expect(try await migrate(jws) { $0.environments = [.production] }.reasons == ["otherEnvironment"])
    }

    @Test("Hostile JWS are quarantined: a megabyte, a thousand certificates, deep JSON")
    func hostile() async throws {
        let genuine = try Self.sign(Self.transaction())
        let long = try await migrate(genuine + String(repeating: "A", count: 1 << 20))
        #expect(long.reasons == ["jwsTooLong"])
        var many = Self.authority.signedPayload(try Self.json(Self.transaction()))
        many.certificates = Array(repeating: [0x30, 0x00], count: 1_000)
        #expect(try await migrate(try many.text()).reasons == ["jwsCertificateCount"])
        let deep = String(repeating: "[", count: 50_000) + String(repeating: "]", count: 50_000)
        let nested = "{\"transactionId\":\(deep)}"
        #expect(
            try await migrate(try Self.authority.sign(payload: Array(nested.utf8))).reasons == ["jwsMalformedPayload"])
        #expect(try await migrate(nested).quarantine.count == 1)
    }

    // MARK: Unsigned

    @Test("Decoded StoreKit 2 JSON is recorded evidence: never signed, and quarantined by --signed-only")
    func unsigned() async throws {
        var object = try Self.object(Self.transaction())
        object["userId"] = "u1"
        let result = try await migrate(object)
        try #require(result.transactions.count == 1)
        let line = result.transactions[0]
        #expect(line["standing"]?.string == "recorded")
        #expect(line["provenance"]?["price"]?.string == "recorded StoreKit 2 JSON")
        #expect(line["asOfKind"]?.string == "recorded" && line["asOf"]?.integer == Self.date)
        #expect(line["record"]?["userId"]?.string == "u1" && line["record"]?["price"] == nil)
        #expect(
            result.facts.first?.transactions.first?.origin
                == FactOrigin(source: .recordedStoreKit2, signedDate: Self.date))
        let refused = try await migrate(object) { $0.acceptsRecorded = false }
        #expect(refused.reasons == ["recordedNotAccepted"] && refused.kinds == ["storeKit2JSON"])
        #expect(refused.facts.isEmpty)
    }

    @Test("Decoded renewal info and app transactions are recorded evidence")
    func unsignedParts() async throws {
        let renewal = try await migrate(try Self.object(Self.renewalInfo))
        #expect(renewal.renewals.first?["standing"]?.string == "recorded")
        #expect(renewal.renewals.first?["provenance"]?["autoRenewStatus"]?.string == "recorded StoreKit 2 JSON")
        let app = try await migrate(try Self.object(Self.appTransaction))
        #expect(app.apps.first?["standing"]?.string == "recorded")
    }

    @Test("Members of bundles, whose JSON Apple does not document, stay with decoded StoreKit 2 JSON")
    func undocumentedMembers() async throws {
        var object = try Self.object(Self.transaction())
        object["bundleProductID"] = "com.example.orchard.bundle"
        object["bundleTransactionId"] = "7"
        object["userId"] = "u1"
        let result = try await migrate(object)
        let line = try #require(result.transactions.first)
        #expect(line["transaction"]?["bundleProductID"]?.string == "com.example.orchard.bundle")
        #expect(line["record"]?["userId"]?.string == "u1" && line["record"]?["bundleProductID"] == nil)
        let stored = result.facts.first?.transactions.first?.payload
        #expect(stored?.unknownMembers.names == ["bundleProductID", "bundleTransactionId"])

        var app = try Self.object(Self.appTransaction)
        app["revocationDate"] = Int(Self.date)
        let facts = try await migrate(app).facts
        #expect(facts.first?.appTransaction?.payload.unknownMembers.names == ["revocationDate"])
    }

    @Test("A signed app transaction without an id is quarantined, also beside one of the same app that has one")
    func unnamedSignedApp() async throws {
        var unnamed = Self.appTransaction
        unnamed.appTransactionId = nil
        let record = ["new": try Self.sign(Self.appTransaction), "old": try Self.sign(unnamed)]
        let result = try await migrate(record)
        #expect(result.facts.count { $0.appTransaction != nil } == 1)
        #expect(result.documentsQuarantined == ["notFiled": 1])
    }

    @Test("Decoded app transactions are filed by their id; those without one by what they state")
    func unsignedApps() async throws {
        let signed = try Self.sign(Self.transaction())
        var unnamed = Self.appTransaction
        unnamed.appTransactionId = nil
        for (app, kind) in [(Self.appTransaction, CustomerIdentity.Kind.appTransactionId), (unnamed, .receiptDigest)] {
            let result = try await migrate(["jws": signed, "app": try Self.object(app)])
            #expect(result.documentsQuarantined.isEmpty)
            let filed = result.facts.filter { $0.appTransaction != nil }
            #expect(filed.flatMap(\.identities).map(\.kind) == [kind])
            #expect(filed.first?.appTransaction?.origin.source == .recordedStoreKit2)
        }
    }

    @Test("A reply without purchases gives the customer of a JWS beside it the receipt type, which no JWS states")
    func receiptTypeBesideSignedApp() async throws {
        let customer = [CustomerIdentity(.appTransactionId, "700000000000001")]
        let types: [(type: String?, customers: [[CustomerIdentity]])] = [
            ("ProductionVPPSandbox", [customer, customer]), (nil, [customer]),
        ]
        for (type, customers) in types {
            let result = try await migrate(try Self.recordOfDownload("1.0", type))
            let apps = result.facts.filter { $0.appTransaction != nil }
            #expect(apps.map(\.identities) == customers)
            #expect(apps.compactMap { $0.appTransaction?.legacy?.receiptType } == [type].compactMap(\.self))
            #expect(result.summary.quarantined == 0 && result.documentsQuarantined.isEmpty)
        }
        // A reply that contradicts the JWS may be of another customer.
        let other = try await migrate(try Self.recordOfDownload("0.9", "ProductionVPPSandbox"))
        let kinds = other.facts.filter { $0.appTransaction != nil }.flatMap(\.identities).map(\.kind)
        #expect(kinds == [.appTransactionId, .receiptDigest])
    }

    /// A signed app transaction, and a reply without purchases.
    @inline(never)
    private static func recordOfDownload(_ version: String, _ receiptType: String?) throws -> [String: Any] {
        var receipt: [String: Any] = [
            "bundle_id": bundleId, "original_application_version": version, "in_app": [] as [Any],
        ]
        receipt["receipt_type"] = receiptType
        let reply: [String: Any] = ["status": 0, "environment": "Sandbox", "receipt": receipt]
        return ["app": try sign(appTransaction), "reply": reply]
    }

    @Test("Decoded app transactions and renewal info that a store cannot file are quarantined, not dropped")
    func unsignedPartsOfAStore() async throws {
        let signed = try Self.sign(Self.transaction())
        var xcode = Self.appTransaction
        xcode.receiptType = .xcode
        let app = try await migrate(["jws": signed, "app": try Self.object(xcode)])
        #expect(app.facts.count == 1 && app.documentsQuarantined == ["notFiled": 1])
        let renewal = try await migrate(["jws": signed, "renewal": try Self.object(Self.renewalInfo)])
        let filed = renewal.facts.flatMap(\.renewalInfos).count
        #expect(filed + (renewal.documentsQuarantined["notFiled"] ?? 0) == 1)
    }

    @Test("Ids that a caller decoded to numbers are ids, and a revocation in decoded JSON is explained")
    func unsignedForms() async throws {
        var object = try Self.object(
            Self.transaction {
                $0.revocationDate = Self.date - 1_000
                $0.revocationReason = .issueWithinApp
            })
        object["transactionId"] = 2_000_000_000_000_002
        let result = try await migrate(object)
        let line = try #require(result.transactions.first)
        #expect(line["transaction"]?["transactionId"]?.string == "2000000000000002")
        #expect(line["transaction"]?["revocationDate"]?.integer == Self.date - 1_000)
        #expect(line["notes"] == nil)
    }

    @Test("A date 0 in decoded JSON is none: a purchase with it is not revoked")
    func zeroDates() async throws {
        var object = try Self.object(Self.transaction())
        object["revocationDate"] = 0
        object["expiresDate"] = 0
        let result = try await migrate(object)
        let transaction = try #require(result.transactions.first?["transaction"])
        #expect(transaction["revocationDate"] == nil && transaction["expiresDate"] == nil)
        #expect(transaction["purchaseDate"]?.integer == Self.date - 5_000)
    }

    @Test("Decoded JSON with a date in seconds is quarantined", arguments: [1_709_287_200, 730_980_000])
    func seconds(date: Int) async throws {
        var object = try Self.object(Self.transaction())
        object["purchaseDate"] = date
        let result = try await migrate(object)
        #expect(result.reasons == ["malformedStoreKit2JSON"] && result.transactions.isEmpty)
        #expect(result.quarantine.first?["message"]?.string?.contains("purchaseDate is not in milliseconds") == true)
    }

    @Test("Decoded JSON with a value of another type is quarantined")
    func malformedJSON() async throws {
        var object = try Self.object(Self.transaction())
        object["quantity"] = "many"
        let result = try await migrate(object)
        #expect(result.reasons == ["malformedStoreKit2JSON"] && result.kinds == ["storeKit2JSON"])
        #expect(result.quarantine.first?["message"]?.string?.contains("quantity") == true)
    }

    // MARK: Together

    @Test("A JWS and its decoded JSON in one record are one transaction, confirmed by the signed one")
    func confirmed() async throws {
        let jws = try Self.sign(Self.transaction())
        let result = try await migrate(["jwsRepresentation": jws, "decoded": try Self.object(Self.transaction())])
        try #require(result.transactions.count == 1)
        #expect(
            result.transactions[0]["source"]?["confirmedBy"]?.string == Fingerprint(of: Array(jws.utf8)).description)
        #expect(result.transactions[0]["provenance"]?["price"]?.string == "StoreKit 2 JWS")
        #expect(result.summary.confirmedByEmbeddedReceipt == 1)
        #expect(result.summary.migratedByKind == ["signedTransaction": 1])
        let signedOnly = try await migrate(
            ["jwsRepresentation": jws, "decoded": try Self.object(Self.transaction())]
        ) { $0.acceptsRecorded = false }
        #expect(signedOnly.transactions.map { $0["standing"]?.string } == ["verifiedJWS"])
    }

    @Test("Decoded JSON that contradicts the JWS beside it is noted, and stored nowhere")
    func contradicted() async throws {
        let changed = try Self.object(Self.transaction { $0.expiresDate = 4_102_444_800_000 })
        let result = try await migrate(["jws": try Self.sign(Self.transaction()), "decoded": changed])
        try #require(result.transactions.count == 2)
        #expect(result.transactions[0]["notes"]?.array?.contains(.string("contradictsSignedReceipt")) == true)
        #expect(result.transactions[1]["standing"]?.string == "verifiedJWS")
        #expect(result.facts.flatMap(\.transactions).allSatisfy { $0.origin.source != .recordedStoreKit2 })
    }

    @Test("Decoded JSON that is older than the revocation in the JWS is confirmed, and the revocation stands")
    func older() async throws {
        let revoked = try Self.sign(
            Self.transaction {
                $0.signedDate = Self.date + 5_000
                $0.revocationDate = Self.date + 1_000
                $0.revocationReason = .issueWithinApp
            })
        let result = try await migrate(["jws": revoked, "decoded": try Self.object(Self.transaction())])
        try #require(result.transactions.count == 1)
        #expect(result.transactions[0]["transaction"]?["revocationDate"]?.integer == Self.date + 1_000)
    }

    @Test("Two decoded states of one transaction are one line, in the newer state, in any order")
    func merged() async throws {
        let old = try Self.object(Self.transaction())
        let new = try Self.object(
            Self.transaction {
                $0.signedDate = Self.date + 5_000
                $0.revocationDate = Self.date + 1_000
            })
        for order in [[old, new], [new, old]] {
            let result = try await migrate(["transactions": order])
            #expect(result.transactions.count == 1)
            #expect(result.transactions.first?["transaction"]?["revocationDate"]?.integer == Self.date + 1_000)
            #expect(result.transactions.first?["notes"]?.array?.contains(.string("mergedRows")) == true)
        }
    }

    @Test(
        "A receipt and a JWS of one purchase are one transaction: the JWS states the fields, the receipt is no second line"
    )
    func receiptBeside() async throws {
        let bought = ForgedInstant(2023, 8, 1)
        let coins = ForgedPurchase(.consumable, product: "coins", id: "530000000000001", at: bought)
        let receipt = ForgedAppReceipt.production(bundleId: Self.bundleId, created: ForgedInstant(2023, 9, 1))
            .with { $0.purchases = [coins] }
        let jws = try Self.sign(
            JWSTransactionDecodedPayload {
                $0.originalTransactionId = "530000000000001"
                $0.transactionId = "530000000000001"
                $0.bundleId = Self.bundleId
                $0.productId = "coins"
                $0.purchaseDate = 1_690_848_000_000
                $0.originalPurchaseDate = 1_690_848_000_000
                $0.quantity = 1
                $0.type = .consumable
                $0.inAppOwnershipType = .purchased
                $0.signedDate = Self.date
                $0.environment = .production
                $0.currency = "EUR"
                $0.price = 990
            })
        let result = try await migrate([
            "receipt-data": Base64.encode(try receipt.signedData(.g5).encoded()), "transactionJws": jws,
        ])
        try #require(result.transactions.count == 1)
        #expect(result.transactions[0]["standing"]?.string == "verifiedJWS")
        #expect(result.transactions[0]["transaction"]?["price"]?.integer == 990)
        #expect(result.apps.count == 1 && result.apps.first?["standing"]?.string == "verifiedReceipt")
        #expect(result.facts.count == 2)
    }

    // MARK: Real

    /// Notifications and transactions that Apple signed, where there are any.
    private static let real: [URL] = {
        guard let folder = SharedReceipts.folder else { return [] }
        return ["notifications-v2", "notifications", "signed-data"].flatMap { name in
            (try? FileManager.default.contentsOfDirectory(
                at: folder.appending(path: name), includingPropertiesForKeys: nil)) ?? []
        }.filter { ["jws", "json"].contains($0.pathExtension) }.sorted { $0.path < $1.path }
    }()

    @Test("Apple's own signed data is migrated with the pinned roots", .enabled(if: !real.isEmpty, "there is none"))
    func realData() async throws {
        for file in Self.real {
            let result = try await migrate(text: [UInt8](Data(contentsOf: file))) { $0.trust = .apple }
            #expect(result.summary.migrated > 0, "\(file.lastPathComponent): \(result.reasons)")
        }
    }
}
