import AppStoreModels
import Purchases
import Testing

/// Which period decides a verifyReceipt reply. Times are days.
@Suite("Periods in verifyReceipt replies")
struct LegacyPeriodTests {
    private func period(
        _ id: String?, _ start: Int64?, _ end: Int64?, of subscription: String? = "1", product: String = "month",
        cancelled: Int64? = nil, isUpgraded: Bool = false, sharesPeriod: Bool = false
    ) -> LegacyPeriod {
        LegacyPeriod(
            subscriptionId: subscription, transactionId: id, productId: product, start: start, end: end,
            cancellationDate: cancelled, isUpgraded: isUpgraded, sharesPeriod: sharesPeriod)
    }

    /// The id of the period that decides, in any order of the periods.
    private func deciding(_ periods: [LegacyPeriod], of subscription: String = "1", at now: Int64) -> String? {
        let submitted = period(nil, nil, nil, of: subscription)
        let place = LegacyPeriod.deciding(among: periods, for: submitted, at: now)
        let reversed = Array(periods.reversed())
        let other = LegacyPeriod.deciding(among: reversed, for: submitted, at: now)
        #expect(place.flatMap { periods[$0].transactionId } == other.flatMap { reversed[$0].transactionId })
        return place.flatMap { periods[$0].transactionId }
    }

    /// The ids of the current periods, in any order of the periods.
    private func current(_ periods: [LegacyPeriod], at now: Int64) -> [String?] {
        func ids(_ periods: [LegacyPeriod]) -> [String?] {
            zip(periods, LegacyPeriod.areCurrent(periods, at: now)).filter { $0.1 }.map { $0.0.transactionId }
        }
        let found = ids(periods)
        #expect(ids(Array(periods.reversed())) == Array(found.reversed()))
        return found
    }

    @Test("A period runs until its expiry, independent of a grace period")
    func expiry() {
        #expect(period("1", 0, 30).state(at: 29) == .running)
        #expect(period("1", 0, 30).state(at: 30) == .expired)
        #expect(period("1", 0, nil).state(at: 0) == .expired)
        #expect(period("1", 0, nil).state(at: .min) == .expired)
    }

    @Test("A cancellation counts as soon as it is stated, and an upgraded period does not run")
    func cancellation() {
        for date: Int64 in [0, 10, 40] {
            #expect(period("1", 0, 30, cancelled: date).state(at: 5) == .cancelled)
            #expect(period("1", 0, 30, cancelled: date).state(at: 50) == .cancelled)
        }
        #expect(period("1", 0, 30, isUpgraded: true).state(at: 5) == .expired)
        #expect(!period("1", 0, 30, isUpgraded: true).isRunning(at: 5))
    }

    @Test("The period that runs decides, else the one that ends last")
    func newest() {
        let months = [period("1", 0, 30), period("2", 30, 60), period("3", 60, 90)]
        #expect(deciding(months, at: 70) == "3")
        #expect(deciding(months, at: 100) == "3")
        // A refunded year ended at its refund, before the month.
        let year = period("4", 0, 365, cancelled: 10)
        #expect(deciding([year, period("5", 20, 50)], at: 30) == "5")
        #expect(deciding([year, period("5", 20, 50)], at: 50) == "5")
        #expect(deciding([period("5", 0, 30), period("6", 30, 60, cancelled: 40)], at: 50) == "6")
        // Of equal ends, the one that began last.
        #expect(deciding([period("6", 0, 30), period("7", 10, 30)], at: 20) == "7")
    }

    @Test("The subscription of a receipt is that of its transaction, also if documents state another original id")
    func anotherOriginalId() {
        let submitted = period("7", 0, 30)
        let periods = [period("9", 0, 60, of: "3"), period("7", 0, 30, of: "2", cancelled: 5)]
        #expect(LegacyPeriod.deciding(among: periods, for: submitted, at: 10) == 1)
        #expect(LegacyPeriod.deciding(among: periods + [period("8", 30, 60)], for: submitted, at: 40) == 2)
        #expect(LegacyPeriod.deciding(among: [period("8", 30, 60)], for: submitted, at: 40) == 0)
    }

