import AppStoreModels
import AppStoreSandbox
import ProductCatalog
import Testing

/// What the tests sell.
enum Sold {
    static let month = SubscriptionPeriod(value: 1, unit: .month)
    static let year = SubscriptionPeriod(value: 1, unit: .year)
    static let week = SubscriptionPeriod(value: 1, unit: .week)

    static let coins = "com.example.app.coins"
    static let unlock = "com.example.app.unlock"
    static let season = "com.example.app.season"
    static let basic = "com.example.app.basic"
    static let premium = "com.example.app.premium"
    static let basicYear = "com.example.app.basic.year"
    static let solo = "com.example.app.solo"

    static func catalog() throws -> SandboxCatalog {
        let month = try #require(month)
        let week = try #require(week)
        let year = try #require(year)
        let offers = [
            SandboxOffer(type: .introductory, discountType: .freeTrial, period: week),
            SandboxOffer(
                type: .promotional, identifier: "half", discountType: .payAsYouGo, period: month, numberOfPeriods: 2,
                price: 2_490),
            SandboxOffer(type: .offerCode, identifier: "SPRING", discountType: .payUpFront, period: month, price: 990),
            SandboxOffer(type: .winBack, identifier: "return", discountType: .freeTrial, period: month),
        ]
        return SandboxCatalog([
            SandboxProduct(id: Sold.coins, type: .consumable, price: 990),
            SandboxProduct(id: Sold.unlock, type: .nonConsumable, price: 2_990, isFamilyShareable: true),
            SandboxProduct(id: Sold.season, type: .nonRenewingSubscription, price: 9_990),
            SandboxProduct(
                id: Sold.basic, type: .autoRenewableSubscription, period: month, group: "21400000", level: 2,
                price: 4_990, isFamilyShareable: true, offers: offers),
            SandboxProduct(
                id: Sold.premium, type: .autoRenewableSubscription, period: month, group: "21400000", level: 1,
                price: 9_990, isFamilyShareable: true, offers: offers),
            SandboxProduct(
                id: Sold.basicYear, type: .autoRenewableSubscription, period: year, group: "21400000", level: 2,
                price: 49_990),
            SandboxProduct(
                id: Sold.solo, type: .autoRenewableSubscription, period: week, group: "21400001", price: 1_990),
        ])
    }
}

/// An engine with the events of the last action at hand.
struct Shop {
    /// 2026-01-05 10:00:00 UTC.
    static let opening: Int64 = 1_767_607_200_000
    static let minute: Int64 = 60_000
    static let monthly = 5 * minute

    var engine: SandboxEngine
    var now = Shop.opening

    init(_ change: (inout SandboxConfiguration) -> Void = { _ in }) throws {
        var configuration = SandboxConfiguration()
        change(&configuration)
        engine = SandboxEngine(configuration: configuration, catalog: try Sold.catalog(), now: now)
    }

    mutating func pass(_ milliseconds: Int64) {
        now += milliseconds
        engine.advance(to: now)
    }

    /// Buys without an offer by default.
    @discardableResult
    mutating func buy(
        _ product: String, by customer: String = "ada", _ redemption: SandboxOrder.Redemption = .withoutOffer
    ) throws -> SandboxTransaction {
        try engine.buy(SandboxOrder(customer: customer, productId: product, redemption: redemption), at: now)
    }

    /// `TYPE` or `TYPE/SUBTYPE` of what happened since the last time.
    mutating func takeNotifications() -> [String] { engine.takeEvents().map(\.name) }

    func subscription(_ id: String) throws -> SandboxSubscription { try engine.subscription(id) }
}

extension SandboxEvent {
    var name: String { [type.rawValue, subtype?.rawValue].compactMap { $0 }.joined(separator: "/") }
}

/// What an action is refused with.
func refusal(_ action: () throws -> Void) -> SandboxError.Code? {
    do {
        try action()
        return nil
    } catch let error as SandboxError {
        return error.code
    } catch {
        return nil
    }
}
