import AppStoreModels
import Purchases
import Testing

@Suite("Revocations and refunds")
struct RevocationTests {
    private func payload(
        _ date: Int64?, _ type: RevocationType? = nil, isUpgraded: Bool? = nil
    ) -> JWSTransactionDecodedPayload {
        var payload = JWSTransactionDecodedPayload()
        payload.revocationDate = date
        payload.revocationType = type
        payload.isUpgraded = isUpgraded
        return payload
    }

    @Test("The end of an assignment is not a refund, with any type: an organization paid")
    func assignments() {
        for type in [nil, .refundFull, .familyRevoke, RevocationType(rawValue: "ENDED")] as [RevocationType?] {
            var assigned = payload(1, type)
            assigned.inAppOwnershipType = .assigned
            #expect(assigned.isRevoked && !assigned.isRefunded)
        }
        // An unknown type of a bought purchase is a refund.
        #expect(payload(1, RevocationType(rawValue: "NEW")).isRefunded)
    }

    @Test("An upgrade is no revocation, and the end of Family Sharing is no refund")
    func refunds() {
        for type in [nil, .refundFull, .refundProrated] as [RevocationType?] {
            let refunded = payload(1, type)
            #expect(refunded.isRevoked && refunded.isRefunded)
        }
        let unshared = payload(1, .familyRevoke)
        #expect(unshared.isRevoked && !unshared.isRefunded)
        var shared = payload(1)
        shared.inAppOwnershipType = .familyShared
        #expect(shared.isRevoked && !shared.isRefunded)
        shared.revocationType = .refundFull
        #expect(shared.isRefunded)
        for other in [payload(nil), payload(nil, isUpgraded: true), payload(1, isUpgraded: true)] {
            #expect(!other.isRevoked && !other.hasRevocation && !other.isRefunded)
        }
    }

    @Test("The type of a revocation shows that an upgraded period was refunded too; it stays upgraded")
    func refundsAfterUpgrades() {
        for type in [RevocationType.refundFull, .refundProrated] {
            let both = payload(1, type, isUpgraded: true)
            #expect(!both.isRevoked && both.hasRevocation && both.isRefunded)
            #expect(state(both, .notificationV2) == .upgraded)
        }
        let unshared = payload(1, .familyRevoke, isUpgraded: true)
        #expect(!unshared.isRevoked && unshared.hasRevocation && !unshared.isRefunded)
    }

    /// Apple publishes neither the number of this reason nor the name of its type.
    @Test("A revocation by upgradedToBundle, and any other of an unknown reason or type, ends the access")
    func upgradedToBundle() {
        let reasons: [RevocationReason?] = [nil, .other, RevocationReason(rawValue: 2), RevocationReason(rawValue: -1)]
        let types: [RevocationType?] = [nil, .refundFull, RevocationType(rawValue: "UPGRADED_TO_BUNDLE")]
        for (reason, type) in reasons.flatMap({ reason in types.map { (reason, $0) } }) {
            for product in [ProductType.autoRenewableSubscription, .nonConsumable] {
                var revoked = Samples.period(0, 1) {
                    $0.type = product
                    $0.revocationReason = reason
                    $0.revocationType = type
                }
                if product == .nonConsumable { revoked.expiresDate = nil }
                func access(_ payload: JWSTransactionDecodedPayload) -> [Bool] {
                    Samples.history([payload]).entitlements(at: Samples.month(0) + 2 * Samples.day).map(\.hasAccess)
                }
                #expect(access(revoked) == [true])
                revoked.revocationDate = Samples.month(0) + Samples.day
                #expect(access(revoked) == [false] && state(revoked, .notificationV2) == .revoked)
            }
        }
    }

    private func state(_ payload: JWSTransactionDecodedPayload, _ source: FactSource) -> PurchaseState? {
        StoredTransaction(payload, origin: FactOrigin(source: source, signedDate: 1)).signedState
    }

    @Test("A signed document states a purchase, its revocation or its upgrade; an upgrade counts first")
    func states() {
        for source in FactSource.allCases where source.kind.isSigned {
            #expect(state(payload(nil), source) == .purchased)
            #expect(state(payload(nil, isUpgraded: false), source) == .purchased)
            #expect(state(payload(nil, isUpgraded: true), source) == .upgraded)
            #expect(state(payload(1), source) == .revoked)
            #expect(state(payload(1, .familyRevoke), source) == .revoked)
            #expect(state(payload(1, isUpgraded: true), source) == .upgraded)
        }
    }

    @Test("Unsigned documents state nothing about the delivery of a purchase")
    func unsignedStates() {
        for source in FactSource.allCases where !source.kind.isSigned {
            for payload in [payload(nil), payload(1), payload(nil, isUpgraded: true)] {
                #expect(state(payload, source) == nil)
            }
        }
    }
}
