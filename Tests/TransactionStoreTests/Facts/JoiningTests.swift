import AppStoreModels
import Purchases
import Testing
import TransactionStore
import TransactionStoreConformance

@Suite("Facts about one transaction become one")
struct JoiningTests {
    private let june = StoreSamples.june

    private func legacy(_ configure: (inout LegacyTransactionFields) -> Void) -> LegacyTransactionFields {
        var fields = LegacyTransactionFields()
        configure(&fields)
        return fields
    }

    private func cancelled(_ date: Int64?, reason: Int64? = nil) -> LegacyTransactionFields {
        legacy {
            $0.cancellationDate = date
            $0.cancellationReason = reason
        }
    }

    private func receipt(at date: Int64, _ legacy: LegacyTransactionFields = LegacyTransactionFields())
        -> TransactionFact
    {
        Samples.fact("2", original: "1", at: date, legacy: legacy)
    }

    private func signed(at date: Int64, _ configure: (inout JWSTransactionDecodedPayload) -> Void = { _ in })
        -> TransactionFact
    {
        Samples.fact("2", original: "1", source: .signedTransaction, at: date, configure)
    }

    private func recorded(
        at date: Int64, _ legacy: LegacyTransactionFields = LegacyTransactionFields(),
        _ configure: (inout JWSTransactionDecodedPayload) -> Void = { _ in }
    ) -> TransactionFact {
        Samples.fact("2", original: "1", source: .recordedReply, at: date, legacy: legacy, configure)
    }

    @Test func theFlagsOfAReceiptStayBesideANewerSignedTransaction() throws {
        let flags = legacy {
            $0.isTrialPeriod = false
            $0.isInIntroOfferPeriod = true
            $0.itemId = "9"
        }
        let joined = try #require(try FactSupport.join(receipt(at: 1, flags), signed(at: 2) { $0.price = 1990 }))
        #expect(joined.legacy == flags)
        #expect(joined.payload.price == 1990)
        #expect(joined.isSigned)
    }

    @Test func theNewestSignedFactDecidesSharedFields() throws {
        let old = Samples.fact("2", original: "1", at: 1) { $0.expiresDate = 5000 }
        let new = signed(at: 2) { $0.expiresDate = 9000 }
        #expect(try FactSupport.join(old, new)?.payload.expiresDate == 9000)
        let newer = Samples.fact("2", original: "1", at: 3) { $0.expiresDate = 7000 }
        #expect(try FactSupport.join(newer, new)?.payload.expiresDate == 7000)
        let without = Samples.fact("2", original: "1", at: 3)
        #expect(try FactSupport.join(without, new)?.payload.expiresDate == nil)
    }

    @Test func fieldsThatAReceiptLacksStayFromAnOlderSignedTransaction() throws {
        let old = signed(at: 1) {
            $0.subscriptionGroupIdentifier = "g"
            $0.appAccountToken = "t"
            $0.price = 1990
            $0.storefront = "USA"
            $0.offerType = .offerCode
            $0.offerIdentifier = "SUMMER"
            $0.type = .consumable
            $0.inAppOwnershipType = .familyShared
            $0.isUpgraded = true
        }
        let joined = try #require(try FactSupport.join(receipt(at: 2), old))
        var expected = old.payload
        expected.bundleId = Samples.scope.bundleId
        expected.environment = Samples.scope.environment
        #expect(joined.payload == expected)
        #expect(joined.legacy.offerCodeRefName == "SUMMER")
        #expect(joined.legacy.inAppOwnershipType == .familyShared)
    }

    @Test func theSameSecondKeepsItsMilliseconds() throws {
        let exact = signed(at: 1) {
            $0.purchaseDate = 5123
            $0.expiresDate = 9999
        }
        let whole = Samples.fact("2", original: "1", at: 2) {
            $0.purchaseDate = 5000
            $0.expiresDate = 8000
        }
        let joined = try FactSupport.join(exact, whole)
        #expect(joined?.payload.purchaseDate == 5123)
        #expect(joined?.payload.expiresDate == 8000)
    }

    // MARK: Cancellation

    @Test func aCancellationOfAReceiptAloneIsARevocation() throws {
        let joined = try #require(try FactSupport.join(receipt(at: 1, cancelled(5000, reason: 1))))
        #expect(joined.payload.revocationDate == 5000)
        #expect(joined.payload.revocationReason == .issueWithinApp)
        #expect(joined.payload.isUpgraded == nil)
        #expect(joined.legacy.cancellationDate == 5000)
        #expect(joined.legacy.cancellationReason == 1)
    }

