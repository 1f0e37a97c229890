import Foundation
import TestSupport
import Testing

@Suite("serve: look-up", .timeLimit(.minutes(10)), .enabled(if: Command.hasProgram("curl"), "curl is missing"))
struct ServeLookUpTests {
    @Test("The answers are those of the commands customer and inspect")
    func sameAsCommands() async throws {
        let folder = try Folder.withRoot()
        try await StoredPurchases.makeStore(in: folder)
        try folder.write("token", String(repeating: "k", count: 40).utf8)
        try folder.write("receipt", Forged.ndjson(1))
        try folder.write("other", #"{"orders":[{"id":1}]}"#)
        let outcome = try await Command.shell(
            """
            : >log
            "$COMMAND" serve --port 0 --store sqlite:store.sqlite --set admin.enabled=false --set look-up.enabled=true \\
                --set look-up.port=0 --set look-up.token-files=token --set trust.roots=root.der 2>log &
            server=$!
            \(Command.lookUpPort)
            ask() { curl -sS -H "Authorization: Bearer $(cat token)" "$@"; }
            ask "http://127.0.0.1:$port/v1/customers/201?at=1679270400000" >customer
            ask "http://127.0.0.1:$port/v1/customers/201/entitlements?at=1679270400000" >entitlements
            ask --data-binary @receipt "http://127.0.0.1:$port/v1/inspect" >inspection
            ask --data-binary @other "http://127.0.0.1:$port/v1/inspect" >other.inspection
            curl -sS -o /dev/null -w '%{http_code}' "http://127.0.0.1:$port/v1/customers/201" >status
            kill -TERM $server
            wait $server
            "$COMMAND" customer 201 --store sqlite:store.sqlite --at 2023-03-20 --json >customer.expected
            "$COMMAND" inspect receipt --json --trust-root root.der >inspection.expected
            """, in: folder)
        let log = try folder.text("log")
        #expect(outcome.error.isEmpty, "\(outcome) \(log)")
        let inspection = try folder.text("inspection")
        #expect(try !inspection.isEmpty && inspection == folder.text("inspection.expected"))
        let other = try folder.object("other.inspection")
        #expect(other["code"] as? String == "unrecognizedInput" && other["form"] == nil, "\(other)")
        let whole = try folder.object("customer")
        // The command also has what no table has.
        var printed = try folder.object("customer.expected")
        #expect(printed.removeValue(forKey: "quarantined_records") != nil)
        printed["matches"] = try #require(printed["matches"] as? [[String: Any]]).map { match in
            match.filter { !["receipts", "consumption_requests", "ledger_entries", "notifications"].contains($0.key) }
        }
        #expect(whole as NSDictionary == printed as NSDictionary)
        let file = PackageFolder.url.appending(path: "Sources/VerifyReceiptServer/Admin/openapi.json")
        let description = try #require(
            try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
        let schemas = (description["components"] as? [String: Any])?["schemas"] as? [String: Any]
        let documented = try #require((schemas?["Customer"] as? [String: Any])?["properties"] as? [String: Any])
        let part = try #require(
            try JSONSerialization.jsonObject(with: Data(folder.bytes("entitlements"))) as? [String: Any])
        let expected = try #require((whole["matches"] as? [[String: Any]])?.first)
        let found = try #require((part["matches"] as? [[String: Any]])?.first)
        #expect(Set(found.keys) == ["kinds", "entitlements"])
        #expect(Set(expected.keys) == Set(documented.keys), "the OpenAPI document has other tables")
        #expect((found["entitlements"] as? NSArray) == (expected["entitlements"] as? NSArray))
        #expect(try folder.text("status") == "401")
    }
}
