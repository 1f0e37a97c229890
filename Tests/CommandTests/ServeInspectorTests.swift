import Crypto
import Foundation
import ReceiptForge
import TestSupport
import Testing

@Suite("serve: inspector", .timeLimit(.minutes(10)), .enabled(if: Command.hasProgram("curl"), "curl is missing"))
struct ServeInspectorTests {
    /// A product id that would be markup, script and template if it were not escaped.
    private static let hostile = #"<script>alert(1)</script>{{x}}"'&"#

    /// Runs commands while a server listens. `form` posts a form as a browser would; `$page` is the page.
    private static func serve(
        _ commands: String, _ options: String = "", roots: String = "root.der", in folder: Folder
    ) async throws -> Outcome {
        try folder.write("token", String(repeating: "k", count: 40).utf8)
        let outcome = try await Command.shell(
            """
            : >log
            "$COMMAND" serve --port 0 --store sqlite:store.sqlite --set admin.enabled=false --set look-up.enabled=true \\
                --set look-up.port=0 --set timeouts.drain=0 --set look-up.token-files=token \\
                --set trust.roots=\(roots) \(options) 2>log &
            server=$!
            \(Command.lookUpPort)
            page=http://127.0.0.1:$port/
            form() { curl -sS -u "me:$(cat token)" -H 'Sec-Fetch-Site: same-origin' "$@" "$page"; }
            \(commands)
            kill -TERM $server
            wait $server
            """, in: folder)
        let log = try folder.text("log")
        #expect(outcome.error.isEmpty, "\(outcome) \(log)")
        return outcome
    }

    /// - Parameters:
    ///   - product: the subscribed product.
    ///   - periods: the number of months; the last one begins with the receipt.
    private static func receipt(product: String = "com.example.apple", periods: Int64 = 1) throws -> String {
        let created = ForgedInstant(2024, 3, 15, 10, 20, 30)
        let first = created.adding(months: 1 - periods)
        let receipt = ForgedAppReceipt.production(bundleId: "com.example.orchard", created: created).with {
            $0.purchases = (0..<periods).map { period in
                ForgedPurchase(
                    .autoRenewable, product: product, id: String(530_000_000_000_001 + period),
                    at: first.adding(months: period), originalId: "530000000000001", originallyAt: first
                ).with { $0.expiresDate = .seconds(first.adding(months: period + 1)) }
            }
        }
        return Forged.base64(try receipt.signedData(.g5).encoded())
    }

    private static func request(_ receipt: String, _ more: String = "") -> String {
        #"{"receipt-data":"\#(receipt)","password":"0123456789abcdef0123456789abcdef"\#(more)}"#
    }

    private static func recordedReply(_ receipt: String) -> String {
        """
        {"status":0,"environment":"Production","latest_receipt":"\(receipt)","receipt":{"bundle_id":"com.example.orchard",\
        "in_app":[{"quantity":"1","product_id":"com.example.apple","transaction_id":"530000000000001",\
        "original_transaction_id":"530000000000001","purchase_date_ms":"1710498030000"}]}}
        """
    }

    @Test("The page needs the token as a password, and its policy lets nothing in but its own style and script")
    func policy() async throws {
        let folder = try Folder.withRoot()
        try await StoredPurchases.makeStore(in: folder)
        _ = try await Self.serve(
            """
            curl -sS -D headers -o refused "$page"
            curl -sS -o /dev/null -w '%{http_code}' -u me:wrong "$page" >wrong
            form -D allowed -o page
            curl -sS -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $(cat token)" "$page" >bearer
            """, in: folder)
        let refused = try folder.text("headers").lowercased()
        #expect(refused.contains(" 401") && refused.contains(#"www-authenticate: basic realm="#), "\(refused)")
        #expect(try !folder.text("refused").contains("<"))
        #expect(try folder.text("wrong") == "401" && folder.text("bearer") == "200")
        let headers = try folder.text("allowed")
        #expect(headers.contains(" 200") && headers.contains("text/html; charset=utf-8"), "\(headers)")
        // With no-referrer, browsers send "Origin: null" with the page's own forms, which are then refused.
        #expect(headers.lowercased().contains("referrer-policy: same-origin\r\n"), "\(headers)")
        #expect(headers.contains("default-src 'none'") && headers.contains("frame-ancestors 'none'"), "\(headers)")
        let html = try folder.text("page")
        for (opening, closing) in [("<style>", "</style>"), ("<script>", "</script>")] {
            let begin = try #require(html.range(of: opening)).upperBound
            let end = try #require(html.range(of: closing)).lowerBound
            let digest = Data(SHA256.hash(data: Data(html[begin..<end].utf8))).base64EncodedString()
            #expect(headers.contains("'sha256-\(digest)'"), "\(opening)")
        }
        #expect(!html.contains("http://") && !html.contains("https://") && !html.contains(" on"))
    }