    @Test func aNewerSignedTransactionTakesACancellationBack() throws {
        let joined = try #require(try FactSupport.join(receipt(at: 1, cancelled(5000, reason: 1)), signed(at: 2)))
        #expect(joined.payload.revocationDate == nil)
        #expect(joined.legacy.cancellationDate == nil)
        #expect(joined.legacy.cancellationReason == nil)
    }

    @Test func aNewerReceiptWithoutACancellationTakesNoRevocationBack() throws {
        let revoked = signed(at: 1) {
            $0.revocationDate = 5000
            $0.revocationReason = .other
            $0.revocationType = .refundFull
        }
        let joined = try #require(try FactSupport.join(receipt(at: 2), revoked))
        #expect(joined.payload.revocationDate == 5000)
        #expect(joined.payload.revocationReason == .other)
        #expect(joined.payload.revocationType == .refundFull)
        #expect(joined.legacy.cancellationDate == 5000)
    }

    @Test func aNewerSignedTransactionTakesARevocationBack() throws {
        let joined = try #require(try FactSupport.join(receipt(at: 1, cancelled(5000)), signed(at: 2)))
        #expect(joined.payload.revocationDate == nil && joined.legacy.cancellationDate == nil)
    }

    @Test func aRecordedCancellationNewerThanSignedDataIsReportedSeparately() throws {
        let reported = recorded(at: 9, cancelled(5000, reason: 1))
        let joined = try #require(try FactSupport.join(receipt(at: 1), signed(at: 2), reported))
        #expect(
            joined.recordedCancellation
                == RecordedCancellation(date: 5000, reason: 1, source: .recordedReply))
        #expect(joined.legacy.cancellationDate == nil && joined.payload.revocationDate == nil)
        #expect(try FactSupport.join(receipt(at: 10), reported)?.recordedCancellation == nil)
        // The receipt in a notification of a refund gives the notification its date.
        #expect(try FactSupport.join(receipt(at: 9), reported)?.recordedCancellation?.date == 5000)
        #expect(try FactSupport.join(signed(at: 9), reported)?.recordedCancellation == nil)
        #expect(try FactSupport.join(signed(at: 10), reported)?.recordedCancellation == nil)
        #expect(try FactSupport.join(receipt(at: 1, cancelled(4000)), reported)?.recordedCancellation == nil)
    }

    @Test func aCancellationFromANotificationOfVersionOneCountsIfItIsNewerThanEverySignedTransaction() throws {
        func reported(_ configure: (inout JWSTransactionDecodedPayload) -> Void = { _ in }) -> TransactionFact {
            Samples.fact(
                "2", original: "1", source: .notificationV1, at: 9, legacy: cancelled(5000, reason: 1), configure)
        }
        for joined in [
            try FactSupport.join(receipt(at: 1), reported()), try FactSupport.join(signed(at: 2), reported()),
            try FactSupport.join(receipt(at: 1), signed(at: 2), reported()),
            try FactSupport.join(receipt(at: 9), reported()),
            // Receipts often lack cancellations.
            try FactSupport.join(receipt(at: 10), reported()),
        ] {
            let joined = try #require(joined)
            #expect(joined.payload.revocationDate == 5000 && joined.legacy.cancellationDate == 5000)
            #expect(joined.payload.revocationReason?.rawValue == 1 && joined.recordedCancellation == nil)
            #expect(joined.source(of: .revocationDate) == .stated(reported().origin))
        }
        let stored = Samples.fact(
            "2", original: "1", source: .recordedNotificationV1, at: 9, legacy: cancelled(5000, reason: 1))
        let unchanged = try #require(try FactSupport.join(receipt(at: 1), stored))
        #expect(unchanged.payload.revocationDate == nil && unchanged.recordedCancellation?.date == 5000)
        for newer in [signed(at: 9), signed(at: 10)] {
            #expect(try FactSupport.join(newer, reported())?.payload.revocationDate == nil)
        }
        let earlier = try FactSupport.join(receipt(at: 1, cancelled(4000)), reported())
        #expect(earlier?.payload.revocationDate == 4000)
        let upgraded = try #require(try FactSupport.join(receipt(at: 1), reported { $0.isUpgraded = true }))
        #expect(upgraded.payload.revocationDate == nil && upgraded.payload.isUpgraded == true)
        #expect(upgraded.legacy.cancellationDate == 5000)
    }

    private func notified(
        at date: Int64, _ configure: (inout JWSTransactionDecodedPayload) -> Void = { _ in }
    ) -> TransactionFact {
        Samples.fact(
            "2", original: "1", source: .notificationV1, at: date, legacy: cancelled(5000, reason: 1), configure)
    }

    @Test func aNotifiedCancellationIsAKindOfItsOwn() {
        #expect(notified(at: 9).origin.kind == .notified && FactRow(notified(at: 9)).kind == 5)
        let others = [
            Samples.fact("2", source: .notificationV1), recorded(at: 9, cancelled(5000)),
            Samples.fact("2", source: .recordedNotificationV1, legacy: cancelled(5000)),
        ]
        for other in others { #expect(other.origin.kind == .recorded && FactRow(other).kind == 3) }
        #expect(FactKind.allCases.filter(\.isSigned) == [.receipt, .signedTransaction])
    }

    @Test func aLaterRecordedDocumentFillsBesideANotifiedCancellation() throws {
        let row = recorded(at: 12) {
            $0.subscriptionGroupIdentifier = "g"
            $0.appAccountToken = "t"
        }
        let signed = try #require(try FactSupport.join(receipt(at: 1), notified(at: 9), row))
        #expect(signed.payload.subscriptionGroupIdentifier == "g" && signed.payload.appAccountToken == "t")
        #expect(signed.payload.revocationDate == 5000 && signed.legacy.cancellationReason == 1)
        #expect(signed.source(of: .subscriptionGroupIdentifier) == .stated(row.origin))
        #expect(signed.source(of: .revocationDate) == .stated(notified(at: 9).origin))
        #expect(signed.origins.map(\.kind) == [.receipt, .recorded, .notified])
        #expect(signed.origins.deciding?.kind == .receipt)
        let unsigned = try #require(
            try FactSupport.join(
                notified(at: 9) {
                    $0.subscriptionGroupIdentifier = "old"
                    $0.expiresDate = 7000
                }, row))
        #expect(unsigned.payload.subscriptionGroupIdentifier == "g" && unsigned.payload.expiresDate == 7000)
        #expect(unsigned.payload.revocationDate == 5000 && unsigned.legacy.cancellationDate == 5000)
        #expect(unsigned.origins.deciding == row.origin)
        #expect(unsigned.source(of: .subscriptionGroupIdentifier) == .stated(row.origin))
        #expect(unsigned.source(of: .expiresDate) == .stated(notified(at: 9).origin))
    }

    @Test func aNotifiedCancellationFillsWhatOnlyItStates() throws {
        let flags = legacy {
            $0.cancellationDate = 5000
            $0.isTrialPeriod = true
            $0.itemId = "9"
        }
        let row = recorded(at: 12, legacy { $0.isInIntroOfferPeriod = false })
        for type in [OfferType.introductory, .promotional] {
            let notified = Samples.fact("2", original: "1", source: .notificationV1, at: 9, legacy: flags) {
                $0.offerType = type
                $0.offerIdentifier = type == .promotional ? "loyal" : nil
                $0.offerDiscountType = .freeTrial
            }
            for documents in [[row], [receipt(at: 1), row]] {
                let customer = try #require(Customer(resolving: (documents + [notified]).map { Samples.set($0) }))
                let joined = try #require(customer.transactions.first)
                #expect(joined.legacy.isTrialPeriod == true && joined.legacy.isInIntroOfferPeriod == false)
                #expect(joined.legacy.itemId == "9")
                #expect(joined.payload.offerType == type && joined.payload.offerDiscountType == .freeTrial)
                #expect(joined.payload.offerIdentifier == (type == .promotional ? "loyal" : nil))
                #expect(joined.source(of: .offerType) == .stated(notified.origin))
            }
        }
    }

    @Test func theOfferOfARecordedDocumentComesBeforeThatOfANotifiedCancellation() throws {
        func flags(cancelled date: Int64? = nil) -> LegacyTransactionFields {
            legacy {
                $0.cancellationDate = date
                $0.isTrialPeriod = true
            }
        }
        let row = recorded(at: 12, flags()) {
            $0.offerType = .promotional
            $0.offerIdentifier = "loyal"
        }
        let notified = Samples.fact(
            "2", original: "1", source: .notificationV1, at: 9, legacy: flags(cancelled: 5000)
        ) { $0.offerType = .introductory }
        for documents in [[row, notified], [receipt(at: 1), row, notified]] {
            let customer = try #require(Customer(resolving: documents.map { Samples.set($0) }))
            let joined = try #require(customer.transactions.first)
            #expect(joined.payload.offerType == .promotional && joined.payload.offerIdentifier == "loyal")
            #expect(joined.source(of: .offerType) == .stated(row.origin))
        }
    }

    @Test func aRecordedDocumentExplainsANotifiedCancellationIfItIsNewerThanEverySignedTransaction() throws {
        func upgraded(at date: Int64) -> TransactionFact { recorded(at: date) { $0.isUpgraded = true } }
        for joined in [
            try FactSupport.join(notified(at: 9), upgraded(at: 12)),
            try FactSupport.join(receipt(at: 1), notified(at: 9), upgraded(at: 3)),
            try FactSupport.join(signed(at: 2), notified(at: 9), upgraded(at: 3)),
        ] {
            let joined = try #require(joined)
            #expect(joined.payload.isUpgraded == true && joined.payload.revocationDate == nil)
            #expect(joined.legacy.cancellationDate == 5000)
        }
        let older = try #require(try FactSupport.join(signed(at: 4), notified(at: 9), upgraded(at: 3)))
        #expect(older.payload.isUpgraded == nil && older.payload.revocationDate == 5000)
        // A document that states no upgrade does not take that of the notification back.
        let denied = try FactSupport.join(
            notified(at: 9) { $0.isUpgraded = true }, recorded(at: 12) { $0.isUpgraded = false })
        #expect(denied?.payload.isUpgraded == true)
    }

    @Test("A recorded document with a cancellation of another date does not explain a notified one")
    func otherCancellation() throws {
        for (date, isUpgraded) in [(Int64(5000), true), (5999, true), (8000, false)] {
            let row = recorded(at: 12, cancelled(date)) { $0.isUpgraded = true }
            for documents in [[notified(at: 9), row], [receipt(at: 1), notified(at: 9), row]] {
                let customer = try #require(Customer(resolving: documents.map { Samples.set($0) }))
                let joined = try #require(customer.transactions.first { $0.payload.transactionId == "2" })
                #expect(joined.payload.isUpgraded == (isUpgraded ? true : nil))
                #expect(joined.payload.revocationDate == (isUpgraded ? nil : 5000))
                #expect(joined.legacy.cancellationDate == 5000)
            }
        }
    }

    @Test("A notified cancellation without a reason takes that of a recorded document about the same cancellation")
    func reasonOfTheSameCancellation() throws {
        let notified = Samples.fact("2", original: "1", source: .notificationV1, at: 9, legacy: cancelled(5000))
        for (date, reason) in [(Int64(5000), Int64(1)), (5999, 1), (8000, nil)] as [(Int64, Int64?)] {
            let row = recorded(at: 12, cancelled(date, reason: 1))
            for documents in [[], [receipt(at: 1)], [signed(at: 2)], [receipt(at: 1), signed(at: 2)]] {
                for order in StoreConformance.permutations(documents + [notified, row]) {
                    let customer = try #require(Customer(resolving: order.map { Samples.set($0) }))
                    let joined = try #require(customer.transactions.first { $0.payload.transactionId == "2" })
                    #expect(joined.legacy.cancellationDate == 5000 && joined.legacy.cancellationReason == reason)
                    #expect(joined.payload.revocationDate == 5000)
                    #expect(joined.payload.revocationReason == (reason == nil ? nil : .issueWithinApp))
                    let source: FieldSource? = reason == nil ? nil : .stated(row.origin)
                    #expect(joined.source(of: .revocationReason) == source)
                    #expect(joined.source(of: .revocationDate) == .stated(notified.origin))
                }
            }
        }
        // A recorded document without a cancellation states no reason, and the notification's own comes first.
        let other = recorded(at: 12, cancelled(nil, reason: 0))
        #expect(try FactSupport.join(notified, other)?.legacy.cancellationReason == nil)
        let row = recorded(at: 12, cancelled(5000, reason: 0))
        #expect(try FactSupport.join(self.notified(at: 9), row)?.legacy.cancellationReason == 1)
    }

    @Test func aRecordedCancellationAfterTheReversalOfANotifiedOneIsReported() throws {
        let second = recorded(at: 12, cancelled(8000))
        let joined = try #require(try FactSupport.join(notified(at: 2), signed(at: 3), second))
        #expect(joined.payload.revocationDate == nil && joined.recordedCancellation?.date == 8000)
        // While the notified one counts, it is the cancellation.
        let counting = try #require(try FactSupport.join(signed(at: 1), notified(at: 2), second))
        #expect(counting.payload.revocationDate == 5000 && counting.recordedCancellation == nil)
        #expect(try FactSupport.join(notified(at: 2), second)?.payload.revocationDate == 5000)
    }

    @Test func aNewerRevocationIsACancellationToo() throws {
        let revoked = signed(at: 2) {
            $0.revocationDate = 5678
            $0.revocationReason = .issueWithinApp
        }
        let joined = try #require(try FactSupport.join(receipt(at: 1), revoked))
        #expect(joined.payload.revocationDate == 5678)
        #expect(joined.legacy.cancellationDate == 5678)
        #expect(joined.legacy.cancellationReason == 1)
    }

    @Test func aNewerReceiptConfirmsARevocationToTheMillisecond() throws {
        let revoked = signed(at: 1) {
            $0.revocationDate = 5678
            $0.revocationReason = .issueWithinApp
            $0.revocationType = .refundProrated
        }
        let joined = try #require(try FactSupport.join(receipt(at: 2, cancelled(5000)), revoked))
        #expect(joined.payload.revocationDate == 5678)
        #expect(joined.payload.revocationType == .refundProrated)
        #expect(joined.legacy.cancellationReason == 1)
    }

    /// Neither is newer. The signed transaction is the finer statement: it has milliseconds, a reason and a kind of refund.
    @Test func ofEqualDatesTheRevocationOfTheSignedTransactionStandsAgainstTheCancellationOfAReceipt() throws {
        let revoked = signed(at: 2) {
            $0.revocationDate = 9123
            $0.revocationReason = .issueWithinApp
            $0.revocationType = .refundProrated
        }
        let cancelled = receipt(at: 2, cancelled(5000, reason: 0))
        for facts in [[revoked, cancelled], [cancelled, revoked]] {
            let joined = try #require(try FactSupport.join(facts[0], facts[1]))
            #expect(joined.payload.revocationDate == 9123)
            #expect(joined.payload.revocationReason == .issueWithinApp)
            #expect(joined.payload.revocationType == .refundProrated)
            #expect(joined.legacy.cancellationDate == 9123)
            #expect(joined.legacy.cancellationReason == 1)
        }
    }

    @Test(arguments: [Int64(1), 3])
    func anUpgradeKeepsTheCancellationDateOfTheReceipt(receiptDate: Int64) throws {
        let joined = try #require(
            try FactSupport.join(
                receipt(at: receiptDate, cancelled(5000, reason: 0)), signed(at: 2) { $0.isUpgraded = true }))
        #expect(joined.payload.isUpgraded == true)
        #expect(joined.payload.revocationDate == nil)
        #expect(joined.legacy.cancellationDate == 5000)
        #expect(joined.legacy.cancellationReason == 0)
    }

    /// REFUND for a period that was upgraded before. A receipt does not distinguish the two.
    @Test func aSignedRefundOfAnUpgradedPeriodStaysBesideTheNextPeriodAndANewerReceipt() throws {
        let upgrade = june + 10 * StoreSamples.day
        let refund = june + 12 * StoreSamples.day
        let year = Samples.fact("2", original: "1", product: "yearly", source: .notificationV2, at: refund) {
            $0.type = .autoRenewableSubscription
            $0.expiresDate = june + 365 * StoreSamples.day
            $0.isUpgraded = true
            $0.revocationDate = refund
            $0.revocationReason = .issueWithinApp
            $0.revocationType = .refundProrated
            $0.revocationPercentage = 50_000
            $0.price = 10_000
            $0.currency = "USD"
        }
        let month = Samples.fact("3", original: "1", source: .notificationV2, at: upgrade) {
            $0.type = .autoRenewableSubscription
            $0.purchaseDate = upgrade
            $0.expiresDate = upgrade + 30 * StoreSamples.day
        }
        let receipt = Samples.fact(
            "2", original: "1", product: "yearly", at: refund + 1_000, legacy: cancelled(upgrade, reason: 0)
        ) {
            $0.type = .autoRenewableSubscription
            $0.expiresDate = june + 365 * StoreSamples.day
        }
        for facts in [[year], [year, month], [year, receipt], [receipt, month, year]] {
            let customer = try #require(Customer(resolving: facts.map { Samples.set($0) }))
            let old = try #require(customer.transactions.first { $0.payload.transactionId == "2" })
            #expect(old.payload.isUpgraded == true && old.signedState == .upgraded)
            #expect(old.payload.revocationDate == refund && old.payload.revocationReason == .issueWithinApp)
            #expect(old.payload.revocationType == .refundProrated && old.payload.revocationPercentage == 50_000)
            #expect(old.completeLegacy.cancellationDate == refund && old.completeLegacy.cancellationReason == 1)
            let amounts = customer.lifetimeAmounts(catalog: nil)
            #expect(amounts.refunds == 1 && amounts.refunded == ["USD": 5_000])
            #expect(customer.revokedPurchases(catalog: nil).count == 1)
        }
    }

    @Test func aSignedUpgradeTakesItsDateFromARecordedReply() throws {
        let joined = try #require(
            try FactSupport.join(signed(at: 2) { $0.isUpgraded = true }, recorded(at: 9, cancelled(5000))))
        #expect(joined.legacy.cancellationDate == 5000)
        #expect(joined.payload.revocationDate == nil)
    }

    // MARK: Recorded documents

    @Test func recordedFactsNeverOverrideSignedOnes() throws {
        let forged = recorded(at: 9000, cancelled(5000)) {
            $0.productId = "other"
            $0.expiresDate = 999
            $0.quantity = 7
            $0.isUpgraded = true
            $0.price = 1
            $0.offerType = .introductory
        }
        let byReceipt = try #require(try FactSupport.join(receipt(at: 1), forged))
        #expect(byReceipt.payload.productId == "monthly")
        #expect(byReceipt.payload.expiresDate == nil)
        #expect(byReceipt.payload.isUpgraded == nil)
        #expect(byReceipt.payload.offerType == nil)
        #expect(byReceipt.payload.revocationDate == nil)
        #expect(byReceipt.legacy.cancellationDate == nil)
        let bySigned = try #require(try FactSupport.join(signed(at: 1), forged))
        #expect(bySigned.payload.quantity == nil || bySigned.payload.quantity == 7)
        #expect(bySigned.payload.productId == "monthly")
        #expect(bySigned.payload.price == nil)
        #expect(bySigned.payload.isUpgraded == nil)
        #expect(bySigned.payload.revocationDate == nil)
    }

    @Test func recordedFactsFillFieldsThatReceiptsLack() throws {
        let reply = recorded(
            at: 9,
            legacy {
                $0.isTrialPeriod = true
                $0.isInIntroOfferPeriod = false
                $0.offerCodeRefName = "SUMMER"
                $0.inAppOwnershipType = .purchased
            }
        ) {
            $0.subscriptionGroupIdentifier = "g"
            $0.appAccountToken = "t"
            $0.offerType = .offerCode
            $0.offerIdentifier = "SUMMER"
            $0.inAppOwnershipType = .purchased
        }
        let joined = try #require(
            try FactSupport.join(receipt(at: 1, legacy { $0.isTrialPeriod = false }), reply))
        #expect(joined.payload.subscriptionGroupIdentifier == "g")
        #expect(joined.payload.appAccountToken == "t")
        #expect(joined.payload.offerType == .offerCode)
        #expect(joined.legacy.isTrialPeriod == false)
        #expect(joined.legacy.isInIntroOfferPeriod == false)
        #expect(joined.legacy.offerCodeRefName == "SUMMER")
        #expect(joined.legacy.inAppOwnershipType == .purchased)
        #expect(joined.isSigned)
    }

    @Test func aRowDoesNotStateThatASignedTransactionWasAssigned() throws {
        let row = recorded(at: 9, legacy { $0.inAppOwnershipType = .assigned }) { $0.inAppOwnershipType = .assigned }
        let signed = try #require(try FactSupport.join(receipt(at: 1), row))
        #expect(signed.payload.inAppOwnershipType == nil && signed.legacy.inAppOwnershipType == nil)
        let unsigned = try #require(try FactSupport.join(row))
        #expect(unsigned.payload.inAppOwnershipType == .assigned)
    }

    @Test func theOfferOfARowCountsIfItsFlagsFillThoseThatAReceiptLacks() throws {
        func flags(_ isTrial: Bool?, _ isIntroductory: Bool?) -> LegacyTransactionFields {
            legacy {
                $0.isTrialPeriod = isTrial
                $0.isInIntroOfferPeriod = isIntroductory
            }
        }
        func row(_ isTrial: Bool?, _ isIntroductory: Bool?) -> TransactionFact {
            recorded(at: 9, flags(isTrial, isIntroductory)) {
                $0.offerType = .introductory
                $0.offerDiscountType = isTrial == true ? .freeTrial : nil
            }
        }
        let trial = try #require(try FactSupport.join(receipt(at: 1), row(true, false)))
        #expect(trial.payload.offerType == .introductory && trial.payload.offerDiscountType == .freeTrial)
        #expect(trial.source(of: .offerType) == .stated(row(true, false).origin) && trial.legacy.isTrialPeriod == true)
        let paid = try #require(try FactSupport.join(receipt(at: 1, flags(false, nil)), row(false, true)))
        #expect(paid.payload.offerType == .introductory && paid.payload.offerDiscountType == nil)
        // A promotional offer has the same flags.
        let promotional = recorded(at: 9, flags(true, false)) {
            $0.offerType = .promotional
            $0.offerIdentifier = "loyal"
            $0.offerDiscountType = .freeTrial
        }
        let other = try #require(try FactSupport.join(receipt(at: 1), promotional))
        #expect(other.payload.offerType == .promotional && other.payload.offerIdentifier == "loyal")
        #expect(other.payload.offerDiscountType == .freeTrial && other.completeLegacy.promotionalOfferId == "loyal")
        // The flags of the receipt decide, and so does a signed transaction.
        let none = try #require(try FactSupport.join(receipt(at: 1, flags(false, false)), row(true, true)))
        #expect(none.payload.offerType == nil && none.payload.offerDiscountType == nil)
        #expect(try FactSupport.join(signed(at: 1), receipt(at: 1), row(true, false))?.payload.offerType == nil)
    }

    @Test func theOfferOfASignedTransactionDecidesTheFlagsAndNotARow() throws {
        let flags = legacy {
            $0.isTrialPeriod = false
            $0.isInIntroOfferPeriod = true
        }
        let trial = signed(at: 1) {
            $0.type = .autoRenewableSubscription
            $0.offerType = .introductory
            $0.offerDiscountType = .freeTrial
        }
        let joined = try #require(try FactSupport.join(trial, recorded(at: 9, flags)))
        #expect(joined.completeLegacy.isTrialPeriod == true && joined.completeLegacy.isInIntroOfferPeriod == false)
        // A receipt has the flags that Apple stated.
        let both = try #require(try FactSupport.join(trial, receipt(at: 1, flags), recorded(at: 9)))
        #expect(both.completeLegacy.isTrialPeriod == false && both.completeLegacy.isInIntroOfferPeriod == true)
    }

    @Test func theLineItemOfARowDoesNotMakeASignedPurchaseARenewalOfASubscription() throws {
        let row = recorded(at: 9) { $0.webOrderLineItemId = "900" }
        let signed = try #require(try FactSupport.join(receipt(at: 1), row))
        #expect(signed.payload.webOrderLineItemId == "900" && !signed.isRenewal)
        let received = Samples.fact("2", original: "1", at: 1) { $0.webOrderLineItemId = "900" }
        #expect(try FactSupport.join(received, row)?.isRenewal == true)
        #expect(try FactSupport.join(row)?.isRenewal == true)
    }

    /// Whether an introductory offer is possible, with everything known until much later.
    @inline(never)
    private func eligibility(_ facts: TransactionFact...) throws -> OfferVerdict.Eligibility {
        let customer = try #require(Customer(resolving: facts.map { Samples.set($0) }))
        let now = june + 1000 * Samples.day
        return customer.purchaseHistory(catalog: nil, currentThrough: now)
            .introductoryEligibility(group: "20456789", at: now).eligibility
    }

    @Test func theLineItemOfARowDoesNotMakeASignedPurchaseASubscriptionWhoseEndIsUnknown() throws {
        let row = recorded(at: 9) { $0.webOrderLineItemId = "900" }
        #expect(try eligibility(receipt(at: 1)) == .eligible)
        #expect(try eligibility(receipt(at: 1), row) == .eligible)
        // A receipt decides, and so does a row about a purchase that no signed document states.
        let received = Samples.fact("2", original: "1", at: 1) { $0.webOrderLineItemId = "900" }
        #expect(try eligibility(received, row) == .unknown)
        #expect(try eligibility(row) == .unknown)
    }

    @Test func aRowMovesNoProductOutOfTheGroupThatASignedTransactionStates() throws {
        func period(_ id: String, from day: Int64, group: String?, _ source: FactSource) -> TransactionFact {
            Samples.fact(id, original: "1", source: source, at: june + 200 * Samples.day) {
                $0.type = .autoRenewableSubscription
                $0.subscriptionGroupIdentifier = group
                $0.purchaseDate = june + day * Samples.day
                $0.expiresDate = june + (day + 30) * Samples.day
            }
        }
        let signed = period("2", from: 30, group: "20456789", .notificationV2)
        for day in [Int64(0), 60] {
            let row = period("3", from: day, group: "1", .recordedReply)
            for facts in [[signed, row], [signed, row, period("3", from: day, group: nil, .receipt)]] {
                let customer = try #require(Customer(resolving: facts.map { Samples.set($0) }))
                #expect(customer.purchaseHistory(catalog: nil).knownGroups == ["monthly": "20456789"])
            }
        }
    }

    @Test func aRecordedUpgradeExplainsTheCancellationOfAReceipt() throws {
        let joined = try #require(
            try FactSupport.join(
                receipt(at: 1, cancelled(5000)), recorded(at: 2, cancelled(5000)) { $0.isUpgraded = true }))
        #expect(joined.payload.isUpgraded == true)
        #expect(joined.payload.revocationDate == nil)
        #expect(joined.legacy.cancellationDate == 5000)
    }

    @Test func aDocumentThatStatesNoUpgradeDoesNotExplainTheCancellationOfAReceipt() throws {
        let date = june + 5 * StoreSamples.day
        func year(_ source: FactSource, at signed: Int64, _ legacy: LegacyTransactionFields?, isUpgraded: Bool?)
            -> TransactionFact
        {
            Samples.fact("2", original: "1", product: "yearly", source: source, at: signed, legacy: legacy) {
                $0.type = .autoRenewableSubscription
                $0.expiresDate = june + 365 * StoreSamples.day
                $0.isUpgraded = isUpgraded
            }
        }
        let month = Samples.fact("3", original: "1", at: date + 1_000) {
            $0.type = .autoRenewableSubscription
            $0.purchaseDate = date
            $0.expiresDate = date + 30 * StoreSamples.day
        }
        let receipt = year(.receipt, at: date + 1_000, cancelled(date), isUpgraded: nil)
        for source in [FactSource.signedTransaction, .recordedStoreKit2] {
            let denial = year(source, at: date - 1_000, nil, isUpgraded: false)
            let customer = try #require(Customer(resolving: [Samples.set(receipt, month, denial)]))
            let old = try #require(customer.transactions.first { $0.payload.transactionId == "2" })
            #expect(old.payload.isUpgraded == true && old.payload.revocationDate == nil)
            #expect(old.source(of: .isUpgraded) == .inferred(.cancelledWhenNextPeriodBegan))
        }
    }

    @Test func recordedFactsAloneAreMarkedUnsigned() throws {
        let joined = try #require(try FactSupport.join(recorded(at: 1, cancelled(5000))))
        #expect(!joined.isSigned)
        #expect(joined.payload.revocationDate == 5000)
    }

    // MARK: Apps

    @Test func anAppIsKnownByTheNewestOfBothDocuments() throws {
        var app = AppTransaction()
        app.appTransactionId = "704"
        app.originalPurchaseDate = 5123
        app.originalApplicationVersion = "1"
        var receipt = AppTransaction()
        receipt.applicationVersion = "9"
        receipt.originalPurchaseDate = 5000
        var model = ModelStore()
        let identity = Samples.original("1")
        for (payload, source, date) in [(app, FactSource.signedTransaction, Int64(1)), (receipt, .receipt, 2)] {
            let origin = FactOrigin(source: source, signedDate: date)
            model.apply(
                Samples.set(
                    Samples.fact("1"), app: AppTransactionFact(payload: payload, origin: origin)))
        }
        let joined = try #require(try model.customer([identity], in: Samples.scope)?.appTransaction)
        #expect(joined.payload.appTransactionId == "704")
        #expect(joined.payload.applicationVersion == "9")
        #expect(joined.payload.originalApplicationVersion == "1")
        #expect(joined.payload.originalPurchaseDate == 5123)
        #expect(joined.origins.count == 2)
    }

    /// StoreKit 2 cannot state it, and an unsigned document counts only without a receipt.
    @Test func aVolumePurchaseIsKnownDespiteOtherDocuments() throws {
        func fields(_ type: String) -> LegacyAppTransactionFields {
            var fields = LegacyAppTransactionFields()
            fields.receiptType = type
            return fields
        }
        let receipt = Samples.app("1", at: 1, legacy: fields("ProductionVPP"))
        let signed = Samples.app("2", source: .signedTransaction, at: 2)
        let reply = Samples.app("3", source: .recordedReply, at: 3, legacy: fields("Production"))
        let cases: [(apps: [AppTransactionFact], type: String?)] = [
            ([receipt, signed, reply], "ProductionVPP"), ([signed, reply], "Production"), ([signed], nil),
        ]
        for (apps, expected) in cases {
            for order in StoreConformance.permutations(apps) {
                var model = ModelStore()
                for app in order { model.apply(Samples.set(Samples.fact("1"), app: app)) }
                let joined = try model.customer([Samples.original("1")], in: Samples.scope)?.appTransaction
                #expect(joined != nil && joined?.legacy.receiptType == expected)
            }
        }
    }

    @Test func theNewestReplyThatStatesTheReceiptTypeCountsForIt() throws {
        func fields(_ type: String) -> LegacyAppTransactionFields {
            var fields = LegacyAppTransactionFields()
            fields.receiptType = type
            return fields
        }
        let apps = [
            Samples.app("1", source: .recordedReply, at: 1, legacy: fields("Production")),
            Samples.app("2", source: .recordedReply, at: 2, legacy: fields("ProductionVPP")),
            Samples.app("3", source: .recordedStoreKit2, at: 3),
        ]
        for order in StoreConformance.permutations(apps) {
            var model = ModelStore()
            for app in order { model.apply(Samples.set(Samples.fact("1"), app: app)) }
            let customer = try #require(try model.customer([Samples.original("1")], in: Samples.scope))
            // Another store has the same.
            for joined in [customer.appTransaction, Customer(resolving: customer.factSets)?.appTransaction] {
                #expect(joined?.legacy == fields("ProductionVPP"))
                #expect(joined?.payload.applicationVersion == "3")
                #expect(joined?.origins.map(\.signedDate) == [3, 2])
            }
        }
    }
}
