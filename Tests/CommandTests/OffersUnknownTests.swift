import AppStoreModels
import Purchases
import Testing
import TransactionStore

/// What the store does not know, and what it knew of an older period.
extension OffersTests {
    @Test("If the first period is missing, it may have been a free trial")
    func gaps() async throws {
        let folder = try Folder()
        func renewed(_ id: String, _ source: FactSource, _ month: Int64) -> TransactionFact {
            let fact = StoredPurchases.fact(id, original: "500", month, month + 1) { $0.transactionReason = .renewal }
            return TransactionFact(
                payload: fact.payload, legacy: nil,
                origin: FactOrigin(source: source, signedDate: fact.origin.signedDate))
        }
        let renewals = StoredPurchases.set([renewed("501", .notificationV2, 1), renewed("502", .notificationV2, 2)])
        try await StoredPurchases.makeStore([renewals], in: folder)
        let arguments = ["--kind", "introductory", "--at", Self.september, "--all"]
        let open = try #require(try table(try await offers(arguments, in: folder)).first)
        #expect(open["eligibility"] == "unknown")
        #expect(open["reasons"]?.contains("noIntroductoryOfferBefore unknown (transaction 501)") == true)
        let winBack = try #require(
            try table(try await offers(Self.winBack + ["--at", "2023-07-01", "--all"], in: folder)).first)
        #expect(winBack["reasons"]?.contains("paidMonths unknown (2 months, transaction 501)") == true)
        #expect(winBack["reasons"]?.contains("monthsBetweenOffers unknown (from 2023-08-15") == true)
        // The caller may have more data, and the App Store Server API does.
        let known = try table(
            try await offers(arguments + ["--current-through", Self.september], in: folder)
        ).first
        #expect(known?["eligibility"] == "eligible")
        let asked = StoredPurchases.set([renewed("501", .appStoreServerAPI, 1), renewed("502", .appStoreServerAPI, 2)])
        try await StoredPurchases.makeStore([asked], in: folder, "asked.sqlite")
        let answered = try table(try await offers(arguments, in: folder, store: "asked.sqlite")).first
        #expect(answered?["eligibility"] == "eligible")
    }

    @Test("A document about another subscription, or about an old period, does not say that none was renewed")
    func currency() async throws {
        let folder = try Folder()
        let lapsed = [
            StoredPurchases.fact("600", original: "600", 0, 1), StoredPurchases.fact("601", original: "600", 1, 2),
        ]
        // The first period is refunded long after; no document states the end of the second.
        let refund = TransactionFact(
            payload: lapsed[0].payload, legacy: nil,
            origin: FactOrigin(source: .notificationV2, signedDate: StoredPurchases.month(7)))
        let second = TransactionFact(
            payload: lapsed[1].payload, legacy: nil,
            origin: FactOrigin(source: .notificationV2, signedDate: StoredPurchases.month(1)))
        let other = StoredPurchases.fact("700", original: "700", 6, 7) { $0.subscriptionGroupIdentifier = "other" }
        try await StoredPurchases.makeStore(
            [StoredPurchases.set([refund, second, other], tokens: [StoredPurchases.token])], in: folder)
        let rows = try table(
            try await offers(
                ["--kind", "introductory", "--group", StoredPurchases.group, "--at", Self.september, "--all"],
                in: folder))
        #expect(rows.map { $0["eligibility"] } == ["unknown"])
        #expect(rows.first?["reasons"]?.contains("historyCurrent unknown (transaction 601)") == true)
        let standing = try table(
            try await offers(["--kind", "entitlement", "--at", Self.september, "--all"], in: folder))
        #expect(standing.map { $0["isCurrent"] } == ["false", "true"])
    }

    @Test("entitlement: a grace period that was recovered from gives no access when the next period is over")
    func staleGrace() async throws {
        let folder = try Folder()
        func fact(_ source: FactSource, _ month: Int64, _ signed: Int64) -> TransactionFact {
            TransactionFact(
                payload: StoredPurchases.fact("80\(month)", original: "800", month, month + 1).payload, legacy: nil,
                origin: FactOrigin(source: source, signedDate: signed))
        }
        var info = JWSRenewalInfoDecodedPayload()
        info.originalTransactionId = "800"
        info.autoRenewStatus = .on
        info.isInBillingRetryPeriod = true
        info.gracePeriodExpiresDate = StoredPurchases.month(3)
        let failed = FactOrigin(source: .notificationV2, signedDate: StoredPurchases.month(1))
        for (name, months, status) in [("failed", 0...0, "billingGracePeriod"), ("recovered", 0...1, "expired")]
            as [(String, ClosedRange<Int64>, String)]
        {
            try await StoredPurchases.makeStore(
                [
                    FactSet(
                        scope: StoreScope(environment: .production, bundleId: StoredPurchases.bundleId),
                        transactions: months.map { fact(.receipt, $0, StoredPurchases.month($0) + 1) },
                        renewalInfos: [RenewalInfoFact(payload: info, origin: failed)])
                ], in: folder, name)
            let rows = try table(
                try await offers(
                    ["--kind", "entitlement", "--at", "2023-03-20", "--all"], in: folder, store: name))
            #expect(rows.map { $0["status"] } == [status])
        }
    }

    @Test("A record without a date may be about the period that it knows")
    func undatedGrace() async throws {
        let folder = try Folder()
        var info = JWSRenewalInfoDecodedPayload()
        info.originalTransactionId = "800"
        info.autoRenewStatus = .on
        info.isInBillingRetryPeriod = true
        info.gracePeriodExpiresDate = StoredPurchases.month(3)
        // As a version 1 notification or a kept reply is dated: by the newest purchase in it.
        let date = StoredPurchases.month(0)
        try await StoredPurchases.makeStore(
            [
                FactSet(
                    scope: StoreScope(environment: .production, bundleId: StoredPurchases.bundleId),
                    transactions: [
                        TransactionFact(
                            payload: StoredPurchases.fact("800", original: "800", 0, 1).payload, legacy: nil,
                            origin: FactOrigin(source: .receipt, signedDate: date))
                    ],
                    renewalInfos: [
                        RenewalInfoFact(payload: info, origin: FactOrigin(source: .notificationV1, signedDate: date))
                    ])
            ], in: folder, "undated")
        let rows = try table(
            try await offers(
                ["--kind", "entitlement", "--at", "2023-03-20", "--all"], in: folder, store: "undated"))
        #expect(rows.map { $0["status"] } == ["billingGracePeriod"])
    }
}
