import AppStoreModels
import ProductCatalog
import Purchases
import Testing

@Suite("Introductory offers")
struct IntroductoryTests {
    private let trial = Samples.period(0, 1, price: 0) {
        $0.offerType = .introductory
        $0.offerDiscountType = .freeTrial
    }

    @Test("A customer gets one introductory offer per group, for any product, refunded or not")
    func used() {
        for configure in [
            { $0.productId = "basic" }, { $0.revocationDate = Samples.month(0) + 1 },
            { $0.offerDiscountType = .payUpFront },
        ] as [(inout JWSTransactionDecodedPayload) -> Void] {
            var payload = trial
            configure(&payload)
            let verdict = Samples.history([payload]).introductoryEligibility(
                group: Samples.group, at: Samples.month(9))
            #expect(verdict.eligibility == .notEligible)
            #expect(verdict.obstacleRules == [.noIntroductoryOfferBefore])
            #expect(verdict.reason(.noIntroductoryOfferBefore)?.transactionId == "t0")
            #expect(verdict.changesAt == nil)
        }
    }

    @Test("Products without an introductory offer are those of the group, from the purchases and the catalog")
    func products() throws {
        var basic = trial
        basic.productId = "basic"
        basic.transactionId = "t-basic"
        let history = Samples.history([trial, basic])
        #expect(history.productsWithoutIntroductoryOffer(catalog: nil, at: Samples.month(9)) == ["basic", "premium"])
        let catalog = try MappingSupport.catalog(
            MappingSupport.entry("gold") {
                $0.type = .autoRenewableSubscription
                $0.subscriptionGroupIdentifier = Samples.group
            },
            MappingSupport.entry("other") {
                $0.type = .autoRenewableSubscription
                $0.subscriptionGroupIdentifier = "other"
            })
        #expect(
            history.productsWithoutIntroductoryOffer(catalog: catalog, at: Samples.month(9))
                == ["basic", "gold", "premium"])
        // Nothing is known against an offer when the subscription has ended, and for a customer without purchases.
        let ended = Samples.history(Samples.monthly(0..<3))
        #expect(ended.productsWithoutIntroductoryOffer(catalog: catalog, at: Samples.month(3)).isEmpty)
        #expect(Samples.history([]).productsWithoutIntroductoryOffer(catalog: catalog, at: Samples.month(3)).isEmpty)
    }

    @Test("Another group is not touched by it")
    func otherGroup() {
        let history = Samples.history([trial])
        #expect(history.introductoryEligibility(group: "other", at: Samples.month(9)).eligibility == .eligible)
    }

    @Test("A customer who subscribed without an offer may have it after the subscription ended")
    func returning() {
        let history = Samples.history(Samples.monthly(0..<3))
        let during = history.introductoryEligibility(group: Samples.group, at: Samples.month(2))
        #expect(during.eligibility == .notEligible)
        #expect(during.obstacleRules == [.lapsed])
        #expect(during.changesAt == Samples.month(3))
        let after = history.introductoryEligibility(group: Samples.group, at: Samples.month(3))
        #expect(after.eligibility == .eligible)
        #expect(after.eligibleFrom == Samples.month(3))
    }

    @Test("A customer who never bought may have it, if the history is known to be complete")
    func new() {
        var history = Samples.history([])
        #expect(history.introductoryEligibility(group: Samples.group, at: Samples.month(1)).eligibility == .eligible)
        history.completeThrough = nil
        let open = history.introductoryEligibility(group: Samples.group, at: Samples.month(1))
        #expect(open.eligibility == .unknown)
        #expect(open.obstacleRules == [.historyCurrent])
    }

    @Test("A receipt without the flags, and an offer of a type to come, leave it open")
    func unknownOffers() {
        var history = Samples.history([])
        history.entries = [PurchaseHistory.Entry(Samples.period(0, 1, price: nil), statesOffers: false)]
        let open = history.introductoryEligibility(group: Samples.group, at: Samples.month(9))
        #expect(open.eligibility == .unknown)
        #expect(open.reason(.noIntroductoryOfferBefore)?.transactionId == "t0")
        history.entries = [PurchaseHistory.Entry(Samples.period(0, 1) { $0.offerType = OfferType(rawValue: 9) })]
        #expect(history.introductoryEligibility(group: Samples.group, at: Samples.month(9)).eligibility == .unknown)
        // Other offers say that it was none.
        history.entries = [
            PurchaseHistory.Entry(Samples.period(0, 1) { $0.offerType = .promotional }, statesOffers: false)
        ]
        #expect(history.introductoryEligibility(group: Samples.group, at: Samples.month(9)).eligibility == .eligible)
    }

    @Test("An introductory offer of an unknown group may have been of this one")
    func unknownGroup() {
        var stray = trial
        stray.subscriptionGroupIdentifier = nil
        stray.productId = "old"
        var history = Samples.history([stray])
        let open = history.introductoryEligibility(group: Samples.group, at: Samples.month(9))
        #expect(open.eligibility == .unknown)
        #expect(open.obstacleRules == [.groupsKnown])
        history.groups = ["old": "other"]
        #expect(history.introductoryEligibility(group: Samples.group, at: Samples.month(9)).eligibility == .eligible)
        history.groups = ["old": Samples.group]
        #expect(
            history.introductoryEligibility(group: Samples.group, at: Samples.month(9)).eligibility == .notEligible)
    }

    @Test("A current subscription of an unknown group may be one of this group")
    func openSubscriptionOfAnUnknownGroup() {
        let history = Samples.history([Samples.period("old", 0, 3, group: nil)])
        let during = history.introductoryEligibility(group: Samples.group, at: Samples.month(2))
        #expect(during.eligibility == .unknown && during.obstacleRules == [.groupsKnown])
        #expect(during.changesAt == Samples.month(3))
        let after = history.introductoryEligibility(group: Samples.group, at: Samples.month(3))
        #expect(after.eligibility == .eligible)
    }

    @Test("A trial from Family Sharing was another member's")
    func family() {
        var shared = trial
        shared.inAppOwnershipType = .familyShared
        #expect(
            Samples.history([shared]).introductoryEligibility(group: Samples.group, at: Samples.month(9)).eligibility
                == .eligible)
    }

    @Test("The offer of an assigned subscription may count, so the verdict is open, in a known or unknown group")
    func assigned() {
        for group in [Samples.group, nil] {
            let open: OfferReason.Rule = group == nil ? .groupsKnown : .noIntroductoryOfferBefore
            let assigned = Samples.period("team", 0, 1, price: nil, group: group) {
                $0.inAppOwnershipType = .assigned
            }
            // A receipt does not state the ownership of the next period.
            let renewed = Samples.period("team", 1, 2, price: nil, group: group) { $0.inAppOwnershipType = nil }
            for periods in [[assigned], [assigned, renewed], [renewed, assigned]] {
                for configure in [{ _ in }, { $0.offerType = .introductory }]
                    as [(inout JWSTransactionDecodedPayload) -> Void]
                {
                    var periods = periods
                    configure(&periods[0])
                    let history = Samples.history(periods)
                    let verdict = history.introductoryEligibility(group: Samples.group, at: Samples.month(9))
                    #expect(verdict.eligibility == .unknown)
                    #expect(verdict.obstacleRules == [open])
                    // Only the purchaser can redeem other offers.
                    #expect(history.promotionalCandidates(at: Samples.month(9)).isEmpty)
                    let winBack = history.eligibility(for: Samples.offer, at: Samples.month(9))
                    #expect(winBack.eligibility == .notEligible && winBack.obstacleRules == [.subscribedBefore])
                }
            }
        }
    }

    @Test("A subscription without known end may be current, so the verdict is open")
    func withoutEnd() {
        var undated = Samples.period(0, 1) { $0.expiresDate = nil }
        // Only subscriptions have a line item, even if no document states the type.
        var untyped = undated
        (untyped.type, untyped.webOrderLineItemId) = (nil, "900")
        for group in [Samples.group, nil] {
            let open: OfferReason.Rule = group == nil ? .groupsKnown : .datesKnown
            undated.subscriptionGroupIdentifier = group
            untyped.subscriptionGroupIdentifier = group
            for payload in [undated, untyped] {
                let history = Samples.history([payload])
                let verdict = history.introductoryEligibility(group: Samples.group, at: Samples.month(9))
                #expect(verdict.eligibility == .unknown)
                #expect(verdict.obstacleRules == [open])
                #expect(verdict.obstacles.first?.transactionId == "t0")
                let winBack = history.eligibility(for: Samples.offer, at: Samples.month(9))
                #expect(winBack.eligibility == .unknown)
                let other = history.introductoryEligibility(group: "other", at: Samples.month(9))
                #expect((other.eligibility == .eligible) == (group != nil) && other.eligibility != .notEligible)
            }
        }
        // A used offer decides. A purchase without a line item is not a subscription.
        undated.offerType = .introductory
        undated.subscriptionGroupIdentifier = Samples.group
        #expect(
            Samples.history([undated]).introductoryEligibility(group: Samples.group, at: Samples.month(9)).eligibility
                == .notEligible)
        untyped.webOrderLineItemId = nil
        #expect(
            Samples.history([untyped]).introductoryEligibility(group: Samples.group, at: Samples.month(9)).eligibility
                == .eligible)
    }

    @Test("A used offer counts for its product also if no document states the end of the subscription")
    func usedOfferWithoutEnd() {
        for group in [Samples.group, nil] {
            let trial = Samples.period("premium", 0, 1, group: group) {
                $0.expiresDate = nil
                $0.type = nil
                $0.webOrderLineItemId = "900"
                $0.offerType = .introductory
            }
            let history = Samples.history([trial])
            #expect(history.productsWithoutIntroductoryOffer(catalog: nil, at: Samples.month(9)) == ["premium"])
        }
    }

    private let anotherSubscription = Samples.period("other", 0, 1, group: nil) {
        ($0.transactionId, $0.originalTransactionId) = ("another", "another")
    }

    @Test("A subscription of an unknown group leaves no introductory offer for its own products until it ends")
    func currentSubscriptionOfAnUnknownGroup() {
        let periods = [
            Samples.period("basic", 0, 1, group: nil),
            // Another product of the same subscription.
            Samples.period("premium", 1, 2, group: nil),
            anotherSubscription,
        ]
        let history = Samples.history(periods)
        func without(at now: Int64) -> [String] {
            history.productsWithoutIntroductoryOffer(catalog: nil, at: now)
        }
        #expect(without(at: Samples.month(1) - 1) == ["basic", "other", "premium"])
        #expect(without(at: Samples.month(2) - 1) == ["basic", "premium"])
        #expect(without(at: Samples.month(9)).isEmpty)
        // The group of no other product is known to be theirs.
        #expect(history.introductoryEligibility(group: Samples.group, at: Samples.month(1)).eligibility == .unknown)
    }

    @Test("A used offer of an unknown group counts for every product of its subscription")
    func usedOfferOfAnUnknownGroup() {
        let periods = [
            Samples.period("basic", 0, 1, group: nil) { $0.offerType = .introductory },
            Samples.period("premium", 1, 2, group: nil),
            anotherSubscription,
        ]
        let products = Samples.history(periods).productsWithoutIntroductoryOffer(catalog: nil, at: Samples.month(9))
        #expect(products == ["basic", "premium"])
    }

    @Test("The products of thousands of unknown groups are decided in linear time")
    func manyUnknownGroups() {
        let periods = (10_000..<30_000).map { number in
            Samples.period("p\(number)", 0, 1, group: nil) {
                $0.transactionId = "\(number)"
                $0.originalTransactionId = "\(number)"
                $0.offerType = .introductory
            }
        }
        let used = Samples.history(periods).productsWithoutIntroductoryOffer(catalog: nil, at: Samples.month(9))
        #expect(used.count == 20_000 && used.first == "p10000")
    }

    @Test("A refund ends a subscription without an end: it counts only for whether an offer was used")
    func refundedWithoutEnd() {
        for group in [Samples.group, nil] {
            for type in [ProductType.autoRenewableSubscription, nil] {
                var refunded = Samples.period("premium", 0, 1, group: group) {
                    $0.expiresDate = nil
                    $0.type = type
                    $0.webOrderLineItemId = "900"
                    $0.revocationDate = Samples.month(1)
                }
                func eligibility(_ entry: PurchaseHistory.Entry, at month: Int64) -> OfferVerdict.Eligibility {
                    var history = Samples.history([])
                    history.entries = [entry]
                    return history.introductoryEligibility(group: Samples.group, at: Samples.month(month)).eligibility
                }
                let entry = PurchaseHistory.Entry(refunded)
                #expect(eligibility(entry, at: 0) == .unknown && eligibility(entry, at: 1) == .eligible)
                #expect(eligibility(PurchaseHistory.Entry(refunded, statesOffers: false), at: 1) == .unknown)
                refunded.offerType = .introductory
                let used = eligibility(PurchaseHistory.Entry(refunded), at: 1)
                #expect(used == (group == nil ? .unknown : .notEligible))
            }
        }
    }

    @Test("A row that lacks type, end and line item may be a subscription unless its product is known to be none")
    func bareRow() {
        let bare = Samples.period("coins", 0, 1, group: nil) {
            $0.type = nil
            $0.expiresDate = nil
        }
        func verdict(isSigned: Bool, _ others: [JWSTransactionDecodedPayload] = []) -> OfferVerdict {
            var history = Samples.history([bare] + others)
            history.entries[0].isSigned = isSigned
            return history.introductoryEligibility(group: Samples.group, at: Samples.month(9))
        }
        // A receipt states the end and the line item of a subscription.
        #expect(verdict(isSigned: true).eligibility == .eligible)
        #expect(verdict(isSigned: false).eligibility == .unknown)
        #expect(verdict(isSigned: false).obstacleRules == [.groupsKnown])
        let typed = Samples.period("coins", 3, 4, group: nil) {
            $0.type = .consumable
            $0.expiresDate = nil
        }
        #expect(verdict(isSigned: false, [typed]).eligibility == .eligible)
        // A receipt states another purchase of the product, without an end.
        var received = typed
        received.type = nil
        #expect(verdict(isSigned: false, [received]).eligibility == .eligible)
        received.productId = "gems"
        #expect(verdict(isSigned: false, [received]).eligibility == .unknown)
        (received.productId, received.webOrderLineItemId) = ("coins", "900")
        #expect(verdict(isSigned: false, [received]).eligibility == .unknown)
    }

    @Test("Purchases that are no subscriptions, and free subscriptions, do not count")
    func otherProducts() {
        var consumable = Samples.period(0, 1)
        consumable.type = .consumable
        var season = trial
        season.type = .nonRenewingSubscription
        let history = Samples.history([consumable, season])
        #expect(history.introductoryEligibility(group: Samples.group, at: Samples.month(0)).eligibility == .eligible)
        #expect(history.subscriptionGroups.isEmpty)
    }

    @Test("The offers of thousands of groups are decided in linear time")
    func manyGroups() {
        func history(_ offer: OfferType?) -> PurchaseHistory {
            let periods = (10_000..<30_000).map { number in
                Samples.period("p\(number)", 0, 1, group: "\(number)") {
                    $0.transactionId = "\(number)"
                    $0.offerType = offer
                }
            }
            var history = Samples.history(periods)
            let whole = PurchaseHistory.Coverage(wholeThrough: Samples.month(200), currentThrough: Samples.month(200))
            history.coverage = ["original": whole]
            return history
        }
        let without = history(nil).productsWithoutIntroductoryOffer(catalog: nil, at: Samples.month(9))
        #expect(without.isEmpty)
        let used = history(.introductory).productsWithoutIntroductoryOffer(catalog: nil, at: Samples.month(9))
        #expect(used.count == 20_000 && used.first == "p10000")
    }
}
