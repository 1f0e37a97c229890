import AppStoreModels
import Purchases
import Testing

@Suite("Purchases that the App Store does not know")
struct PurchaseDateTests {
    private static let day: Int64 = 86_400_000
    private static let now = 100 * day

    private func dates(_ purchases: (id: String, bought: Int64, end: Int64?)...) -> PurchaseDates {
        var dates = PurchaseDates()
        for purchase in purchases {
            let payload = JWSTransactionDecodedPayload {
                $0.purchaseDate = purchase.bought
                $0.expiresDate = purchase.end
            }
            dates.add(payload, of: purchase.id)
        }
        return dates
    }

    @Test("An old unknown purchase is harmless if the App Store confirms another one, unless it may be running")
    func unknown() {
        let now = Self.now
        let found = dates(
            ("old", 0, nil), ("running", 0, now + 1), ("ended", 0, now), ("new", now - Self.day + 1, nil))
        #expect(found.unknown(["old", "ended"], of: 3, at: now) == .harmless)
        #expect(found.unknown(["old", "ended"], of: 2, at: now) == .notKnown)
        #expect(found.unknown(["running"], of: 3, at: now) == .notKnown)
        #expect(found.unknown(["new"], of: 2, at: now) == .harmless)
        #expect(found.unknown(["new"], of: 1, at: now) == .maybeTooNew)
        #expect(found.unknown(["running", "new"], of: 3, at: now) == .maybeTooNew)
    }
}
