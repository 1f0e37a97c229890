import AppStoreModels
import LegacyReceipts
import SharedReceipts
import Testing
import VerifyReceipt

/// Whether clients of different styles find out from `latest_receipt_info` that a customer has a running subscription, under
/// both orders and for every real receipt with a subscription.
@Suite(.enabled(if: SharedReceipts.arePresent)) struct ClientOrderTests {
    /// What a client reads of one transaction.
    private struct Entry {
        let id: String
        let expires: Int64?
        let cancelled: Int64?

        init(_ object: JSONObject) {
            id = object.text("transaction_id") ?? ""
            expires = object.text("expires_date_ms").flatMap { Int64($0) }
            cancelled = object.text("cancellation_date_ms").flatMap { Int64($0) }
        }

        func isRunning(at now: Int64) -> Bool { (cancelled ?? .max) > now && (expires ?? .min) > now }
    }

    /// How a client chooses the entry that decides.
    private enum Style: String, CaseIterable {
        case first = "reads `[0]`"
        case last = "reads `.last`"
        case highestId = "reads the highest transaction id"
        case latestExpiry = "sorts by expiry"
        case any = "looks at every entry"

        func decides(_ entries: [Entry], at now: Int64) -> Bool {
            switch self {
            case .first: entries.first?.isRunning(at: now) ?? false
            case .last: entries.last?.isRunning(at: now) ?? false
            case .highestId: entries.max { Self.precedes($0.id, $1.id) }?.isRunning(at: now) ?? false
            case .latestExpiry:
                entries.max { ($0.expires ?? .min) < ($1.expires ?? .min) }?.isRunning(at: now) ?? false
            case .any: entries.contains { $0.isRunning(at: now) }
            }
        }

        private static func precedes(_ left: String, _ right: String) -> Bool {
            left.utf8.count != right.utf8.count ? left.utf8.count < right.utf8.count : left < right
        }
    }

    private struct Case: Hashable {
        let style: Style
        let order: EndpointConfiguration.Order
    }

    private struct Tally {
        var decisions = 0
        var wrong = 0
    }

    @Test func clientsDecideRightlyUnderTheOrderThatIsConfiguredForThem() async throws {
        var tallies: [Case: Tally] = [:]
        var receipts = 0
        for kind in ["production", "sandbox"] {
            for file in try SharedReceipts.files(kind) {
                let container = try ReceiptContainer(stored: try SharedReceipts.bytes(file))
                guard case .app(let receipt) = try ReceiptVerifier().verify(container).payload else { continue }
                let periods = receipt.inAppPurchases.compactMap(\.expiresDate)
                guard !periods.isEmpty, let created = receipt.receiptCreationDate else { continue }
                receipts += 1
                // When the receipt was made, and around the end of each period that was still running.
                let moments = Set([created] + periods.flatMap { [$0 - 1_000, $0] }).filter { $0 >= created }
                for order in EndpointConfiguration.Order.allCases {
                    var configuration = EndpointConfiguration()
                    configuration.order = order
                    let endpoint = try VerifyReceiptEndpoint(configuration: configuration, store: nil)
                    let reply = try await endpoint.ask(
                        body(container.bytes), at: kind == "sandbox" ? .sandbox : .production, now: created)
                    let all = reply.latest ?? []
                    #expect(!all.isEmpty, "\(file.lastPathComponent)")
                    let known = all.map(Entry.init)
                    for now in moments {
                        let isActive = known.contains { $0.isRunning(at: now) }
                        for style in Style.allCases {
                            let place = Case(style: style, order: order)
                            tallies[place, default: Tally()].decisions += 1
                            guard style.decides(known, at: now) != isActive else { continue }
                            tallies[place, default: Tally()].wrong += 1
                        }
                    }
                }
            }
        }
        print("Real receipts with subscriptions: \(receipts)")
        print("| client | order | decisions | wrong |\n|---|---|---|---|")
        for style in Style.allCases {
            for order in EndpointConfiguration.Order.allCases {
                let tally = tallies[Case(style: style, order: order)] ?? Tally()
                print(
                    "| \(style.rawValue) | `\(order.rawValue)` | \(tally.decisions) | \(tally.wrong) |")
            }
        }
        func wrong(_ style: Style, _ order: EndpointConfiguration.Order) -> Int? {
            tallies[Case(style: style, order: order)]?.wrong
        }
        #expect(receipts > 0)
        #expect(wrong(.first, .newestFirst) == 0)
        #expect(wrong(.last, .oldestFirst) == 0)
        for order in EndpointConfiguration.Order.allCases {
            #expect(wrong(.highestId, order) == 0 && wrong(.latestExpiry, order) == 0)
        }
        // The order has to matter, or this test shows nothing.
        #expect(wrong(.first, .oldestFirst) ?? 0 > 0 && wrong(.last, .newestFirst) ?? 0 > 0)
    }
}