    @Test("If one period has several ids, the smallest decides: it is the purchase, and the others are restored copies")
    func copies() {
        #expect(deciding([period("100", 0, 30), period("99", 0, 30)], at: 10) == "99")
        #expect(deciding([period("100", 0, 30), period("99", 0, 30)], at: 40) == "99")
    }

    @Test("Upgraded periods, other subscriptions and periods without an end do not decide")
    func others() {
        let upgraded = period("1", 0, 365, isUpgraded: true)
        #expect(deciding([upgraded, period("2", 10, 40, product: "full")], at: 20) == "2")
        #expect(deciding([upgraded, period("2", 10, 40, product: "full")], at: 50) == "2")
        #expect(deciding([upgraded], at: 20) == nil)
        #expect(deciding([period("1", 0, 30), period("9", 0, 365, of: "9")], at: 20) == "1")
        #expect(deciding([period("1", 0, nil)], at: 20) == nil)
        #expect(LegacyPeriod.deciding(among: [], for: period(nil, nil, nil), at: 20) == nil)
    }

    @Test("A refunded period ended at its refund: a later period of another product is current, also after its end")
    func refundedBefore() {
        let periods = [period("1", 0, 60, product: "bimonthly", cancelled: 28), period("2", 30, 37, product: "week")]
        #expect(current(periods, at: 35) == ["2"])
        #expect(current(periods, at: 40) == ["2"])
        #expect(current([period("1", 0, 30), period("2", 30, 60, cancelled: 40)], at: 70) == ["2"])
    }

