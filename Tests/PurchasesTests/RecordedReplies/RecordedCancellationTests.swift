import AppStoreModels
import ProductCatalog
import Purchases
import Testing

@Suite struct RecordedCancellationTests {
    typealias Support = RecordedSupport

    private func notification(order: String?, rows: String) throws -> RecordedMapping {
        let order = order.map { "\"web_order_line_item_id\":\"\($0)\"," } ?? ""
        return try Support.map(
            """
            {"notification_type":"CANCEL",\(order)"cancellation_date_ms":"1500","cancellation_reason":"1",
             "latest_receipt_info":\(rows)}
            """)
    }

    private func row(_ id: String, order: String?, _ more: String = "\"quantity\":1", product: String = "p") -> String {
        let order = order.map { "\"web_order_line_item_id\":\"\($0)\"," } ?? ""
        return Support.row(id, product: product, order + more)
    }

    @Test(arguments: ["[", ""])
    func aCancellationOfAnotherOrderIsNotPutOnTheOnlyRow(bracket: String) throws {
        let mapped = try notification(order: "222", rows: bracket + row("1", order: "111") + (bracket == "" ? "" : "]"))
        #expect(mapped.transactions.map(\.payload.revocationDate) == [nil])
        #expect(mapped.transactions.map(\.payload.revocationReason) == [nil])
        #expect(mapped.notes == [.cancellationNotPlaced])
    }

    @Test func aCancellationOfAnOrderThatNoRowHasIsNoted() throws {
        let mapped = try notification(order: "333", rows: "[\(row("1", order: "111")),\(row("2", order: "222"))]")
        #expect(mapped.transactions.map(\.payload.revocationDate) == [nil, nil])
        #expect(mapped.notes == [.cancellationNotPlaced])
    }

    @Test func aCancellationWithoutOrderIsNotedWhereAnyRowCouldBeMeant() throws {
        let mapped = try notification(order: nil, rows: "[\(row("1", order: "111")),\(row("2", order: "222"))]")
        #expect(mapped.transactions.map(\.payload.revocationDate) == [nil, nil])
        #expect(mapped.notes == [.cancellationNotPlaced])
    }

    @Test func aCancellationWithoutRowsIsNoted() throws {
        let mapped = try Support.map(
            "{\"notification_type\":\"CANCEL\",\"cancellation_date_ms\":\"15\",\"auto_renew_status\":\"false\"}")
        #expect(mapped.transactions.isEmpty && mapped.notes == [.cancellationNotPlaced])
    }

    @Test func aCancellationFindsItsOrderAmongTheRows() throws {
        let mapped = try notification(order: "222", rows: "[\(row("1", order: "111")),\(row("2", order: "222"))]")
        #expect(mapped.transactions.map(\.payload.revocationDate) == [nil, 1500])
        #expect(mapped.transactions[1].payload.revocationReason == .issueWithinApp && mapped.notes.isEmpty)
    }

    @Test(arguments: ["222", nil])
    func theOnlyRowIsMeantWhereItOrTheCancellationNamesNoOrder(order: String?) throws {
        let mapped = try notification(order: order, rows: row("1", order: order == nil ? "111" : nil))
        #expect(mapped.transactions.map(\.payload.revocationDate) == [1500])
        #expect(mapped.notes.isEmpty)
    }

    /// Apple's replies have successive periods under one order (a reply of 2015 in the corpus has).
    @Test(arguments: [false, true])
    func ofTwoPeriodsWithOneOrderTheLaterOneBeforeTheCancellationIsMeant(isReversed: Bool) throws {
        var rows = [
            row("1", order: "222", "\"purchase_date_ms\":\"1000\""),
            row("2", order: "222", "\"purchase_date_ms\":\"1400\""),
            row("3", order: "222", "\"purchase_date_ms\":\"1600\""),
        ]
        if isReversed { rows.reverse() }
        let mapped = try notification(order: "222", rows: "[\(rows.joined(separator: ","))]")
        let revoked = mapped.transactions.filter { $0.payload.revocationDate != nil }
        #expect(revoked.map(\.payload.transactionId) == ["2"])
    }

    /// In replies of 2017 the row has the date, and only the reply has the reason, with the date to the second.
    @Test(arguments: [("1500", RevocationReason.issueWithinApp), ("1499", .issueWithinApp), ("2500", nil)])
    func theReasonNextToTheRowsIsOfTheSameCancellation(date: String, reason: RevocationReason?) throws {
        let mapped = try Support.map(
            """
            {"status":21006,"cancellation_date":"1970-01-01 00:00:01 Etc/GMT","cancellation_reason":"1",
             "latest_expired_receipt_info":\(row("1", order: nil, "\"cancellation_date_ms\":\"\(date)\""))}
            """)
        #expect(mapped.transactions.map(\.payload.revocationDate) == [Int64(date)])
        #expect(mapped.transactions.map(\.payload.revocationReason) == [reason])
    }

