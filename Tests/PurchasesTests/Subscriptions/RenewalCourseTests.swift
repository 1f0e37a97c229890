import AppStoreModels
import Purchases
import Testing

@Suite("The course of a subscription period")
struct RenewalCourseTests {
    private func course(_ changes: RenewalChange...) -> RenewalCourse { RenewalCourse(changes) }

    @Test("The latest stage since the last recovery is the status of a period")
    func status() {
        #expect(course().status == .active)
        #expect(course(.priceIncreasePending).status == .active)
        #expect(course(.gracePeriodEntered).status == .billingGracePeriod)
        #expect(course(.gracePeriodEntered, .gracePeriodExpired).status == .billingRetry)
        #expect(course(.billingFailed).status == .billingRetry)
        #expect(course(.expired, .priceIncreaseAccepted).status == .expired)
        #expect(course(.billingFailed, .billingRecovered).status == .active)
        #expect(course(.expired, .billingRecovered, .gracePeriodEntered).status == .billingGracePeriod)
        #expect(RenewalCourse(of: [course(.gracePeriodEntered), course(), course(.expired)]).status == .expired)
        #expect(RenewalCourse(of: []).status == .active)
    }

    @Test("An end by time counts until another change corrects it")
    func endedByTime() {
        #expect(course(.endedByTime).status == .expired && course(.endedByTime).isEndedByTime)
        #expect(course(.endedByTime, .priceIncreasePending).isEndedByTime)
        let corrected = course(.endedByTime, .billingFailed)
        #expect(corrected.status == .billingRetry && !corrected.isEndedByTime)
        #expect(!course(.endedByTime, .billingRecovered).isEndedByTime)
        #expect(!course(.expired).isEndedByTime && !course().isEndedByTime)
    }

    @Test("Each change of a period comes once, and none after a later one")
    func newChanges() {
        let failed = course(.billingFailed)
        #expect(!failed.isNew(.billingFailed) && !failed.isNew(.gracePeriodEntered))
        #expect(!failed.isNew(.gracePeriodExpired) && !failed.isNew(.billingRecovered))
        #expect(failed.isNew(.expired) && failed.isNew(.endedByTime) && failed.isNew(.priceIncreasePending))
        #expect(course().isNew(.billingRecovered))
        let accepted = course(.priceIncreaseAccepted)
        #expect(!accepted.isNew(.priceIncreasePending) && !accepted.isNew(.priceIncreaseAccepted))
        #expect(accepted.isNew(.billingFailed))
        #expect(!RenewalCourse(of: [course(), failed]).isNew(.billingFailed))
    }

    @Test("The newest transaction with a price increase states its status")
    func priceIncrease() {
        let changes: [[RenewalChange]] = [
            [.billingFailed], [.priceIncreasePending, .priceIncreaseAccepted, .expired], [.priceIncreasePending],
        ]
        #expect(RenewalCourse.priceIncrease(newestFirst: changes) == .consentedOrNotified)
        #expect(RenewalCourse.priceIncrease(newestFirst: Array(changes[2...])) == .pending)
        #expect(RenewalCourse.priceIncrease(newestFirst: [[.billingFailed], []]) == nil)
    }
}