    @Test("A refund after an upgrade does not make the upgraded period the current one")
    func refundedAfterUpgrade() {
        let upgraded = period("1", 0, 60, product: "bimonthly", cancelled: 50, isUpgraded: true)
        let week = period("2", 30, 37, product: "week")
        for now: Int64 in [35, 40, 70] { #expect(current([upgraded, week], at: now) == ["2"]) }
        #expect(current([period("0", -30, 0), upgraded], at: 70) == ["1"])
    }

    @Test("Each subscription has one current period: one that runs, else the one that ends last, else the newest id")
    func currentPeriods() {
        let months = [period("1", 0, 30), period("2", 30, 60), period("9", 0, 10, of: "9")]
        #expect(current(months, at: 40) == ["2", "9"])
        #expect(current(months, at: 70) == ["2", "9"])
        #expect(current([period("1", 0, 365, cancelled: 5), period("2", 10, 40)], at: 20) == ["2"])
        #expect(current([period("1", 0, 365, isUpgraded: true), period("2", 10, 40)], at: 20) == ["2"])
        #expect(current([period("99", 0, 30), period("100", 0, 30)], at: 20) == ["100"])
        // Nothing replaces a period without an id, and purchases of other types.
        #expect(current([period(nil, 0, 30, of: nil), period("1", 0, 30)], at: 20) == [nil, "1"])
        #expect(LegacyPeriod.areCurrent([nil, period("1", 0, 30), nil], at: 20) == [true, true, true])
    }

    @Test("All transactions of a period to which seats were added are current")
    func seats() {
        let added = period("3", 40_000, 60_800, sharesPeriod: true)
        #expect(current([period("1", 0, 30_000), period("2", 30_000, 60_800), added], at: 50_000) == ["2", "3"])
        #expect(current([period("2", 30_000, 60_800, product: "other"), added], at: 50_000) == ["3"])
        #expect(current([period("2", 30_000, 59_000), added], at: 50_000) == ["3"])
        // A receipt cuts the milliseconds off.
        #expect(current([period("2", 30_000, 60_000), added], at: 50_000) == ["2", "3"])
        // Receipts do not state that seats were added. One document shows it for all transactions of the period.
        let unstated = [period("2", 30_000, 60_000), added, period("4", 45_000, 60_000)]
        #expect(current(unstated, at: 50_000) == ["2", "3", "4"])
    }

    /// Renewal information that states a failed renewal, signed on a day.
    private func renewal(signed date: Int64, of id: String? = "1") -> StoredRenewalInfo {
        let payload = JWSRenewalInfoDecodedPayload {
            $0.originalTransactionId = id
            $0.autoRenewProductId = "month"
            $0.autoRenewStatus = .on
            $0.expirationIntent = .billingError
            $0.isInBillingRetryPeriod = true
            $0.gracePeriodExpiresDate = date + 6
        }
        return StoredRenewalInfo(
            payload: payload, origins: [FactOrigin(source: .notificationV2, signedDate: date)])
    }

    @Test("Renewal information from before the newest period says nothing about its end")
    func olderRenewalInfo() {
        let periods = [period("2", 30, 60), period("1", 0, 30)]
        let older = renewal(signed: 29)
        let info = older.info(beside: periods)
        #expect(info.expirationIntent == nil && info.isInBillingRetryPeriod == nil)
        #expect(info.gracePeriodExpiresDate == nil)
        #expect(info.autoRenewStatus == .on && info.autoRenewProductId == "month")
        let newer = renewal(signed: 60)
        #expect(newer.info(beside: periods) == newer.payload)
        // The newer period is of another subscription, or none is known.
        let others = [period("2", 30, 60, of: "2"), period("1", 0, 30)]
        #expect(renewal(signed: 30).info(beside: others) == renewal(signed: 30).payload)
        #expect(older.info(beside: [LegacyPeriod]()) == older.payload)
        #expect(renewal(signed: 29, of: nil).info(beside: periods) == renewal(signed: 29, of: nil).payload)
    }

    @Test("The renewal info of an iOS 6 receipt is that of the period that decides, also under another original id")
    func renewalOfAnotherOriginalId() throws {
        let submitted = period("7", 0, 30)
        let periods = [period("8", 30, 60, of: "2"), period("7", 0, 30, of: "2"), period("9", 0, 90, of: "3")]
        func shown(_ infos: [StoredRenewalInfo]) -> JWSRenewalInfoDecodedPayload? {
            infos.info(for: submitted, deciding: periods[0], beside: periods)
        }
        let (own, other) = (renewal(signed: 60), renewal(signed: 60, of: "2"))
        #expect(shown([own, other]) == other.payload && shown([other, own]) == other.payload)
        #expect(shown([other]) == other.payload && shown([own]) == own.payload)
        #expect(shown([renewal(signed: 60, of: "3")]) == nil && shown([]) == nil)
        // The newest period has the other id.
        let older = try #require(shown([renewal(signed: 29)]))
        #expect(older.expirationIntent == nil && older.autoRenewStatus == .on)
    }

    @Test("A receipt for the period that decides is the latest one, or one for a later purchase that was not refunded")
    func latestReceipt() {
        let (submitted, deciding) = (period("1", 0, 30), period("3", 60, 90))
        func isLatest(_ stored: LegacyPeriod, deciding other: LegacyPeriod? = nil) -> Bool {
            stored.isLatestReceipt(inPlaceOf: submitted, deciding: other ?? deciding)
        }
        #expect(isLatest(period("3", 60, 90)))
        #expect(isLatest(period("3", 60, 90, cancelled: 70)))
        #expect(isLatest(period("2", 30, 60)))
        #expect(!isLatest(period("2", 30, 60, cancelled: 40)))
        #expect(!isLatest(period("0", -30, 0)) && !isLatest(period("0", nil, 0)))
        // The submitted receipt decides.
        #expect(!isLatest(period("2", 30, 60), deciding: submitted))
    }

    @Test("A period has changed since its receipt if it has another cancellation or another end")
    func changes() {
        let document = period("1", 0, 30)
        #expect(!period("1", 0, 30, isUpgraded: true).hasChanged(since: document))
        #expect(period("1", 0, 31).hasChanged(since: document))
        #expect(period("1", 0, 30, cancelled: 10).hasChanged(since: document))
        #expect(document.hasChanged(since: period("1", 0, 30, cancelled: 10)))
    }
}
