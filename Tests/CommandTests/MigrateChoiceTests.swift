import Foundation
import ReceiptForge
import Testing

@Suite("migrate: what is chosen", .timeLimit(.minutes(10)))
struct MigrateChoiceTests {
    /// One receipt of production, one of the sandbox, one of Xcode, one of a Mac app.
    private static func mixed() throws -> Folder {
        let folder = try Folder.withRoot()
        for name in ["production-sha256", "sandbox-sha256", "xcode", "mac"] {
            try folder.write("in/\(name)", Forged.named(name).bytes)
        }
        return folder
    }

    private static func reasons(_ folder: Folder) throws -> [String?] {
        try folder.lines("out/quarantine.ndjson").map { $0["reason"] as? String }
    }

    @Test(
        "--environment keeps these and quarantines the others, in any case of letters",
        arguments: [
            "Production", "production",
        ])
    func environment(name: String) async throws {
        let folder = try Self.mixed()
        let outcome = try await folder.stream("in", "--environment", name, to: "out")
        #expect(outcome.status == 1)
        let summary = try folder.object("out/summary.json")
        #expect(summary["migratedByEnvironment"] as? [String: Int] == ["Production": 2])
        #expect(summary["quarantinedByReason"] as? [String: Int] == ["otherEnvironment": 1, "xcodeReceipt": 1])
    }

