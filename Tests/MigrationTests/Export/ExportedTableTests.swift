import AppStoreModels
import Foundation
import Migration
import ProductCatalog
import Purchases
import SQLiteTransactionStore
import TestSupport
import Testing
import TransactionStore
import TransactionStoreConformance

@Suite("The tables of an export")
struct ExportedTableTests {
    @inline(never)
    private func exported(_ format: TableExport.Format = .csv) async throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try await Samples.withStore { store in _ = try await Samples.export(format).run(store, to: folder.path) }
        return folder
    }

    /// Every customer as the resolver has it.
    @inline(never)
    private func customers(_ store: any CompleteTransactionStore) async throws -> [Customer] {
        var customers: [Customer] = []
        for scope in try await store.scopes() {
            try await store.forEachCustomer(in: scope) { customers.append($0) }
        }
        return customers
    }

    @Test("CSV and NDJSON have the same values")
    func formats() async throws {
        let (csv, ndjson) = (try await exported(.csv), try await exported(.ndjson))
        for outline in ExportedTables.outlines {
            let (left, right) = (try ExportedRows(outline.name, in: csv), try ExportedRows(outline.name, in: ndjson))
            #expect(!left.rows.isEmpty, "\(outline.name)")
            #expect(left.rows == right.rows, "\(outline.name)")
        }
    }

    /// What rules and the catalog add to a transaction of the samples if no document states it. No document of the samples has
    /// an offer.
    private static func added(to id: String?) -> [String: String] {
        var added = ["inAppOwnershipType": "PURCHASED", "transactionReason": id == "201" ? "RENEWAL" : "PURCHASE"]
        switch id {
        case "600", "601": added["type"] = "Non-Renewing Subscription"
        case "700": added["type"] = "Non-Consumable"
        default:
            added["type"] = "Auto-Renewable Subscription"
            added["subscriptionGroupIdentifier"] = "20456789"
        }
        return added
    }

    @Test("transactions has each resolved transaction once, field by field")
    func transactions() async throws {
        let folder = try TemporaryFolder()
        try await Samples.withStore { store in
            _ = try await Samples.export(.csv).run(store, to: folder.path)
            let table = try ExportedRows("transactions", in: folder)
            var places = table.rows[...]
            for customer in try await customers(store) {
                for stored in customer.transactions {
                    let next = places.popFirst()
                    let row = try #require(next)
                    #expect(row["customer"] == customer.key)
                    #expect(row["environment"] == customer.scope.environment.rawValue)
                    #expect(row["asOf"] == stored.origins.newestDate.map { String($0) })
                    #expect(row["evidence"] == (stored.isSigned ? "signed" : "recorded"))
                    #expect(row["cancellationDate"] == stored.legacy.cancellationDate.map { String($0) })
                    var writer = JSONWriter()
                    writer.model(stored.payload)
                    let values = try ExportedRows.values(of: writer.finish())
                    let added = Self.added(to: row["transactionId"])
                    for field in TransactionField.allCases where field != .signedDate {
                        let name = "\(field.name)"
                        let value = values[name]
                        guard table.columns.contains(name) else {
                            #expect(
                                value == nil || row["more"]?.contains("\"\(name)\":\(value ?? "")") == true, "\(name)")
                            continue
                        }
                        #expect(row[name] == value ?? added[name], "\(name) of \(row)")
                    }
                }
            }
            #expect(places.isEmpty)
            #expect(Set(table["transactionId"]).count == table.rows.count)
            #expect(try table.row("transactionId", "101")["documents"] == #"["appStoreServerAPI"]"#)
            #expect(try table.row("transactionId", "800")["documents"] == #"["receipt","recordedReply"]"#)
            #expect(try table.row("transactionId", "101")["source"] == "appStoreServerAPI")
            #expect(try table.row("transactionId", "800")["source"] == "receipt")
            #expect(try table.row("transactionId", "400")["source"] == "recordedReply")
            // The receipt of 200 does not state the upgrade.
            #expect(
                try table.row("transactionId", "200")["provenance"]?.contains("\"isUpgraded\":\"inferred: ") == true)
            // The id of the first period is that of the subscription.
            for (id, reason) in [("200", "PURCHASE"), ("201", "RENEWAL")] {
                #expect(try table.row("transactionId", id)["transactionReason"] == reason)
            }
            #expect(
                try table.row("transactionId", "200")["provenance"]?.contains("\"transactionReason\":\"inferred: ")
                    == true)
            // Of the catalog.
            #expect(try table.row("transactionId", "201")["subscriptionGroupIdentifier"] == "20456789")
            #expect(try table.row("transactionId", "600")["subscriptionGroupIdentifier"] == nil)
        }
    }

    @Test("transactions has the only offer of the catalog that fits, with its source, and no offer that does not fit")
    func offers() async throws {
        let folder = try TemporaryFolder()
        let products = Samples.products.replacing(
            "basic: {", with: "basic: {offers: [{type: introductory, period: P1M, paymentMode: payUpFront}], ")
        // Signed transactions of before 2024 state no payment mode.
        let facts = [
            Samples.period("1", "1", from: 0, source: .notificationV2) { $0.offerType = .introductory },
            Samples.period("2", "2", from: 0, source: .notificationV2),
            Samples.period("3", "3", "premium", from: 0, source: .notificationV2) { $0.offerType = .introductory },
        ]
        try await Samples.withStore(facts.map { StoreSamples.set($0) }) { store in
            let export = TableExport(format: .csv, catalog: try catalog(products), date: Samples.date)
            _ = try await export.run(store, to: folder.path)
        }
        let table = try ExportedRows("transactions", in: folder)
        let fitting = try table.row("transactionId", "1")
        #expect(fitting["offerDiscountType"] == "PAY_UP_FRONT" && fitting["offerPeriod"] == "P1M")
        for field in ["offerDiscountType", "offerPeriod"] {
            #expect(fitting["provenance"]?.contains("\"\(field)\":\"catalog") == true, "\(fitting)")
            for id in ["2", "3"] { #expect(try table.row("transactionId", id)[field] == nil, "\(id)") }
        }
    }

    @Test("documents has each kind once, also if a received cancellation is beside another notification")
    func documentsOnce() async throws {
        let folder = try TemporaryFolder()
        let documents = StoreSamples.set(
            Samples.period("1", "1", from: 0),
            Samples.period("1", "1", from: 0, source: .notificationV1, at: 1),
            Samples.period("1", "1", from: 0, source: .notificationV1, at: 2, cancelled: 2))
        try await Samples.withStore([documents]) { store in
            let origins = try await customers(store).flatMap(\.transactions).flatMap(\.origins)
            #expect(origins.map(\.source) == [.receipt, .notificationV1, .notificationV1])
            _ = try await Samples.export(.csv).run(store, to: folder.path)
        }
        let row = try ExportedRows("transactions", in: folder).row("transactionId", "1")
        #expect(row["documents"] == #"["receipt","notificationV1"]"#)
        #expect(row["source"] == "receipt" && row["revocationDate"] == String(Samples.june + 2 * Samples.day))
    }

    @Test("An upgrade is no refund, and a cancellation that only unsigned documents state is in a column of its own")
    func cancellations() async throws {
        let table = try ExportedRows("transactions", in: try await exported())
        let upgraded = try table.row("transactionId", "200")
        #expect(upgraded["isUpgraded"] == "true" && upgraded["revocationDate"] == nil)
        #expect(upgraded["cancellationDate"] == String(Samples.june + 10 * Samples.day))
        #expect(try table.row("transactionId", "300")["revocationDate"] == String(Samples.june + 4 * Samples.day))
        let recorded = try table.row("transactionId", "800")
        #expect(recorded["recordedCancellationDate"] == String(Samples.june + 22 * Samples.day))
        #expect(recorded["revocationDate"] == nil && recorded["cancellationDate"] == nil)
    }

    @Test("subscriptions and entitlements are those of the resolver at the date of the export")
    func subscriptions() async throws {
        let folder = try TemporaryFolder()
        try await Samples.withStore { store in
            _ = try await Samples.export(.csv).run(store, to: folder.path)
            let subscriptions = try ExportedRows("subscriptions", in: folder)
            let entitlements = try ExportedRows("entitlements", in: folder)
            let products = try catalog(Samples.products)
            var (standings, all): ([SubscriptionStanding], [Entitlement]) = ([], [])
            for customer in try await customers(store) {
                let history = customer.purchaseHistory(catalog: products)
                standings += history.subscriptions(at: Samples.date)
                all += history.entitlements(at: Samples.date)
            }
            func dates(_ dates: [Int64?]) -> [String] { dates.map { $0.map { String($0) } ?? "" } }
            #expect(subscriptions["originalTransactionId"] == standings.map { $0.originalTransactionId ?? "" })
            #expect(subscriptions["status"] == standings.map(\.status.name))
            #expect(subscriptions["periodStart"] == dates(standings.map(\.periodStart)))
            #expect(subscriptions["accessEnds"] == dates(standings.map(\.accessEnds)))
            #expect(subscriptions["isCurrent"] == standings.map { String($0.isCurrent) })
            #expect(entitlements["status"] == all.map { $0.status?.name ?? "unknown" })
            #expect(entitlements["productId"] == all.map { $0.productId ?? "" })
            #expect(entitlements["changesAt"] == dates(all.map(\.changesAt)))
            #expect(entitlements["hasAccess"] == all.map { String($0.hasAccess) })
            let grace = try subscriptions.row("originalTransactionId", "500")
            #expect(grace["status"] == "billingGracePeriod" && grace["expirationIntent"] == "2")
            #expect(grace["gracePeriodExpiresDate"] == String(Samples.june + 51 * Samples.day))
            let active = try subscriptions.row("originalTransactionId", "100")
            #expect(
                active["status"] == "active" && active["autoRenewStatus"] == "1" && active["productId"] == "premium")
            #expect(active["source"] == "appStoreServerAPI" && grace["source"] == "notificationV2")
            let transactions = try ExportedRows("transactions", in: folder)
            for row in subscriptions.rows + entitlements.rows + (try ExportedRows("terms", in: folder)).rows {
                let transaction = try transactions.row("transactionId", row["transactionId"] ?? "")
                for column in ["evidence", "source", "asOf"] {
                    #expect(row[column] == transaction[column], "\(column) of \(row)")
                }
            }
        }
    }

    @Test("terms follow each other over all documents of a customer; without a catalog there are none")
    func terms() async throws {
        let folder = try await exported()
        let terms = try ExportedRows("terms", in: folder)
        #expect(terms["transactionId"] == ["601", "600"])
        #expect(try terms.row("transactionId", "601")["termStart"] == terms.row("transactionId", "600")["termEnd"])
        #expect(terms["isStacked"] == ["true", "false"])
        let club = try ExportedRows("entitlements", in: folder).row("entitlement", "club")
        #expect(try club["accessEnds"] == terms.row("transactionId", "601")["termEnd"])
        let plain = try TemporaryFolder()
        try await Samples.withStore { store in
            let summary = try await TableExport(format: .csv, date: Samples.date).run(store, to: plain.path)
            #expect(summary.tables.first { $0.name == "terms" }?.rows == 0)
        }
        #expect(
            try ExportedRows("transactions", in: plain).row("transactionId", "201")["subscriptionGroupIdentifier"]
                == nil)
    }

    @Test("renewal_infos and app_transactions have what the documents state")
    func renewalsAndApps() async throws {
        let folder = try await exported()
        let renewal = try ExportedRows("renewal_infos", in: folder).row("originalTransactionId", "100")
        #expect(renewal["autoRenewProductId"] == "premium" && renewal["autoRenewStatus"] == "1")
        #expect(renewal["renewalPrice"] == "9990" && renewal["evidence"] == "signed")
        #expect(renewal["eligibleWinBackOfferIds"] == #"["come-back","return"]"#)
        #expect(renewal["asOf"] == String(Samples.june + 31 * Samples.day) && renewal["more"] == nil)
        let apps = try ExportedRows("app_transactions", in: folder)
        #expect(apps["originalApplicationVersion"] == ["1.0"] && apps["originalPlatform"] == ["iOS"])
        #expect(apps["originalPurchaseDate"] == [String(Samples.june - 400 * Samples.day)])
        // What has no column is not lost.
        #expect(apps["more"] == [#"{"deviceVerificationNonce":"nonce"}"#])
    }

    @Test("app_transactions has the type of the receipt, and what is stated about a volume purchase")
    func volumePurchases() async throws {
        let (place, folder) = (try TemporaryFolder(), try TemporaryFolder())
        let store = try SQLiteTransactionStore.open(path: place.file("store.sqlite"))
        var volume = LegacyAppTransactionFields()
        volume.receiptType = "ProductionVPP"
        volume.expirationDate = 1_742_034_030_000
        volume.volumePurchaseDate = 1_710_238_830_000
        volume.volumePurchaseOrganization = Samples.hostile
        var single = LegacyAppTransactionFields()
        single.receiptType = "Production"
        let stated: [(id: String, legacy: LegacyAppTransactionFields?)] = [("1", volume), ("2", single), ("3", nil)]
        for (id, legacy) in stated {
            let app = StoreSamples.app("1.0", legacy: legacy)
            _ = try await store.apply([StoreSamples.set(identities: [StoreSamples.original(id)], app: app)])
        }
        _ = try await TableExport(format: .csv, date: Samples.date).run(store, to: folder.path)
        try await store.close()
        let apps = try ExportedRows("app_transactions", in: folder)
        #expect(apps["receiptType"] == ["Production", "Production", "Production"])
        #expect(Set(apps.rows.map { $0["legacyReceiptType"] }) == ["ProductionVPP", "Production", nil])
        let row = try apps.row("legacyReceiptType", "ProductionVPP")
        #expect(row["volumePurchaseExpirationDate"] == "1742034030000")
        #expect(row["volumePurchaseDate"] == "1710238830000")
        #expect(row["volumePurchaseOrganization"] == Samples.hostile)
        #expect(apps.rows.compactMap { $0["volumePurchaseExpirationDate"] }.count == 1)
    }

    @Test("customers and their identities, one key each, count what the other tables have")
    func customerTables() async throws {
        let folder = try await exported()
        let customers = try ExportedRows("customers", in: folder)
        let identities = try ExportedRows("customer_identities", in: folder)
        #expect(Set(customers["customer"]).count == customers.rows.count)
        #expect(Set(identities["customer"]) == Set(customers["customer"]))
        for table in ["transactions", "subscriptions", "entitlements"] {
            let rows = try ExportedRows(table, in: folder)["customer"]
            for customer in customers.rows {
                #expect(customer[table] == String(rows.count { $0 == customer["customer"] }), "\(table)")
            }
        }
        let key = try #require(identities.rows.first { $0["value"] == "100" }?["customer"])
        let known = identities.rows.filter { $0["customer"] == key }
        #expect(known.map { $0["value"] } == ["100", "600", "601", "704", Samples.token])
        let customer = try customers.row("customer", key)
        #expect(customer["asOf"] == String(Samples.june + 31 * Samples.day) && customer["hasAccess"] == "true")
        let recorded = try #require(identities.rows.first { $0["value"] == "400" }?["customer"])
        #expect(try customers.row("customer", recorded)["recordedTransactions"] == "1")
        #expect(identities["kind"].contains("receiptDigest"))
    }

    @Test("to_ask_apple is ordered by what an answer could change, over all customers")
    func questions() async throws {
        let table = try ExportedRows("to_ask_apple", in: try await exported())
        let reasons = table["reason"]
        let order = OpenQuestion.Reason.allCases.map(\.name)
        #expect(reasons == reasons.sorted { (order.firstIndex(of: $0) ?? 0) < (order.firstIndex(of: $1) ?? 0) })
        #expect(Set(reasons) == Set(order))
        func purchases(_ reason: String) -> [String] {
            table.rows.filter { $0["reason"] == reason }.map { $0["originalTransactionId"] ?? "" }
        }
        #expect(purchases("unconfirmedCancellation") == ["800"])
        #expect(purchases("unexplainedCancellation") == ["300"])
        #expect(purchases("unsigned") == ["400"])
        #expect(purchases("notCurrent").contains("400") && !purchases("notCurrent").contains("100"))
        let missing = try #require(table.rows.last { $0["originalTransactionId"] == "100" }?["missingFields"])
        #expect(missing.contains(#""price""#) && !missing.contains(#""type""#))
    }

    @Test("Hostile names stay what they are, and one field")
    func hostile() async throws {
        let table = try ExportedRows("transactions", in: try await exported())
        #expect(try table.row("transactionId", "700")["productId"] == Samples.hostile)
    }
}
