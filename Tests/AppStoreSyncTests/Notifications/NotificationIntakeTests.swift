import AppStoreServer
import AppStoreSync
import Purchases
import ReceiptForge
import SQLiteTransactionStore
import TestSupport
import Testing
import TransactionStore

/// Receiving notifications without an HTTP server.
@Suite struct NotificationIntakeTests {
    private static let now: Int64 = 1_716_000_000_000
    private static let ours = NotificationApps([.init(bundleId: "com.example.orchard")])

    private static func body(_ bundleId: String = "com.example.orchard") throws -> [UInt8] {
        let jws = try TestSignedDataAuthority.standard.sign(
            payload: Array(
                #"""
                {"notificationType":"TEST","notificationUUID":"6B29FC40-CA47-1067-B31D-00DD010662DA","version":"2.0",
                "signedDate":\#(now),"data":{"bundleId":"\#(bundleId)","environment":"Sandbox"}}
                """#.utf8))
        return Array(#"{"signedPayload":"\#(jws)"}"#.utf8)
    }

    private static func intake(
        _ store: any TransactionStore, _ apps: NotificationApps = ours, receivesVersion1: Bool = false
    ) throws -> NotificationIntake {
        let trust = SignedDataTrust(additionalRoots: [TestSignedDataAuthority.standard.rootCertificate])
        return NotificationIntake(
            store: store, version2: NotificationReceiver(verifier: try SignedDataVerifier(trust: trust), apps: apps),
            version1: receivesVersion1 ? try NotificationV1Receiver(apps: apps) : nil)
    }

    private static func withStore(_ body: (any TransactionStore) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTransactionStore.open(path: folder.path + "/store.sqlite")
        try await body(store)
        try await store.close()
    }

    @Test func aGenuineNotificationIsStoredOnce() async throws {
        try await Self.withStore { store in
            let intake = try Self.intake(store)
            let first = await intake.receive(try Self.body(), .version2, now: Self.now)
            #expect(first.outcome == .accepted && first.notificationType == "TEST")
            #expect(try await store.hasProcessed(notificationUUID: "6b29fc40-ca47-1067-b31d-00dd010662da"))
            let second = await intake.receive(try Self.body(), .version2, now: Self.now)
            #expect(second.outcome == .repeated)
            #expect(try await store.counts().notifications == 1)
        }
    }

    @Test("A notification about an erased customer is received, and not stored")
    func erased() async throws {
        try await Self.withStore { store in
            let eraser = try #require(store as? SQLiteTransactionStore)
            let scope = StoreScope(environment: .sandbox, bundleId: "com.example.orchard")
            let transaction = try TestSignedDataAuthority.standard.sign(
                payload: Array(
                    #"""
                    {"transactionId":"2000000001","originalTransactionId":"2000000001","productId":"monthly",
                    "bundleId":"com.example.orchard","environment":"Sandbox","purchaseDate":\#(Self.now),
                    "signedDate":\#(Self.now)}
                    """#.utf8))
            let jws = try TestSignedDataAuthority.standard.sign(
                payload: Array(
                    #"""
                    {"notificationType":"SUBSCRIBED","notificationUUID":"6B29FC40-CA47-1067-B31D-00DD010662DB",
                    "version":"2.0","signedDate":\#(Self.now),"data":{"bundleId":"com.example.orchard",
                    "environment":"Sandbox","signedTransactionInfo":"\#(transaction)"}}
                    """#.utf8))
            let body = Array(#"{"signedPayload":"\#(jws)"}"#.utf8)
            let purchase = CustomerIdentity(.originalTransactionId, "2000000001")
            _ = try await eraser.erase([purchase], in: scope, quarantined: [], leavingHashes: true)
            for _ in 1...2 {
                let report = await (try Self.intake(store)).receive(body, .version2, now: Self.now)
                #expect(report.outcome == .erased && report.reason == nil, "\(report)")
                #expect(report.applied.erased == 1 && report.applied.erasedNotifications == 1)
            }
            #expect(try await store.counts().notifications == 0)
            #expect(try await store.customer([purchase], in: scope) == nil)
            #expect(try await eraser.removeLeftHashes(of: [purchase], in: scope) == 1)
            let report = await (try Self.intake(store)).receive(body, .version2, now: Self.now)
            #expect(report.outcome == .accepted, "\(report)")
        }
    }

    @Test("Notifications of other apps are refused, unless no app is listed and any app is accepted")
    func apps() async throws {
        for (apps, outcome) in [
            (Self.ours, NotificationOutcome.unknownApp),
            (NotificationApps([.init(bundleId: "com.example.orchard")], acceptsAnyApp: true), .unknownApp),
            (NotificationApps([]), .unknownApp),
            (NotificationApps([], acceptsAnyApp: true), .accepted),
        ] {
            try await Self.withStore { store in
                let body = try Self.body("com.example.other")
                #expect(try await Self.intake(store, apps).receive(body, .version2, now: Self.now).outcome == outcome)
            }
        }
    }

    @Test func bodiesThatAreNoNotificationsAreMalformed() async throws {
        try await Self.withStore { store in
            let intake = try Self.intake(store)
            for body in ["", "[]", "{}", #"{"signedPayload":1}"#, #"{"signedPayload":"a.b"}"#] {
                #expect(await intake.receive(Array(body.utf8), .version2, now: Self.now).outcome == .malformed)
            }
        }
    }

    @Test func version1IsAcceptedOnlyWithAReceiver() async throws {
        try await Self.withStore { store in
            let without = try Self.intake(store)
            #expect(without.accepts(.version2) && !without.accepts(.version1))
            #expect(
                await without.receive(Array(#"{"notification_type":"RENEWAL"}"#.utf8), .version1, now: 0).outcome
                    == .malformed)
            let with = try Self.intake(store, receivesVersion1: true)
            #expect(with.accepts(.version1))
            // No shared secret is configured, so nothing shows that it comes from the App Store.
            let report = await with.receive(Array(#"{"notification_type":"RENEWAL"}"#.utf8), .version1, now: 0)
            #expect(report.outcome == .unknownApp)
        }
    }
}