    @Test("--environment can be given twice")
    func environments() async throws {
        let folder = try Self.mixed()
        _ = try await folder.stream(
            "in", "--environment", "Sandbox", "--environment", "Xcode", "--accept-xcode", to: "out")
        #expect(
            try folder.object("out/summary.json")["migratedByEnvironment"] as? [String: Int] == [
                "Sandbox": 1, "Xcode": 1,
            ])
    }

    @Test("--bundle-id keeps this app and quarantines the others")
    func bundleId() async throws {
        let folder = try Self.mixed()
        let outcome = try await folder.stream("in", "--bundle-id", "com.example.orchard.mac", to: "out")
        #expect(outcome.status == 1)
        #expect(try Self.reasons(folder) == ["otherBundleId", "otherBundleId", "xcodeReceipt"])
        #expect(try folder.lines("out/app-transactions.ndjson").count == 1)
    }

    @Test("Receipts of Xcode are migrated with --accept-xcode only")
    func xcode() async throws {
        let folder = try Self.mixed()
        let refused = try await folder.stream("in", to: "out")
        #expect(refused.status == 1)
        #expect(try Self.reasons(folder) == ["xcodeReceipt"])
        let accepted = try await folder.stream("in", "--accept-xcode", to: "all")
        #expect(accepted.status == 0)
    }

    @Test("--signed-only quarantines unsigned data")
    func signedOnly() async throws {
        let folder = try Folder.withRoot()
        let reply = """
            {"status":0,"environment":"Production","receipt":{"bundle_id":"com.example.orchard","in_app":[{"quantity":"1",\
            "product_id":"com.example.apple","transaction_id":"530001","original_transaction_id":"530001",\
            "purchase_date_ms":"1700000000000","original_purchase_date_ms":"1700000000000"}]}}
            """
        try folder.write("reply.json", reply.utf8)
        let all = try await folder.stream("reply.json", to: "all")
        #expect(all.status == 0, "\(all.output)")
        #expect(try folder.lines("all/transactions.ndjson").map { $0["standing"] as? String } == ["recorded"])
        let signed = try await folder.stream("reply.json", "--signed-only", to: "out")
        #expect(signed.status == 1)
        #expect(try Self.reasons(folder) == ["recordedNotAccepted"])
        #expect(try folder.bytes("out/transactions.ndjson").isEmpty)
    }

    @Test("--catalog adds fields that a receipt lacks, and is named as the source")
    func catalog() async throws {
        let folder = try Folder.withRoot()
        let created = ForgedInstant(2024, 3, 15, 10, 20, 30)
        let receipt = ForgedAppReceipt.production(bundleId: "com.example.orchard", created: created).with {
            $0.purchases = [ForgedPurchase(.nonRenewing, product: "com.example.season", id: "530001", at: created)]
        }
        try folder.write("receipt", receipt.signedData(.g5).encoded())
        try folder.write(
            "catalog.yaml", "version: 1\nproducts:\n  com.example.season: {type: non-renewing, duration: P3M}\n".utf8)
        _ = try await folder.stream("receipt", to: "without")
        #expect(try folder.payloads("without/transactions.ndjson").map { $0["expiresDate"] == nil } == [true])
        let outcome = try await folder.stream("receipt", "--catalog", "catalog.yaml", to: "with")
        #expect(outcome.status == 0, "\(outcome.error)")
        let transaction = try #require(try folder.payloads("with/transactions.ndjson").first)
        #expect(transaction["expiresDate"] as? Int64 == created.adding(months: 3).milliseconds)
        let line = try #require(try folder.lines("with/transactions.ndjson").first)
        let provenance = try #require(line["provenance"] as? [String: String])
        #expect(provenance["expiresDate"]?.hasPrefix("catalog") == true, "\(provenance)")
    }

    @Test("The terms of a record are computed from all of its receipts")
    func termsOfARecord() async throws {
        let folder = try Folder.withRoot()
        let bought = ForgedInstant(2024, 3, 15, 10, 20, 30)
        func receipt(_ id: String, _ date: ForgedInstant, cancelled: ForgedInstant? = nil) throws -> String {
            let receipt = ForgedAppReceipt.production(
                bundleId: "com.example.orchard", created: cancelled ?? date
            ).with {
                var purchase = ForgedPurchase(.nonRenewing, product: "com.example.season", id: id, at: date)
                if let cancelled { purchase.cancellationDate = .seconds(cancelled) }
                $0.purchases = [purchase]
            }
            return Data(try receipt.signedData(.g5).encoded()).base64EncodedString()
        }
        let second = try receipt("530002", bought.adding(months: 1))
        let first = try receipt("530001", bought)
        let refunded = try receipt("530001", bought, cancelled: bought.adding(months: 2))
        try folder.write(
            "catalog.yaml", "version: 1\nproducts:\n  com.example.season: {type: non-renewing, duration: P3M}\n".utf8)
        let names = ["receipt_data", "latest_receipt", "receipt"]
        let cases: [([String], Int64, Int64)] = [([first], 3, 6), ([first, refunded], 1, 4)]
        for (firsts, start, end) in cases {
            let documents = zip(names, [second] + firsts).map { "\"\($0)\":\"\($1)\"" }
            try folder.write("dump.ndjson", "{\(documents.joined(separator: ","))}\n".utf8)
            let name = "out\(firsts.count)"
            let outcome = try await folder.stream(
                "dump.ndjson", "--catalog", "catalog.yaml", to: name)
            #expect(outcome.status == 0, "\(outcome.error)")
            let lines = try folder.lines("\(name)/transactions.ndjson")
            #expect(lines.count == 2)
            let line = try #require(
                lines.first { ($0["transaction"] as? [String: Any])?["transactionId"] as? String == "530002" })
            let transaction = try #require(line["transaction"] as? [String: Any])
            #expect(line["termStart"] as? Int64 == bought.adding(months: start).milliseconds)
            #expect(transaction["expiresDate"] as? Int64 == bought.adding(months: end).milliseconds)
            let notes = line["notes"] as? [String] ?? []
            #expect(notes.contains("termStacked") == (firsts.count == 1))
        }
    }

    @Test("A broken catalog is an error that names the file and the line, before anything is read or written")
    func brokenCatalog() async throws {
        let folder = try Folder.withRoot()
        try folder.write("dump.ndjson", Forged.ndjson(1))
        let text = "version: 1\nproducts:\n  com.example.season:\n    type: non-renewing\n    duration: P3Q\n"
        try folder.write("catalog.yaml", text.utf8)
        try folder.write("broken.json", "{\"version\": 1,\n \"products\": [}\n".utf8)
        for (name, line) in [("catalog.yaml", 5), ("broken.json", 2)] {
            let outcome = try await folder.stream("dump.ndjson", "--catalog", name, to: "out")
            #expect(outcome.status == 2)
            #expect(outcome.error.hasPrefix("Error: The catalog cannot be used: "))
            #expect(outcome.error.contains(name) && outcome.error.contains("\(line)"), "\(outcome.error)")
        }
        let missing = try await folder.stream("dump.ndjson", "--catalog", "missing.yaml", to: "out")
        #expect(missing.status == 2)
        #expect(missing.error.contains("missing.yaml"))
        #expect(folder.names("out").isEmpty)
    }
}