    @Test func theRowsOwnReasonComesFirst() throws {
        let own = "\"cancellation_date_ms\":\"1500\",\"cancellation_reason\":\"0\""
        let mapped = try notification(order: nil, rows: row("1", order: nil, own))
        #expect(mapped.transactions.map(\.payload.revocationReason) == [.other])
    }

    @Test func aCancellationThatARowHasAlreadyIsNotNoted() throws {
        let rows = "[\(row("1", order: "111", "\"cancellation_date_ms\":\"1500\"")),\(row("2", order: "222"))]"
        let mapped = try notification(order: nil, rows: rows)
        #expect(mapped.transactions.map(\.payload.revocationDate) == [1500, nil] && mapped.notes.isEmpty)
    }

    // MARK: One transaction twice

    private static let cancelled = "\"cancellation_date_ms\":\"9\",\"cancellation_reason\":\"1\""

    @Test(arguments: [false, true])
    func withinOneListACancellationStays(isReversed: Bool) throws {
        var rows = [row("1", order: nil, Self.cancelled), row("1", order: nil)]
        if isReversed { rows.reverse() }
        let list = rows.joined(separator: ",")
        for json in [
            "[\(list)]", "{\"latest_receipt_info\":[\(list)]}",
            "{\"receipt\":{\"bundle_id\":\"b\",\"in_app\":[\(list)]}}",
            "{\"unified_receipt\":{\"latest_receipt_info\":[\(list)]}}",
            "{\"latest_receipt_info\":\(rows[0]),\"unified_receipt\":{\"latest_receipt_info\":[\(rows[1])]}}",
        ] {
            let mapped = try Support.map(json)
            #expect(mapped.transactions.map(\.payload.revocationDate) == [9], "\(json)")
            #expect(mapped.transactions[0].payload.revocationReason == .issueWithinApp, "\(json)")
            #expect(mapped.transactions[0].provenance[.revocationDate].text.hasSuffix("cancellation_date_ms"))
            #expect(mapped.transactions[0].notes.contains(.mergedRows))
        }
    }

    @Test(arguments: [false, true])
    func withinOneListAnUpgradeStaysAnUpgrade(isReversed: Bool) throws {
        var rows = [row("1", order: nil, Self.cancelled + ",\"is_upgraded\":\"true\""), row("1", order: nil)]
        if isReversed { rows.reverse() }
        let payload = try Support.map("[\(rows.joined(separator: ","))]").transactions[0].payload
        #expect(payload.isUpgraded == true && payload.revocationDate == nil)
    }

    @Test func onlyANewerListClearsACancellation() throws {
        let old = row("1", order: nil, Self.cancelled)
        let new = row("1", order: nil)
        for (first, second, expected) in [(old, new, nil), (new, old, 9)] as [(String, String, Int64?)] {
            let mapped = try Support.map(
                "{\"receipt\":{\"bundle_id\":\"b\",\"in_app\":[\(first)]},\"latest_receipt_info\":[\(second)]}")
            #expect(mapped.transactions.map(\.payload.revocationDate) == [expected])
        }
        // The newer list has it twice and cancelled once.
        let mapped = try Support.map(
            "{\"receipt\":{\"bundle_id\":\"b\",\"in_app\":[\(new)]},\"latest_receipt_info\":[\(old),\(new)]}")
        #expect(mapped.transactions.map(\.payload.revocationDate) == [9])
    }

    @Test func aCancellationOfOneRowIsOneOfItsCopiesIfTheCatalogStatesTheType() throws {
        let rows = "\(Support.row("1", "\"cancellation_date_ms\":\"1500\"")),\(Support.row("2"))"
        func revocations(_ type: ProductType?) throws -> [Int64?] {
            let catalog = try type.map { type in
                try MappingSupport.catalog(MappingSupport.entry("p") { $0.type = type })
            }
            let mapped = try Support.map("{\"status\":0,\"latest_receipt_info\":[\(rows)]}", catalog: catalog)
            return mapped.transactions.map(\.payload.revocationDate)
        }
        #expect(try revocations(.nonConsumable) == [1500, 1500])
        #expect(try revocations(.nonRenewingSubscription) == [1500, 1500])
        // Rows can lack the expiry of a subscription.
        #expect(try revocations(.autoRenewableSubscription) == [1500, nil])
        #expect(try revocations(nil) == [1500, nil])
    }
}
