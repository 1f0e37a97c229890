import AppStoreModels
import Purchases
import Testing

@Suite("Win-back offers: which one, when and where")
struct WinBackAvailabilityTests {
    /// Three months paid, then lapsed; the newest purchase states the storefront.
    private func history(storefront: String? = "USA") -> PurchaseHistory {
        var periods = Samples.monthly(0..<3)
        periods[0].storefront = "FRA"
        periods[2].storefront = storefront
        return Samples.history(periods)
    }

    private func offer(
        _ id: String = "come-back", product: String? = "premium", _ change: (inout WinBackRules) -> Void = { _ in }
    ) -> WinBackOffer {
        var offer = Samples.offer
        offer.offerIdentifier = id
        offer.productId = product
        change(&offer.rules)
        return offer
    }

    private func redeemed(_ id: String?) -> PurchaseHistory {
        let period = Samples.period(6, 9) {
            $0.offerType = .winBack
            $0.offerIdentifier = id
        }
        return Samples.history(Samples.monthly(0..<3) + [period])
    }

    @Test("The wait between offers is about this offer; about all of the group only if the rules configure it")
    func waitScope() {
        let other = redeemed("other").eligibility(for: offer(), at: Samples.month(11))
        #expect(other.eligibility == .eligible)
        let group = redeemed("other").eligibility(for: offer { $0.waitScope = .group }, at: Samples.month(11))
        #expect(group.obstacleRules == [.monthsBetweenOffers])
        #expect(group.changesAt == Samples.month(12))
        let same = redeemed("come-back").eligibility(for: offer(), at: Samples.month(11))
        #expect(same.obstacleRules == [.monthsBetweenOffers])
        #expect(same.eligibility == .notEligible)
    }

    @Test("An offer is open from its start date until its end date")
    func dates() {
        let dated = offer {
            $0.startDate = Samples.month(7)
            $0.endDate = Samples.month(8)
        }
        func verdict(_ date: Int64) -> OfferVerdict { history().eligibility(for: dated, at: date) }
        let early = verdict(Samples.month(7) - 1)
        #expect(early.obstacleRules == [.offerDates])
        #expect(early.changesAt == Samples.month(7))
        #expect(verdict(Samples.month(7)).eligibility == .eligible)
        #expect(verdict(Samples.month(7)).changesAt == Samples.month(8))
        #expect(verdict(Samples.month(8) - 1).eligibility == .eligible)
        let late = verdict(Samples.month(8))
        #expect(late.obstacleRules == [.offerDates])
        #expect(late.changesAt == nil)
        #expect(history().eligibility(for: offer(), at: Samples.month(8)).reason(.offerDates) == nil)
    }

    @Test("An offer is for its storefronts: the newest purchase that states one decides, and none leaves it unknown")
    func storefronts() {
        let limited = offer { $0.storefronts = ["USA", "CAN"] }
        let verdict = history().eligibility(for: limited, at: Samples.month(6))
        #expect(verdict.eligibility == .eligible)
        #expect(verdict.reason(.storefront)?.transactionId == "t2")
        let elsewhere = history(storefront: "DEU").eligibility(for: limited, at: Samples.month(6))
        #expect(elsewhere.obstacleRules == [.storefront])
        #expect(elsewhere.eligibility == .notEligible && elsewhere.changesAt == nil)
        #expect(history(storefront: nil).eligibility(for: limited, at: Samples.month(6)).eligibility == .notEligible)
        let unknown = Samples.history(Samples.monthly(0..<3)).eligibility(for: limited, at: Samples.month(6))
        #expect(unknown.eligibility == .unknown)
        #expect(unknown.obstacleRules == [.storefront])
    }