    @Test("A form of another site is refused")
    func otherSites() async throws {
        let folder = try Folder.withRoot()
        try await StoredPurchases.makeStore(in: folder)
        _ = try await Self.serve(
            """
            for header in 'Sec-Fetch-Site: cross-site' 'Sec-Fetch-Site: same-site' 'Origin: http://elsewhere.example' 'Origin: null'
            do
                curl -sS -o /dev/null -w '%{http_code} ' -u "me:$(cat token)" -H "$header" --data id=201 "$page" >>refused
                curl -sS -o /dev/null -w '%{http_code} ' -u "me:$(cat token)" -H "$header" --data id=201 "${page}v1/inspect" >>refused
            done
            curl -sS -o /dev/null -w '%{http_code} ' -u "me:$(cat token)" -H "Origin: ${page%/}" --data id=201 "$page" >own
            curl -sS -o /dev/null -w '%{http_code} ' -u "me:$(cat token)" -X PUT "$page" >other
            """, in: folder)
        #expect(try folder.text("refused") == String(repeating: "403 ", count: 8))
        #expect(try folder.text("own") == "200 " && folder.text("other") == "405 ")
    }

    @Test("A pasted receipt: every check, what it states, the reply it would get; nothing is stored")
    func document() async throws {
        let folder = try Folder.withRoot()
        try await StoredPurchases.makeStore(in: folder)
        try folder.write("receipt", Self.receipt(product: "com.example.apple").utf8)
        let before = try await Command.run("store", "stats", "--store", "sqlite:store.sqlite", "--json", in: folder)
        _ = try await Self.serve("form --data-urlencode document@receipt >page", in: folder)
        let html = try folder.text("page")
        #expect(html.contains("Genuine: signed by Apple, or by an authority that you trust."), "\(html)")
        for text in [
            "signature", "trustedRoot", "Every check", "What it states", "<svg", "com.example.apple",
            "Status 0 at /verifyReceipt",
        ] {
            #expect(html.contains(text), "\(text)")
        }
        #expect(
            html.contains("&quot;latest_receipt_info&quot;")
                && html.contains("&quot;transactionId&quot;: &quot;530000000000001&quot;"))
        let after = try await Command.run("store", "stats", "--store", "sqlite:store.sqlite", "--json", in: folder)
        #expect(before.status == 0 && before.output == after.output, "\(after)")
        #expect(try !folder.text("log").contains("530000000000001"))
    }

    @Test("A form may contain a receipt in DER")
    func documentOfBytes() async throws {
        let folder = try Folder.withRoot()
        try await StoredPurchases.makeStore(in: folder)
        let receipt = try Self.receipt()
        try folder.write("receipt", try #require(Data(base64Encoded: receipt)))
        _ = try await Self.serve("form --data-urlencode document@receipt >page", in: folder)
        #expect(try folder.text("page").contains("Genuine: signed by Apple"))
    }

    @Test("The reply is that to the receipt in a request or a recorded reply")
    func embedded() async throws {
        let folder = try Folder.withRoot()
        try await StoredPurchases.makeStore(in: folder)
        let receipt = try Self.receipt()
        try folder.write("request", Self.request(receipt).utf8)
        try folder.write("reply", Self.recordedReply(receipt).utf8)
        try folder.write("damaged", Self.recordedReply(String(receipt.dropLast(40)) + "AAAA").utf8)
        _ = try await Self.serve(
            "for name in request reply damaged; do form --data-urlencode document@$name >$name.html; done", in: folder)
        for name in ["request", "reply"] {
            let html = try folder.text("\(name).html")
            #expect(html.contains("Status 0 at /verifyReceipt"), "\(name): \(html)")
            #expect(html.components(separatedBy: "The verifyReceipt reply").count == 2, "\(name)")
        }
        #expect(try folder.text("reply.html").contains("The verifyReceipt reply to latest_receipt"))
        #expect(try !folder.text("damaged.html").contains("Status 0"))
    }

    @Test("A document that no app can send gets no reply", arguments: ["junk", "reply", "transaction"])
    func withoutReply(kind: String) async throws {
        let folder = try Folder.withRoot()
        try await StoredPurchases.makeStore(in: folder)
        let documents = [
            "junk": "hello", "reply": Self.recordedReply("placeholder"), "transaction": try Self.signedTransaction(),
        ]
        try folder.write("document", try #require(documents[kind]).utf8)
        _ = try await Self.serve("form --data-urlencode document@document >page", in: folder)
        let html = try folder.text("page")
        #expect(html.contains("The document") && !html.contains("The verifyReceipt reply"), "\(html)")
    }

    @Test("Of a pasted document about many customers, the page shows the first ones and states their number")
    func manyCustomers() async throws {
        let folder = try Folder.withRoot()
        try await StoredPurchases.makeStore(in: folder)
        let rows = (1...50).map {
            "{\"product_id\":\"p\",\"transaction_id\":\"\($0)\",\"original_transaction_id\":\"\($0)\"}"
        }
        let reply = """
            {"status":0,"environment":"Production",\
            "receipt":{"bundle_id":"com.example.orchard","in_app":[\(rows.joined(separator: ","))]}}
            """
        try folder.write("document", reply.utf8)
        _ = try await Self.serve("form --data-urlencode document@document >page", in: folder)
        let html = try folder.text("page")
        #expect(html.components(separatedBy: "What it states").count == 11, "\(html)")
        #expect(html.contains("50 customers"))
    }

    private static func signedTransaction() throws -> String {
        let json = """
            {"transactionId":"530000000000009","originalTransactionId":"530000000000009","bundleId":"com.example.orchard",\
            "productId":"com.example.tree","purchaseDate":1748735995000,"originalPurchaseDate":1748735995000,"quantity":1,\
            "type":"Non-Consumable","inAppOwnershipType":"PURCHASED","signedDate":1748736000000,"environment":"Production"}
            """
        return try TestSignedDataAuthority.standard.sign(payload: Array(json.utf8))
    }

    /// A version 2 notification about a month of a subscription.
    private static func notification() throws -> String {
        let authority = TestSignedDataAuthority.standard
        let transaction = try authority.sign(
            payload: Array(
                """
                {"transactionId":"530000000000010","originalTransactionId":"530000000000010",\
                "bundleId":"com.example.orchard","productId":"com.example.monthly","subscriptionGroupIdentifier":"21400000",\
                "purchaseDate":1748735995000,"originalPurchaseDate":1748735995000,"expiresDate":1751327995000,"quantity":1,\
                "type":"Auto-Renewable Subscription","inAppOwnershipType":"PURCHASED","signedDate":1748736000000,\
                "environment":"Production"}
                """.utf8))
        let payload = """
            {"notificationType":"SUBSCRIBED","subtype":"INITIAL_BUY","notificationUUID":"002e14d5-51f5-4503-b5a8-c3a1af68eb20",\
            "version":"2.0","signedDate":1748736000000,"data":{"bundleId":"com.example.orchard","environment":"Production",\
            "signedTransactionInfo":"\(transaction)"}}
            """
        return try authority.sign(payload: Array(payload.utf8))
    }

    @Test("A pasted notification: every check, also of the JWS in it, its purchases, a timeline, modern transactions")
    func notificationPage() async throws {
        let folder = try Folder.withRoot()
        try await StoredPurchases.makeStore(in: folder)
        try folder.write("jws.der", TestSignedDataAuthority.standard.rootCertificate)
        try folder.write("document", #"{"signedPayload":"\#(Self.notification())"}"#.utf8)
        _ = try await Self.serve(
            "form --data-urlencode document@document >page", "--set trust.signed-data-roots=jws.der", in: folder)
        let html = try folder.text("page")
        #expect(html.components(separatedBy: "Genuine: signed by Apple").count == 3, "\(html)")
        #expect(Self.checks(html).count == 2 && html.contains("<td>nestedData</td>"))
        #expect(html.contains("What it states") && html.contains("<svg") && html.contains("com.example.monthly"))
        #expect(html.contains("&quot;transactionId&quot;: &quot;530000000000010&quot;"))
    }

    @Test(
        "A JWS is genuine by the roots that the server trusts for JWS, not by those for receipts",
        arguments: [true, false])
    func rootsOfSignedData(isForSignedData: Bool) async throws {
        let folder = try Folder.withRoot()
        try await StoredPurchases.makeStore(in: folder)
        try folder.write("jws.der", TestSignedDataAuthority.standard.rootCertificate)
        try folder.write("document", Self.signedTransaction().utf8)
        _ = try await Self.serve(
            """
            form --data-urlencode document@document >page
            curl -sS -H "Authorization: Bearer $(cat token)" --data-binary @document "${page}v1/inspect" >json
            """, isForSignedData ? "--set trust.signed-data-roots=jws.der" : "",
            roots: isForSignedData ? "root.der" : "root.der,jws.der", in: folder)
        let html = try folder.text("page")
        #expect(html.contains("Genuine: signed by Apple") == isForSignedData, "\(html)")
        #expect(html.contains("What it states") == isForSignedData)
        #expect(try folder.object("json")["verdict"] as? String == (isForSignedData ? "genuine" : "notGenuine"))
    }

    @Test("A signed transaction gets a reply if the server answers signed transactions")
    func signedTransactionReply() async throws {
        let folder = try Folder.withRoot()
        try await StoredPurchases.makeStore(in: folder)
        try folder.write("jws.der", TestSignedDataAuthority.standard.rootCertificate)
        try folder.write("document", Self.signedTransaction().utf8)
        _ = try await Self.serve(
            "form --data-urlencode document@document >page",
            "--set endpoint.answer-signed-transactions=true --set trust.signed-data-roots=jws.der", in: folder)
        let html = try folder.text("page")
        #expect(html.contains("Status 0 at /verifyReceipt") && html.contains("What it states"), "\(html)")
    }

    @Test("The reply to a request omits old transactions if the request excludes them")
    func exclusion() async throws {
        let folder = try Folder.withRoot()
        try await StoredPurchases.makeStore(in: folder)
        let receipt = try Self.receipt(periods: 2)
        try folder.write("all", Self.request(receipt).utf8)
        try folder.write("newest", Self.request(receipt, #","exclude-old-transactions":true"#).utf8)
        _ = try await Self.serve(
            "for name in all newest; do form --data-urlencode document@$name >$name.html; done", in: folder)
        let counts = try ["all", "newest"].map { name in
            try folder.text("\(name).html").components(
                separatedBy: "&quot;transaction_id&quot;: &quot;530000000000001&quot;"
            ).count - 1
        }
        // in_app has every transaction of the receipt either way.
        #expect(counts[0] == counts[1] + 1, "\(counts)")
    }

    @Test("Content of documents stays text", arguments: ["receipt", "reply", "junk"])
    func escaped(kind: String) async throws {
        let folder = try Folder.withRoot()
        let stored = StoredPurchases.set([
            StoredPurchases.fact("666", original: "666", 0, 1) {
                $0.productId = Self.hostile
                $0.subscriptionGroupIdentifier = Self.hostile
            }
        ])
        try await StoredPurchases.makeStore(StoredPurchases.sets + [stored], in: folder)
        let product = Self.hostile.replacing("\"", with: "\\\"")
        let documents = [
            "receipt": try Self.receipt(product: Self.hostile),
            "reply": """
            {"status":0,"environment":"Production","receipt":{"bundle_id":"\(product)","in_app":[{"quantity":"1",\
            "product_id":"\(product)","transaction_id":"530001","original_transaction_id":"530001",\
            "purchase_date_ms":"1700000000000"}]}}
            """,
            "junk": Self.hostile,
        ]
        try folder.write("document", try #require(documents[kind]).utf8)
        try folder.write("id", Self.hostile.utf8)
        _ = try await Self.serve(
            """
            form --data-urlencode document@document >page
            form --data-urlencode id@id >customer
            form --data id=666 >stored
            """, in: folder)
        for name in ["page", "customer", "stored"] {
            let html = try folder.text(name)
            #expect(html.hasPrefix("<!doctype html>") && html.hasSuffix("</html>\n"), "\(name)")
            #expect(!html.contains("<script>alert"), "\(name)")
            #expect(html.components(separatedBy: "<script>").count == 2, "\(name)")
        }
        if kind != "junk" { #expect(try folder.text("page").contains("&lt;script&gt;alert(1)")) }
        #expect(try folder.text("customer").contains("&lt;script&gt;alert(1)"))
        let page = try folder.text("stored")
        #expect(page.contains("Found by") && page.contains("<svg") && page.contains("&lt;script&gt;alert(1)"))
    }

    @Test("A customer is looked up by an id, with the timeline and the tables of customer")
    func customer() async throws {
        let folder = try Folder.withRoot()
        try await StoredPurchases.makeStore(in: folder)
        _ = try await Self.serve(
            """
            form --data id=201 >page
            form --data id=nobody >nobody
            form --data 'id=%ZZ' >malformed
            """, in: folder)
        let html = try folder.text("page")
        for text in ["Found by", "<svg", "subscriptions", "entitlements", "periods", "documents", #"value="201""#] {
            #expect(html.contains(text), "\(text)")
        }
        #expect(
            html.contains("The modern transactions") && html.contains("&quot;transactionId&quot;: &quot;201&quot;"))
        // Each table that a keyboard can scroll has its own name.
        #expect(html.contains(#"role="region" aria-label="entitlements""#) && !html.contains(#"aria-label="Table""#))
        #expect(html.contains("<title>Customer – Inspector</title>"))
        // The store has no receipt of the customer.
        #expect(!html.contains("The verifyReceipt reply") && html.contains("The store has no receipt of this customer"))
        let nobody = try folder.text("nobody")
        #expect(nobody.contains("No customer has the id nobody."))
        // Browsers keep titles in their history, so the id is not in it.
        #expect(nobody.contains("<title>No customer – Inspector</title>"))
        // A percent sign without two hexadecimal digits stays.
        #expect(try folder.text("malformed").contains("No customer has the id %ZZ."))
    }

    @Test(
        "The modern transactions of a customer have the type of the catalog, and the refund of a copy that only it makes one"
    )
    func copiesByCatalog() async throws {
        let folder = try Folder.withRoot()
        let refunded = StoredPurchases.purchase("500", "lifetime", nil, month: 0, refunded: 1)
        let copy = StoredPurchases.fact("501", original: "500", 0, 0) {
            $0.productId = "lifetime"
            $0.subscriptionGroupIdentifier = nil
            $0.type = nil
            $0.expiresDate = nil
        }
        try await StoredPurchases.makeStore([StoredPurchases.set([refunded, copy])], in: folder)
        try folder.write("products.yaml", StoredPurchases.catalog.utf8)
        try folder.write(
            "serve.yaml",
            """
            apps:
              - bundle-id: \(StoredPurchases.bundleId)
                shared-secrets: ["0123456789abcdef0123456789abcdef"]
                catalogs: [products.yaml]
            """.utf8)
        _ = try await Self.serve("form --data id=501 >page", "--config serve.yaml", in: folder)
        let html = try folder.text("page")
        let refund = "&quot;revocationDate&quot;: \(StoredPurchases.month(1))"
        #expect(html.components(separatedBy: refund).count == 3, "\(html)")
        let type = "&quot;type&quot;: &quot;Non-Consumable&quot;"
        #expect(html.components(separatedBy: type).count == 3, "\(html)")
    }

    @Test("The page of a customer shows every check of a stored receipt, as inspect does, and the reply to it")
    func customerWithReceipt() async throws {
        let folder = try Folder.withRoot()
        let receipt = try Self.receipt()
        try folder.write("receipt", receipt.utf8)
        try folder.write("records.ndjson", #"{"user":"u-1","receipt":"\#(receipt)"}"#.utf8)
        let migrated = try await folder.migrate("records.ndjson", "--into", "sqlite:store.sqlite")
        #expect(migrated.status == 0, "\(migrated)")
        _ = try await Self.serve(
            """
            form --data id=530000000000001 >page
            form --data-urlencode document@receipt >document
            """, in: folder)
        let html = try folder.text("page")
        #expect(html.contains("The verifyReceipt reply to the stored app receipt"), "\(html)")
        #expect(html.contains("Status 0 at /verifyReceipt") && html.contains("&quot;latest_receipt_info&quot;"))
        #expect(html.contains("&quot;transactionId&quot;: &quot;530000000000001&quot;"))
        #expect(html.contains("<h2>The stored app receipt</h2>") && !html.contains("No stored receipt"))
        let (stored, pasted) = (Self.checks(html), Self.checks(try folder.text("document")))
        #expect(stored.count == 1 && stored == pasted && stored.first?.contains("<td>signature</td>") == true)
    }

    /// The tables of checks on a page.
    private static func checks(_ html: String) -> [Substring] {
        html.matches(of: /<caption>Every check<\/caption>.*?<\/table>/.dotMatchesNewlines()).map { $0.output }
    }

    @Test(
        "A stored receipt is checked again with the certificates that the server trusts now", arguments: [true, false])
    func customerWithTransactionReceipt(isTrusted: Bool) async throws {
        let folder = try Folder.withRoot()
        try folder.write("tunes.der", TestCertificateAuthority.iTunesStoreIntermediateDER)
        try folder.write("in/ios6", Forged.named("ios6-v2-production").bytes)
        let migrated = try await folder.migrate("in", "--into", "sqlite:store.sqlite", "--intermediate", "tunes.der")
        #expect(migrated.status == 0, "\(migrated)")
        _ = try await Self.serve(
            "form --data id=350000535213977 >page", isTrusted ? "--set trust.intermediates=tunes.der" : "", in: folder)
        let html = try folder.text("page")
        #expect(html.contains("<h2>The stored transaction receipt</h2>"), "\(html)")
        #expect(html.contains("Every check") && html.contains("Genuine: signed by Apple") == isTrusted, "\(html)")
        #expect(html.contains("Not genuine.") != isTrusted)
    }
}
