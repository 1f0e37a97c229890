import AppStoreModels
import Foundation
import LegacyReceipts
import Purchases
import Testing
import TransactionStore
import TransactionStoreConformance

/// What becomes of verified signed data.
@Suite struct SignedDataFactTests {
    private static let scope = StoreScope(environment: .production, bundleId: "com.example.app")

    private static func transaction(
        _ id: String = "530001234567000", bundleId: String? = "com.example.app",
        environment: Environment? = .production,
        signedDate: Int64? = 9_000
    ) -> Verified<JWSTransactionDecodedPayload> {
        FactSupport.verified(
            JWSTransactionDecodedPayload {
                $0.originalTransactionId = id
                $0.transactionId = id
                $0.bundleId = bundleId
                $0.productId = "monthly"
                $0.purchaseDate = 5_000
                $0.signedDate = signedDate
                $0.environment = environment
            })
    }

    private static func renewal(
        _ id: String = "530001234567000", environment: Environment? = .production
    ) -> Verified<JWSRenewalInfoDecodedPayload> {
        FactSupport.verified(
            JWSRenewalInfoDecodedPayload {
                $0.originalTransactionId = id
                $0.autoRenewStatus = .on
                $0.signedDate = 9_000
                $0.environment = environment
            })
    }

    @Test func factsAreOfTheSigningDateAndTheSource() {
        for source in [FactSource.appStoreServerAPI, .signedTransaction, .notificationV2] {
            let app = AppTransaction {
                $0.receiptType = .production
                $0.bundleId = "com.example.app"
                $0.receiptCreationDate = 8_000
                $0.appTransactionId = "7049"
            }
            let set = FactSet(
                scope: Self.scope, source: source, transactions: [Self.transaction()], renewalInfos: [Self.renewal()],
                appTransaction: FactSupport.verified(app))
            let expected = FactOrigin(source: source, signedDate: 9_000)
            #expect(set.transactions.map(\.origin) == [expected])
            #expect(set.renewalInfos.map(\.origin) == [expected])
            #expect(set.appTransaction?.origin == FactOrigin(source: source, signedDate: 8_000))
            #expect(set.identities.map(\.value) == ["530001234567000", "7049"])
        }
        let undated = FactSet(
            scope: Self.scope, source: .appStoreServerAPI, transactions: [Self.transaction(signedDate: nil)])
        #expect(undated.transactions.first?.origin.signedDate == 5_000)
    }