    @Test("Of purchases on the same date, the one with the greatest id states the storefront, in any order")
    func storefrontsOnTheSameDate() {
        let limited = offer { $0.storefronts = ["USA"] }
        func purchase(_ id: String, _ storefront: String) -> PurchaseHistory.Entry {
            PurchaseHistory.Entry(
                Samples.period("coins", 2, 3) {
                    $0.transactionId = id
                    $0.originalTransactionId = id
                    $0.type = .consumable
                    $0.expiresDate = nil
                    $0.storefront = storefront
                })
        }
        for (storefronts, expected) in [(["USA", "DEU"], "DEU"), (["DEU", "USA"], "USA")] {
            let purchases = [purchase("99", storefronts[0]), purchase("100", storefronts[1])]
            for order in [purchases, purchases.reversed()] {
                var history = Samples.history(Samples.monthly(0..<2))
                history.entries = order + history.entries
                let reason = history.eligibility(for: limited, at: Samples.month(6)).reason(.storefront)
                #expect(reason?.outcome == (expected == "USA" ? .satisfied : .failed))
                #expect(reason?.transactionId == "100")
            }
        }
    }

    @Test("Purchases of a family member or an organization do not state the storefront, unless only a row says so")
    func storefrontsOfOthers() {
        let limited = offer { $0.storefronts = ["USA"] }
        func outcome(_ ownership: InAppOwnershipType, isSigned: Bool, original: String) -> OfferReason.Outcome? {
            var history = self.history()
            var entry = PurchaseHistory.Entry(
                Samples.period(4, 5) {
                    $0.originalTransactionId = original
                    $0.inAppOwnershipType = ownership
                    $0.storefront = "DEU"
                })
            entry.isSigned = isSigned
            history.entries.append(entry)
            return history.eligibility(for: limited, at: Samples.month(8)).reason(.storefront)?.outcome
        }
        for ownership in [InAppOwnershipType.familyShared, .assigned] {
            #expect(outcome(ownership, isSigned: true, original: "other") == .satisfied)
            // A row does not change the ownership of a subscription that a signed document states as bought.
            #expect(outcome(ownership, isSigned: false, original: "original") == .failed)
        }
        #expect(outcome(.purchased, isSigned: true, original: "other") == .failed)
    }

    @Test("The best offer is first: high priority, then the product of the last subscription, then the identifier")
    func order() {
        let offers = [
            offer("c"), offer("b", product: "basic"), offer("a", product: "basic"),
            offer("z", product: "basic") { $0.priority = .high }, offer("y") { $0.priority = .high },
            offer("never") { $0.minimumPaidMonths = 4 }, offer("d"),
        ]
        let expected = ["y", "z", "c", "d", "a", "b"]
        for list in [offers, offers.reversed()] {
            let found = history().eligibleWinBackOffers(list, at: Samples.month(6)).map(\.offerIdentifier)
            #expect(found == expected)
        }
        #expect(history().eligibleWinBackOffers(offers, at: Samples.month(3)).isEmpty)
    }

    @Test("A list of offers for all customers has those of high priority first, and otherwise keeps its order")
    func listing() {
        let offers = [
            offer("c"), offer("b") { $0.priority = .high }, offer("a"), offer("d") { $0.priority = .high },
        ]
        #expect(offers.highPriorityFirst.map(\.offerIdentifier) == ["b", "d", "c", "a"])
    }

    @Test("Months of a fixed length, as in the sandbox, count for what was paid and for the waits")
    func fixedMonths() {
        let minute: Int64 = 60_000
        let periods = (Int64(0)..<3).map { step in
            Samples.period(0, 1) {
                $0.transactionId = "p\(step)"
                $0.purchaseDate = Samples.start + step * 5 * minute
                $0.expiresDate = Samples.start + (step + 1) * 5 * minute
            }
        }
        let history = PurchaseHistory(
            entries: periods.map { PurchaseHistory.Entry($0) }, renewalInfos: [Samples.cancelled()],
            completeThrough: Samples.month(200), monthLength: .fixed(milliseconds: 5 * minute))
        let lapse = Samples.start + 15 * minute
        let early = history.eligibility(for: offer(), at: lapse + 10 * minute - 1)
        #expect(early.obstacleRules == [.minimumMonthsSince])
        #expect(early.reason(.paidMonths)?.months == 3)
        #expect(history.eligibility(for: offer(), at: lapse + 10 * minute).eligibility == .eligible)
    }
}
