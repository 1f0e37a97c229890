import AppStoreModels
import ReceiptForge
import SharedReceipts
import TestSupport
import Testing
import TransactionStore
import VerifyReceipt

/// The order of `latest_receipt_info` (Reference.md V3.5).
@Suite struct OrderTests {
    private func ids(_ reply: ReadReply) -> [String] { reply.latest?.compactMap { $0.text("transaction_id") } ?? [] }

    private func purchases() -> [ForgedPurchase] {
        [
            // Shared by the family: 18 digits, and bought first.
            month(0).with { $0.transactionId = "530001234567000999" },
            // A year that begins before the months, and ends after them.
            month(1, product: "year").with { $0.expiresDate = .seconds(created.adding(months: 9)) },
            month(2), consumable("9"), nonConsumable,
        ]
    }

    @Test func theLatestExpiryStandsFirstAndPurchasesWithoutOneByTheirDate() async throws {
        let reply = try await testEndpoint().ask(body(appReceipt(purchases())))
        // Expiries of December and April; bought on March 12; an expiry in February; bought in February.
        #expect(ids(reply) == ["530001234568037", "530001234569074", "9", "530001234567000999", "530001234500001"])
    }

    @Test func equalDatesAreOrderedById() async throws {
        let same = ["7", "100", "99", "000000101"].map { consumable($0) }
        #expect(ids(try await testEndpoint().ask(body(appReceipt(same)))) == ["000000101", "100", "99", "7"])
    }

    @Test func oldestFirstIsAscendingById() async throws {
        let endpoint = try testEndpoint { $0.order = .oldestFirst }
        let reply = try await endpoint.ask(body(appReceipt(purchases())))
        #expect(ids(reply) == ["9", "530001234500001", "530001234568037", "530001234569074", "530001234567000999"])
    }

    @Test func anAppMayHaveAnOrderOfItsOwn() async throws {
        let bytes = try appReceipt([month(0), month(1)])
        for (general, own, first) in [
            (EndpointConfiguration.Order.newestFirst, EndpointConfiguration.Order?.none, "530001234568037"),
            (.newestFirst, .oldestFirst, "530001234567000"), (.oldestFirst, .newestFirst, "530001234568037"),
        ] {
            let endpoint = try testEndpoint {
                $0.order = general
                $0.apps = [AppConfiguration(bundleId: bundleId, order: own)]
            }
            #expect(ids(try await endpoint.ask(body(bytes))).first == first)
        }
    }

    @Test func theReplyDoesNotDependOnTheOrder() async throws {
        let bytes = try appReceipt(purchases())
        for more in ["", #","exclude-old-transactions":true"#] {
            let newest = try await testEndpoint().ask(body(bytes, more))
            let oldest = try await testEndpoint { $0.order = .oldestFirst }.ask(body(bytes, more))
            let texts = [newest, oldest].map { reply in
                (reply.latest ?? []).map { entry in
                    var writer = JSONWriter()
                    writer.value(.object(entry))
                    return String(decoding: writer.finish(), as: UTF8.self)
                }.sorted()
            }
            #expect(texts[0] == texts[1] && !texts[0].isEmpty)
        }
    }

    // MARK: Recorded lists

    private struct RecordedList {
        let name: String
        let entries: [JSONObject]
        let order: EndpointConfiguration.Order
    }

    /// Lists that follow no rule: their authors changed ids or dates, or put entries together by hand.
    private static let edited: Set = ["responses/027.json", "responses/060.json"]

    /// Replies until November 2020 ascend by id, later ones descend by expiry. Notifications descend, but for one of
    /// November 2020.
    private static func recordedLists() throws -> [RecordedList] {
        try ["responses", "pairs", "notifications-v1"].flatMap { kind -> [RecordedList] in
            try SharedReceipts.files(kind).filter { $0.pathExtension == "json" }.compactMap { file in
                let name = "\(kind)/\(file.lastPathComponent)"
                guard !edited.contains(name), let reply = try JSONValue.parse(SharedReceipts.bytes(file)).object,
                    let list = (reply["unified_receipt"]?.object ?? reply)["latest_receipt_info"]?.array
                else { return nil }
                let entries = list.compactMap(\.object)
                let isNumbered = entries.allSatisfy { $0.text("transaction_id").flatMap { Int64($0) } != nil }
                let isDated = entries.allSatisfy { $0.text("purchase_date_ms").flatMap { Int64($0) } != nil }
                guard entries.count > 1, isNumbered, isDated else { return nil }
                let asked = reply["receipt"]?.object?.text("request_date_ms").flatMap { Int64($0) }
                let isOld =
                    kind == "notifications-v1"
                    ? name == "notifications-v1/042.json"
                    : (asked ?? .max) < ForgedInstant(2020, 12, 1).milliseconds
                        || name == "responses/174.json"
                return RecordedList(name: name, entries: entries, order: isOld ? .oldestFirst : .newestFirst)
            }
        }
    }

    @Test(.enabled(if: SharedReceipts.arePresent))
    func everyRecordedListHasTheOrderOfItsTime() async throws {
        var counts: [EndpointConfiguration.Order: Int] = [:]
        for list in try Self.recordedLists() {
            func instant(_ entry: JSONObject, _ key: String) -> ForgedInstant? {
                entry.text("\(key)_ms").flatMap { Int64($0) }.map { ForgedInstant(milliseconds: $0) }
            }
            // The same transactions in a receipt, which has an order of its own.
            let purchases = try list.entries.sorted { ($0.text("product_id") ?? "") < ($1.text("product_id") ?? "") }
                .map { entry -> ForgedPurchase in
                    let id = try unwrap(entry.text("transaction_id"))
                    return ForgedPurchase(
                        .autoRenewable, product: entry.text("product_id") ?? "", id: id,
                        at: try unwrap(instant(entry, "purchase_date")),
                        originalId: entry.text("original_transaction_id") ?? id,
                        originallyAt: try unwrap(instant(entry, "purchase_date"))
                    ).with {
                        $0.expiresDate = instant(entry, "expires_date").map { ForgedDate.milliseconds($0) } ?? .empty
                    }
                }
            let endpoint = try testEndpoint { $0.order = list.order }
            let reply = try await endpoint.ask(body(appReceipt(purchases)))
            let recorded = list.entries.compactMap { $0.text("transaction_id") }
            #expect(ids(reply) == recorded, "\(list.name)")
            counts[list.order, default: 0] += 1
        }
        print("recorded lists of several transactions, by order: \(counts)")
        #expect(counts[.oldestFirst] ?? 0 > 0 && counts[.newestFirst] ?? 0 > 0)
    }
}
