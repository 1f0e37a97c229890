import AppStoreModels
import Purchases
import Testing

/// Which periods another product replaced. Times are days.
@Suite struct UpgradeRuleTests {
    private typealias Period = UpgradeRule.Period
    private typealias Statement = UpgradeRule.Statement

    private static let day: Int64 = 86_400_000

    private static func period(
        _ product: String, _ start: Double, _ end: Double, original: String = "1", order: String? = nil,
        isShared: Bool = false, isUpgraded: Bool = false, cancelled: Double? = nil,
        _ statement: Statement = Statement(isSigned: true)
    ) -> Period {
        func date(_ days: Double) -> Int64 { Int64(days * Double(day)) }
        return Period(
            originalTransactionId: original, productId: product, start: date(start), end: date(end),
            webOrderLineItemId: order, isFamilyShared: isShared, isUpgraded: isUpgraded,
            cancellationDate: cancelled.map(date), statement: statement)
    }

    /// The upgrades as `index@day`, in any order of the periods.
    private func upgrades(_ periods: [Period]) -> [String] {
        let found = UpgradeRule.upgrades(among: periods)
        let reversed = UpgradeRule.upgrades(among: Array(periods.reversed()))
        #expect(
            Set(found.map { [Int64($0.place), $0.date] })
                == Set(reversed.map { [Int64(periods.count - 1 - $0.place), $0.date] }))
        return found.map { upgrade in
            "\(upgrade.place)@" + (upgrade.date.map { "\(Double($0) / Double(Self.day))" } ?? "?")
        }
    }

    @Test func aPeriodInWhichAnotherProductBeginsIsUpgradedThen() {
        #expect(upgrades([Self.period("year", 0, 365), Self.period("month", 100, 130)]) == ["0@100.0"])
        // The nearest beginning counts, of whichever other product.
        #expect(
            upgrades([
                Self.period("year", 0, 365), Self.period("week", 200, 207), Self.period("month", 100, 130),
            ]) == ["0@100.0"])
        let found = UpgradeRule.upgrades(among: [Self.period("year", 0, 365), Self.period("month", 100, 130)])
        #expect(found.map(\.rule) == [.replacedWhileRunning])
    }

    @Test func aPeriodAtOrAfterTheEndIsNoUpgrade() {
        for start in [30, 30.5, 99] {
            #expect(upgrades([Self.period("month", 0, 30), Self.period("year", start, 400)]).isEmpty)
        }
        // A receipt has whole seconds; the end of a signed transaction has milliseconds.
        let end = Self.period("month", 0, 30.000_005_8)
        #expect(upgrades([end, Self.period("year", 30, 400)]).isEmpty)
        // The same product again is a renewal, early or not.
        #expect(upgrades([Self.period("month", 0, 30), Self.period("month", 29, 60)]).isEmpty)
    }

    @Test func aRenewalThatWasChargedAheadReplacesNothing() {
        // "lite" renews at its end, after the upgrade to "full".
        let periods = [
            Self.period("lite", 0, 30), Self.period("full", 29, 59), Self.period("lite", 30, 60),
        ]
        #expect(upgrades(periods).isEmpty)
        let renewal = Self.period("lite", 31, 61, Statement(isSigned: true, isRenewal: true))
        #expect(upgrades([Self.period("full", 29, 59), renewal]).isEmpty)
    }

    @Test func anUpgradeReplacesTheRenewalThatWasChargedAheadAndNotThePeriodBeforeIt() {
        let lite = Self.period("lite", 0, 30)
        let renewal = Self.period("lite", 30, 60, isUpgraded: true, cancelled: 30.2)
        let full = Self.period("full", 29.9, 395)
        #expect(upgrades([full, renewal, lite]).isEmpty)
        // The App Store charges a renewal at most 24 hours ahead.
        #expect(upgrades([lite, Self.period("full", 28.9, 395), renewal]) == ["0@28.9"])
        // Without its renewal, the period itself was replaced.
        #expect(upgrades([lite, full]) == ["0@29.9"])
        #expect(upgrades([lite, full, Self.period("lite", 31, 61)]) == ["0@29.9", "1@31.0"])
        #expect(upgrades([lite, full, Self.period("other", 30, 60)]) == ["0@29.9", "1@30.0"])
        // The period after both may be the successor of the other product.
        #expect(upgrades([lite, Self.period("full", 29.9, 30), Self.period("lite", 30, 60)]) == ["0@29.9"])
        // An upgrade that is stated is not taken back.
        let stated = UpgradeRule.upgrades(among: [Self.period("lite", 0, 30, isUpgraded: true), full, renewal])
        #expect(stated.map(\.place) == [0] && stated.map(\.rule) == [nil])
        // A cancellation in the second of the upgrade shows an upgrade of the period itself.
        #expect(upgrades([Self.period("lite", 0, 30, cancelled: 29.9), full, renewal]) == ["0@29.9"])
    }

    @Test func aRenewalChargedAheadFollowsAllCopiesOfThePeriod() {
        let periods = [
            Self.period("lite", 0, 30, order: "7"), Self.period("lite", 0, 31, order: "7"),
            Self.period("full", 29.9, 395), Self.period("lite", 31, 61, order: "8"),
        ]
        // The App Store extended the period by a day. 26 hours before the new end no renewal was charged.
        #expect(upgrades(periods) == ["0@29.9", "1@29.9"])
        let later = [periods[0], periods[1], Self.period("full", 30.5, 395), periods[3]]
        #expect(upgrades(later).isEmpty)
        let before = [periods[0], periods[1], Self.period("full", 29.9, 395), Self.period("lite", 30, 60, order: "8")]
        #expect(upgrades(before).isEmpty)
    }

    @Test func anUpgradeThatIsStatedAboutOneCopyIsOneOfAllCopiesAlsoIfTheRenewalIsKnown() {
        let periods = [
            Self.period("lite", 0, 30, order: "7", isUpgraded: true), Self.period("lite", 0, 30, order: "7"),
            Self.period("full", 29.9, 395), Self.period("lite", 30, 60, order: "8"),
        ]
        #expect(upgrades(periods) == ["0@29.9", "1@29.9"])
    }

    @Test func theTimeForWhichARenewalIsChargedAheadIsThatOfWholeSeconds() {
        let tenth = 0.1 / 86_400
        // Receipts state the same three dates without the fractions.
        for fraction in [0, tenth] {
            let end = 30 + 9 * fraction
            let renewal = Self.period("lite", end, 60)
            #expect(upgrades([Self.period("lite", 0, end), Self.period("full", 29 + fraction, 395), renewal]).isEmpty)
        }
    }

    @Test func anUnsignedRenewalDoesNotKeepASignedPeriodFromAnUpgrade() {
        let row = Self.period("lite", 30, 60, isUpgraded: true, Statement(isSigned: false))
        #expect(upgrades([Self.period("lite", 0, 30), Self.period("full", 29.9, 395), row]) == ["0@29.9"])
    }

    @Test func seatsAddedToAPeriodAreNoUpgrade() {
        #expect(upgrades([Self.period("team", 0, 30), Self.period("team", 10, 30)]).isEmpty)
        // Nor do they hide the upgrade to their product, or move its date.
        let upgraded = [Self.period("lite", 0, 30), Self.period("team", 10, 40), Self.period("team", 12, 40)]
        #expect(upgrades(upgraded) == ["0@10.0"])
        // Both transactions of a period end when another product takes its place.
        let left = [Self.period("team", 0, 30), Self.period("team", 10, 30), Self.period("full", 20, 50)]
        #expect(upgrades(left) == ["0@20.0", "1@20.0"])
    }

    @Test func aRefundIsNoUpgrade() {
        let revoked = Self.period("year", 0, 365, cancelled: 50, Statement(isSigned: true, explainsCancellation: true))
        #expect(upgrades([revoked, Self.period("month", 100, 130)]).isEmpty)
        // Not even where the other product begins in the second of the refund: the App Store says what it was.
        #expect(upgrades([revoked, Self.period("month", 50, 80)]).isEmpty)
        // A receipt does not say; there only the same second makes an upgrade of it.
        let cancelled = Self.period("year", 0, 365, cancelled: 50)
        #expect(upgrades([cancelled, Self.period("month", 100, 130)]).isEmpty)
        let found = UpgradeRule.upgrades(among: [cancelled, Self.period("month", 50, 80)])
        #expect(found.map(\.rule) == [.cancelledWhenNextPeriodBegan])
    }

    @Test func familySharingAndOtherSubscriptionsAreLookedAtApart() {
        let year = Self.period("year", 0, 365)
        #expect(upgrades([year, Self.period("month", 100, 130, isShared: true)]).isEmpty)
        #expect(upgrades([year, Self.period("month", 100, 130, original: "2")]).isEmpty)
        #expect(
            upgrades([
                Self.period("year", 0, 365, isShared: true), Self.period("month", 100, 130, isShared: true),
            ]) == ["0@100.0"])
    }

    @Test func unsignedDataDoesNotEndASignedPeriod() {
        let unsigned = Statement(isSigned: false)
        #expect(upgrades([Self.period("year", 0, 365), Self.period("month", 100, 130, unsigned)]).isEmpty)
        #expect(upgrades([Self.period("year", 0, 365, unsigned), Self.period("month", 100, 130)]) == ["0@100.0"])
        #expect(
            upgrades([Self.period("year", 0, 365, unsigned), Self.period("month", 100, 130, unsigned)])
                == ["0@100.0"])
    }

    @Test func unsignedDataDoesNotMoveTheBeginningOfASignedPeriod() {
        let unsigned = Statement(isSigned: false)
        // A downgrade at renewal. The unsigned row of the same order line begins in the middle of the signed year.
        let year = Self.period("year", 0, 365)
        let month = Self.period("month", 365, 395, order: "7")
        let row = Self.period("month", 150, 180, order: "7", unsigned)
        #expect(upgrades([year, month, row]).isEmpty)
        // Where the year is unsigned, all that is known decides.
        let unsignedYear = Self.period("year", 0, 365, unsigned)
        #expect(upgrades([unsignedYear, month, row]) == ["0@150.0"])
    }

    @Test func anUnsignedPeriodDoesNotMakeASignedPeriodARenewal() {
        let unsigned = Statement(isSigned: false)
        let month = Self.period("month", 100, 130)
        let earlier = Self.period("month", 70, 100, unsigned)
        #expect(upgrades([Self.period("year", 70, 435), month, earlier]) == ["0@100.0"])
        #expect(upgrades([Self.period("year", 70, 435, unsigned), month, earlier]).isEmpty)
    }

    @Test func unsignedDataDoesNotExplainASignedCancellation() {
        let unsigned = Statement(isSigned: false)
        let month = Self.period("month", 50, 80, unsigned)
        #expect(upgrades([Self.period("year", 0, 365, cancelled: 50), month]).isEmpty)
        #expect(upgrades([Self.period("year", 0, 365, cancelled: 50, unsigned), month]) == ["0@50.0"])
    }

    @Test func aLaterStatementOfTheAppStoreDecides() {
        func year(_ days: Int64) -> Period {
            Self.period("year", 0, 365, Statement(isSigned: true, notUpgradedAsOf: days * Self.day))
        }
        #expect(upgrades([year(99), Self.period("month", 100, 130)]) == ["0@100.0"])
        #expect(upgrades([year(101), Self.period("month", 100, 130)]).isEmpty)
        // A later change is another one.
        #expect(
            upgrades([year(101), Self.period("month", 100, 130), Self.period("week", 120, 127)])
                .contains("0@120.0"))
    }

    @Test func theLeastDateOfAStatementRulesOutNothing() {
        let year = Self.period("year", 0, 365, Statement(isSigned: true, notUpgradedAsOf: .min))
        #expect(upgrades([year, Self.period("month", 100, 130)]) == ["0@100.0"])
    }

    @Test func anUpgradeThatIsStatedGetsItsDate() {
        let stated = Self.period("year", 0, 365, isUpgraded: true, Statement(isSigned: true))
        let found = UpgradeRule.upgrades(among: [stated, Self.period("month", 100, 130)])
        #expect(found.map(\.date) == [100 * Self.day] && found.map(\.rule) == [nil])
        #expect(upgrades([stated]).isEmpty)
    }

    @Test func aRestoredCopyHasTheBeginningOfItsPeriod() {
        // Old receipts gave copies the date of the restoration.
        let copy = Self.period("year", 110, 365, order: "7")
        #expect(
            upgrades([Self.period("year", 0, 365, order: "7"), Self.period("month", 100, 130), copy])
                == ["0@100.0", "2@100.0"])
    }

    @Test func aSignedStatementAboutOneCopyAppliesToAllCopies() {
        func year(order: String, isUpgraded: Bool = false, notUpgradedAsOf day: Int64? = nil) -> Period {
            Self.period(
                "year", 0, 365, order: order, isUpgraded: isUpgraded,
                Statement(isSigned: true, notUpgradedAsOf: day.map { $0 * Self.day }))
        }
        let month = Self.period("month", 100, 130)
        #expect(upgrades([year(order: "7"), month, year(order: "7", notUpgradedAsOf: 101)]).isEmpty)
        #expect(upgrades([year(order: "7"), month, year(order: "7", notUpgradedAsOf: 99)]) == ["0@100.0", "2@100.0"])
        #expect(upgrades([year(order: "7"), month, year(order: "8", notUpgradedAsOf: 101)]) == ["0@100.0"])
        // Zero names no period.
        #expect(upgrades([year(order: "0"), month, year(order: "0", notUpgradedAsOf: 101)]) == ["0@100.0"])
        // An upgrade is never taken back.
        #expect(
            upgrades([
                year(order: "7"), month, year(order: "7", notUpgradedAsOf: 101), year(order: "7", isUpgraded: true),
            ]) == ["0@100.0", "3@100.0"])
    }

    @Test func copiesOfAPeriodBeginOrEndInTheSameSecond() {
        func year(_ start: Double, _ end: Double, notUpgradedAsOf day: Int64? = nil) -> Period {
            Self.period(
                "year", start, end, order: "7",
                Statement(isSigned: true, notUpgradedAsOf: day.map { $0 * Self.day }))
        }
        let month = Self.period("month", 100, 130)
        // The App Store extended the period, and an older receipt does not state it.
        #expect(upgrades([year(0, 365), month, year(0, 370, notUpgradedAsOf: 101)]).isEmpty)
        #expect(upgrades([year(0, 365), month, year(50, 365, notUpgradedAsOf: 101)]).isEmpty)
        // In a real reply, two consecutive periods have the same line item.
        #expect(upgrades([year(0, 365), month, year(365, 730, notUpgradedAsOf: 400)]) == ["0@100.0"])
    }

    @Test func aCopyOfAStatedUpgradeIsUpgradedAlsoIfTheSuccessorIsUnknown() {
        func year(
            order: String = "7", signedAt day: Int64, isUpgraded: Bool = false, isJWS: Bool = true,
            cancelled: Double? = nil
        ) -> Period {
            let date = isJWS ? day * Self.day : nil
            return Self.period(
                "year", 0, 365, order: order, isUpgraded: isUpgraded, cancelled: cancelled,
                Statement(
                    isSigned: true, explainsCancellation: true, notUpgradedAsOf: isUpgraded ? nil : date,
                    upgradedAsOf: isUpgraded ? date : nil))
        }
        let upgraded = year(signedAt: 102, isUpgraded: true, cancelled: 101)
        let receipt = year(signedAt: 200, isJWS: false)
        #expect(upgrades([upgraded, receipt]) == ["1@?"])
        #expect(UpgradeRule.upgrades(among: [upgraded, receipt]).map(\.rule) == [.copyWasUpgraded])
        // A purchase of another product after the end is not the successor.
        #expect(upgrades([upgraded, receipt, Self.period("month", 400, 430)]) == ["1@?"])
        // A known successor gives the date, and the upgrade of the copy no other rule.
        let dated = UpgradeRule.upgrades(among: [upgraded, receipt, Self.period("month", 100, 130)])
        #expect(dated.map(\.date) == [100 * Self.day, 100 * Self.day])
        #expect(dated.map(\.rule) == [nil, .replacedWhileRunning])
        // Another period is no copy.
        #expect(upgrades([upgraded, year(order: "8", signedAt: 200, isJWS: false)]).isEmpty)
        // What the App Store signed about the copy itself decides, unless it is more than a day older.
        #expect(upgrades([upgraded, year(signedAt: 101)]).isEmpty)
        #expect(upgrades([upgraded, year(signedAt: 110)]).isEmpty)
        #expect(upgrades([upgraded, year(signedAt: 100)]) == ["1@?"])
        // A refund stays one.
        #expect(upgrades([upgraded, year(signedAt: 200, isJWS: false, cancelled: 150)]).isEmpty)
        // Unsigned documents decide nothing about a signed period.
        let row = Self.period(
            "year", 0, 365, order: "7", isUpgraded: true, cancelled: 101, Statement(isSigned: false))
        #expect(upgrades([row, receipt]).isEmpty)
        let unsigned = Self.period("year", 0, 365, order: "7", Statement(isSigned: false))
        #expect(upgrades([row, unsigned]) == ["1@?"])
        #expect(upgrades([upgraded, unsigned]) == ["1@?"])
    }

    @Test func manyCopiesTakeLittleTime() {
        // Each period is a copy of the one before; a search among all of them would compare 10^10 pairs.
        var periods = (0..<100_000).map { (place: Int) -> Period in
            let (start, end) = (place / 2, 300_000 - (place + 1) / 2)
            return Self.period("year", Double(start), Double(end), order: "7")
        }
        periods.append(Self.period("month", 200_000, 200_030))
        #expect(UpgradeRule.upgrades(among: periods).count == 100_000)
    }

    @Test func manyPeriodsTakeLittleTime() {
        // All periods of one product run at once; a quadratic search would look at 10^10 pairs.
        var periods = (0..<100_000).map { Self.period("year", Double($0) / 1_000, 400) }
        periods.append(Self.period("month", 200, 230))
        #expect(UpgradeRule.upgrades(among: periods).count == 100_000)
    }
}
