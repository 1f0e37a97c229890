import AppStoreModels
import Foundation
import Purchases
import SQLiteTransactionStore
import TestSupport
import Testing
import TransactionStore

@Suite("report", .timeLimit(.minutes(10)))
struct ReportTests {
    /// A store whose products have names that HTML, SVG or a reader could take for something else.
    private static let hostile = [
        "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "a&b;'c", "\u{202E}desrever", "{{store}}",
        "<\u{301}b>",
    ]

    private static func makeStore(_ folder: Folder) async throws {
        let store = try SQLiteTransactionStore.open(
            path: folder.file("store.sqlite"), options: .init(durability: .normal))
        for set in StoredPurchases.sets { _ = try await store.apply([set]) }
        for (place, product) in hostile.enumerated() {
            let id = String(9_000 + place)
            _ = try await store.apply([
                StoredPurchases.set([StoredPurchases.fact(id, original: id, 0, 1) { $0.productId = product }])
            ])
        }
        _ = try await store.apply([
            FactSet(
                scope: StoreScope(environment: .production, bundleId: "com.<b>'x&"),
                transactions: [StoredPurchases.fact("9900", original: "9900", 0, 1)])
        ])
        let line =
            #"{"reason":"<b>unknownForm","message":"<i>It's & none.","source":{"sha256":"00112233445566778899"}}"#
        // What a migration keeps of its counts.
        let state = #"""
            {"start":{"migration":"a","number":1,"inputs":["<s>.csv","b.csv"],"inputCount":9},
            "summary":{"recordsRead":1234,"migrated":1200,"quarantined":34,"documentsQuarantined":2,
            "members":{"<q>payload":{"looksLikeDocument":5,"carriedAlong":3},"other":{"leftOut":6}},
            "notes":{"userNotRead":7,"replyNotRead":8}}}
            """#
        _ = try await store.apply(
            MigrationStep(
                users: ["<u>1", "u2"].map {
                    UserClaim(
                        scope: StoreScope(environment: .production, bundleId: StoredPurchases.bundleId),
                        identity: CustomerIdentity(.originalTransactionId, "9000"), userId: $0, carried: "")
                }, quarantined: [QuarantinedRecord(line: Array(line.utf8))],
                checkpoint: MigrationCheckpoint(
                    migration: String(repeating: "a", count: 64), records: 1_234,
                    digest: [UInt8](repeating: 0, count: 32), state: Array(state.utf8))))
        try await store.close()
    }

    @Test("Text of documents is escaped, and the page needs no network and no script")
    func hostile() async throws {
        let folder = try Folder()
        try await Self.makeStore(folder)
        let outcome = try await Command.run(
            "report", "--store", "sqlite:store.sqlite", "--at", "2024-01-01", in: folder)
        #expect(outcome.status == 0, "\(outcome.error)")
        #expect(outcome.output.contains("Written to report.html, as of 2024-01-01T00:00:00Z."))
        let page = try folder.text("report.html")
        let policy = "content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\""
        #expect(page.contains("<meta http-equiv=\"Content-Security-Policy\" \(policy)>"))
        #expect(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"))
        #expect(page.contains("&quot;&gt;&lt;img src=x onerror=alert(1)&gt;"))
        #expect(page.contains("a&amp;b;&#39;c"))
        #expect(page.contains("\\u{202e}desrever"))
        #expect(page.contains("<th scope=\"row\">{{store}}</th>"))
        #expect(page.contains("by kind of document"))
        #expect(page.contains("<th scope=\"row\">notification, version 2</th>"))
        #expect(page.contains("<h2>App Store Server API</h2>"))
        let app = #"--bundle-id &#39;com.&lt;b&gt;&#39;\&#39;&#39;x&amp;&#39;"#
        #expect(page.contains("\(app) --bundle-id com.example.app --dry-run</pre>"))
        #expect(page.contains("&lt;b&gt;unknownForm"))
        #expect(page.contains("&lt;i&gt;It&#39;s &amp; none."))
        #expect(page.contains("<td>001122334455</td>"))
        #expect(page.contains("&lt;u&gt;1, u2"))
        #expect(page.contains("<caption>&lt;s&gt;.csv, b.csv and 7 more</caption>"))
        func row(_ name: String, _ count: String, _ columns: String) -> String {
            "<th scope=\"row\">\(name)</th><td class=\"number\">\(count)</td><td>\(columns)</td>"
        }
        #expect(page.contains(row("records", "1,234", "")))
        #expect(page.contains(row("in quarantine", "34", "")))
        #expect(page.contains(row("documents not read", "5", "&lt;q&gt;payload: 5")))
        #expect(page.contains(row("columns not read", "7", "user: 7")))
        #expect(page.contains(row("documents outside of --column", "6", "other: 6")))
        #expect(page.contains(row("replies not read", "8", "they granted nothing")))
        #expect(!page.contains("rows of other tables"))
        #expect(page.contains("those of stores that merge copied, are not counted here."))
        #expect(page.contains("<h2>Missing fields</h2>"))
        #expect(page.contains("<th scope=\"row\">appAccountToken</th>"))
        // Letters behind "<" begin a tag: only ours do.
        let tags = Set(page.matches(of: /<([a-zA-Z!][a-zA-Z0-9]*)/).map { String($0.1) })
        let ours: Set = [
            "!doctype", "html", "head", "meta", "title", "style", "body", "header", "main", "section", "h1", "h2", "p",
            "code",
            "pre", "div", "b", "span", "svg", "rect", "line", "text", "figure", "details", "summary", "table",
            "caption",
            "thead", "tbody", "tr", "th", "td",
        ]
        #expect(tags.subtracting(ours).isEmpty, "\(tags.subtracting(ours))")
        for outside in ["://", "url(", "@import", "javascript:", " src=\"", "href="] {
            #expect(!page.contains(outside), "\(outside)")
        }
        #expect(page.unicodeScalars.allSatisfy { $0.properties.generalCategory != .format })
        #expect(folder.names("").filter { !$0.hasPrefix("store.sqlite") } == ["report.html"])
    }

    @Test("The same store and date give the same bytes")
    func deterministic() async throws {
        let folder = try Folder()
        try await Self.makeStore(folder)
        for name in ["1.html", "2.html"] {
            let outcome = try await Command.run(
                "report", "--store", "sqlite:store.sqlite", "--at", "2024-01-01", "--html", name, in: folder)
            #expect(outcome.status == 0, "\(outcome.error)")
        }
        #expect(try folder.bytes("1.html") == folder.bytes("2.html"))
    }

    @Test("The command of the next export has the catalog of the report")
    func catalog() async throws {
        let folder = try Folder()
        try await Self.makeStore(folder)
        let name = "my products.yaml"
        try folder.write(name, "version: 1\nproducts:\n  pass: {duration: P7D}\n".utf8)
        let outcome = try await Command.run(
            "report", "--store", "sqlite:store.sqlite", "--at", "2024-01-01", "--catalog", name, in: folder)
        #expect(outcome.status == 0, "\(outcome.error)")
        #expect(try folder.text("report.html").contains("--to tables --catalog &#39;\(name)&#39;</pre>"))
    }

    @Test("A file that cannot be written, and a store that is not there, end with 2")
    func failures() async throws {
        let folder = try Folder()
        try await Self.makeStore(folder)
        let unwritable = try await Command.run(
            "report", "--store", "sqlite:store.sqlite", "--html", "none/report.html", in: folder)
        #expect(unwritable.status == 2)
        #expect(unwritable.error.contains("none/report.html cannot be written"))
        let missing = try await Command.run("report", "--store", "sqlite:missing.sqlite", in: folder)
        #expect(missing.status == 2)
        #expect(!folder.names("").contains("missing.sqlite"))
    }
}