    @Test("The facts of a notification have the hash of its signedPayload")
    func notificationHash() throws {
        let (outer, inner) = (Fingerprint(of: [1]), Fingerprint(of: [2]))
        let content = ResponseBodyV2DecodedPayload {
            $0.notificationType = .didRenew
            $0.notificationUUID = "b2158121-7af9-49d4-9561-1f588205523e"
            $0.data = NotificationData {
                $0.environment = .production
                $0.bundleId = "com.example.app"
            }
        }
        let set = try #require(
            FactSet(
                notification: FactSupport.verified(content, signingInput: outer), payload: [],
                transaction: FactSupport.verified(Self.transaction("1").payload, signingInput: inner)))
        #expect(set.transactions.map(\.origin.document) == [outer])
    }

    @Test("A spool keeps the hash of a document with its facts")
    func spooledHash() throws {
        let hash = Fingerprint(of: [1])
        let encoded = try EncodedFactSet(FactSupport.answer(hash, signedAt: 1))
        let read = try FactSet(encoded: encoded.facts, receipt: encoded.receipt)
        #expect(read.transactions.map(\.origin.document) == [hash])
        #expect(read.renewalInfos.map(\.origin.document) == [hash])
        #expect(read.appTransaction?.origin.document == hash)
        #expect(read.transactions.first?.payload.unknownMembers.isEmpty == true)
    }

    /// The scope is all that is stored of them: a foreign one would be taken for one of this app.
    @Test func dataOfAnotherAppOrEnvironmentIsLeftOut() {
        let foreign = AppTransaction {
            $0.receiptType = .sandbox
            $0.bundleId = "com.example.app"
            $0.receiptCreationDate = 8_000
            $0.appTransactionId = "7049"
        }
        let set = FactSet(
            scope: Self.scope, source: .appStoreServerAPI,
            transactions: [
                Self.transaction("1", bundleId: "com.example.other"), Self.transaction("2", environment: .sandbox),
                Self.transaction("3", bundleId: nil), Self.transaction("4", environment: nil), Self.transaction("5"),
            ],
            renewalInfos: [Self.renewal("5", environment: .sandbox), Self.renewal("6"), Self.renewal("5")],
            appTransaction: FactSupport.verified(foreign))
        #expect(set.transactions.map(\.payload.transactionId) == ["5"])
        #expect(set.renewalInfos.map(\.payload.originalTransactionId) == ["5"])
        #expect(set.appTransaction == nil)
        #expect(set.identities.map(\.value) == ["5"])
    }

    @Test func aNotificationOfUnclaimedSeatsNamesTheClaims() throws {
        var content = ResponseBodyV2DecodedPayload {
            $0.notificationType = .unclaimSeats
            $0.notificationUUID = "b2158121-7af9-49d4-9561-1f588205523e"
            $0.data = NotificationData {
                $0.environment = .production
                $0.bundleId = "com.example.app"
            }
            $0.unclaimInfo = UnclaimInfo { $0.unclaimSeatIds = ["B", "a", "b", "", "é"] }
        }
        func claims(_ transaction: Verified<JWSTransactionDecodedPayload>?) throws -> [String] {
            try #require(
                FactSet(notification: FactSupport.verified(content), payload: [], transaction: transaction)
            ).unclaimedSeatIds
        }
        #expect(try claims(Self.transaction()) == ["a", "b"])
        // No field states the owner of the seats.
        #expect(try claims(nil) == [])
        content.unclaimInfo = nil
        #expect(try claims(Self.transaction()) == [])
    }

    @Test func renewalInfoAloneCounts() {
        let set = FactSet(scope: Self.scope, source: .appStoreServerAPI, renewalInfos: [Self.renewal()])
        #expect(set.renewalInfos.count == 1)
    }

    @Test(arguments: [nil, "", "a\u{0}b", String(repeating: "x", count: 300)] as [String?])
    func notificationWithoutAUsableNameIsNoFact(uuid: String?) {
        let content = ResponseBodyV2DecodedPayload {
            $0.notificationType = .test
            $0.notificationUUID = uuid
            $0.data = NotificationData {
                $0.environment = .production
                $0.bundleId = "com.example.app"
            }
            $0.signedDate = 1
        }
        #expect(FactSet(notification: FactSupport.verified(content), payload: Array("{}".utf8)) == nil)
    }

    @Test func scopeOfANotificationIsThatOfItsObject() {
        let app = "com.example.app"
        func data(_ environment: Environment, _ bundleId: String?) -> ResponseBodyV2DecodedPayload {
            ResponseBodyV2DecodedPayload {
                $0.data = NotificationData {
                    $0.environment = environment
                    $0.bundleId = bundleId
                }
            }
        }
        func token(_ id: String) -> ResponseBodyV2DecodedPayload {
            ResponseBodyV2DecodedPayload {
                $0.externalPurchaseToken = ExternalPurchaseToken {
                    $0.externalPurchaseId = id
                    $0.bundleId = app
                }
            }
        }
        let summary = ResponseBodyV2DecodedPayload {
            $0.summary = Summary {
                $0.environment = .production
                $0.bundleId = app
            }
        }
        let appData = ResponseBodyV2DecodedPayload {
            $0.appData = AppData {
                $0.bundleId = app
                $0.environment = .sandbox
            }
        }
        let contents: [(ResponseBodyV2DecodedPayload, Environment?)] = [
            (data(.sandbox, app), .sandbox), (summary, .production), (token("SANDBOX_1"), .sandbox),
            (token("1"), .production), (appData, .sandbox), (ResponseBodyV2DecodedPayload(), nil),
            (data(.xcode, app), nil), (data(.production, nil), nil), (data(Environment(rawValue: "Moon"), app), nil),
        ]
        for (content, environment) in contents {
            let scope = StoreScope(content)
            #expect(scope?.environment == environment && scope?.bundleId == environment.map { _ in app })
        }
    }

    @Test func bodyOfAKnownTypeIsKeptWithoutItsFactsAndOfAnUnknownOneWhole() throws {
        let payload =
            #"{"notificationType":"T","data":{"status":4,"signedTransactionInfo":"a.b.c","later":[1.50,12345678901234567890]},"other":null}"#
        for (type, kept) in [
            ("TEST", #"{"notificationType":"T","data":{"status":4,"later":[1.50,12345678901234567890]},"other":null}"#),
            ("FROM_THE_FUTURE", payload),
        ] {
            let content = ResponseBodyV2DecodedPayload {
                $0.notificationType = NotificationTypeV2(rawValue: type)
                $0.notificationUUID = "A-B"
                $0.data = NotificationData {
                    $0.environment = .production
                    $0.bundleId = "com.example.app"
                }
                $0.signedDate = 1
            }
            let set = try #require(FactSet(notification: FactSupport.verified(content), payload: Array(payload.utf8)))
            #expect(String(decoding: try #require(set.notification).body, as: UTF8.self) == kept)
            #expect(set.notification?.notificationUUID == "a-b")
        }
    }
}
