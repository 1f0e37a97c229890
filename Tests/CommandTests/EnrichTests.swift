import AppStoreModels
import Foundation
import GRDB
import Purchases
import SQLiteTransactionStore
import Testing
import TransactionStore

/// `enrich` after `migrate --into`, against the App Store that `sandbox` plays, all run as commands.
@Suite("enrich", .timeLimit(.minutes(10)), .enabled(if: Command.hasProgram("curl")))
struct EnrichTests {
    private static let scope = StoreScope(environment: .sandbox, bundleId: "com.example.app")
    /// Ada's receipt is of her first month, of Bob only the id is known. Each renewal steps the clock to the end of a month,
    /// when both renew, so that they have three. `enrich` completes them after `migrate` has read a dump; `$address` is where the
    /// App Store plays.
    private static func shell(_ steps: String, in folder: Folder) async throws -> Outcome {
        try folder.write("p.storekit", Array(AppStoreShell.subscription.utf8))
        return try await Command.shell(
            """
            : > out
            "$COMMAND" sandbox --products p.storekit --port 0 --clock stepped --root-out roots.pem --key-out key.p8 > out &
            pid=$!
            trap 'kill $pid' EXIT
            while ! grep -q "issuer-id" out; do kill -0 $pid || exit 9; sleep 0.1; done
            address=$(sed -n 's/^The local App Store listens at \\(.*\\)\\.$/\\1/p' out)
            key=$(sed -n 's/.*key-id \\([^ ]*\\) and issuer-id.*/\\1/p' out)
            issuer=$(sed -n 's/.*issuer-id \\([^ ]*\\).*/\\1/p' out)
            shop() { curl -sf -d "$2" "$address/sandbox/v1/$1"; }
            id() { sed 's/.*"originalTransactionId":"\\([0-9]*\\)".*/\\1/'; }
            ada=$(shop purchases '{"customer": "ada", "productId": "com.example.monthly"}' | id)
            bob=$(shop purchases '{"customer": "bob", "productId": "com.example.monthly"}' | id)
            receipt=$(curl -sf $address/sandbox/v1/customers/ada/receipt | sed 's/.*"receipt-data":"\\([^"]*\\)".*/\\1/')
            for subscription in $ada $bob; do shop subscriptions/$subscription/renew '{}' > /dev/null || exit 8; done
            printf '{"user_id": "u1", "receipt": "%s"}\\n{"user_id": "u2", "receipt": "%s"}\\n' "$receipt" "$bob" > dump.ndjson
            echo "$ada $bob" > ids
            migrate() {
                "$COMMAND" migrate dump.ndjson --quiet --into sqlite:store.sqlite --trust-root roots.pem > migrated
            }
            enrich() {
                "$COMMAND" enrich --store sqlite:store.sqlite --bundle-id com.example.app --environment Sandbox \\
                    --trust-root roots.pem --issuer-id $issuer --key-id $key --private-key key.p8 \\
                    --sandbox-url $address "$@"
            }
            \(steps)
            """, in: folder)
    }

    @Test("A receipt and a bare id become full histories, and a second run queries no customer again")
    func histories() async throws {
        let folder = try Folder()
        let outcome = try await Self.shell(
            """
            migrate; echo "status $?"
            enrich --dry-run
            enrich --quiet; echo "status $?"
            enrich --dry-run
            enrich --quiet; echo "status $?"
            """, in: folder)
        #expect(outcome.error.isEmpty, "\(outcome.error)")
        let queries = "up to 2 calls, about 1 s at"
        let lines = outcome.output.split(separator: "\n").map { line in
            line.contains(queries) ? String(line).components(separatedBy: ", \(queries)")[0] : String(line)
        }
        let expected = [
            // The bare id is in the quarantine.
            "status 1",
            "com.example.app, Sandbox: 1 customers with 1 purchases to query",
            "Bare transaction ids: 1 to query",
            "App Store Server API: 2 customers completed, 0 known before, 0 unknown to the App Store; "
                + "8 facts are new.",
            "status 0",
            "com.example.app, Sandbox: 0 customers with 0 purchases to query.",
            "App Store Server API: 0 customers completed, 2 known before, 0 unknown to the App Store; "
                + "0 facts are new.",
            "status 0",
        ]
        #expect(lines == expected, "\(outcome.output)")

        let store = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"))
        for id in try folder.text("ids").split(whereSeparator: \.isWhitespace).map(String.init) {
            let customer = try #require(
                try await store.customer([.init(.originalTransactionId, id)], in: Self.scope))
            #expect(customer.transactions.count == 3)
            #expect(customer.transactions.allSatisfy { $0.origins.contains { $0.source == .appStoreServerAPI } })
            #expect(customer.renewalInfos.map(\.payload.autoRenewStatus) == [.on])
            // The record of the bare id names its user, as that of the receipt does.
            let users = try await store.users(of: customer.identities, in: Self.scope)
            #expect(users.count == 1 && ["u1", "u2"].contains(users.first?.userId))
        }
        #expect(try await store.quarantine(after: nil, limit: 10).isEmpty)
        try await store.close()
    }

    @Test("The report has the counts of all runs of enrich, also of one that the App Store refused")
    func report() async throws {
        let folder = try Folder()
        let outcome = try await Self.shell(
            """
            migrate
            shop faults '{"kind": "unauthorized"}' > /dev/null
            enrich --quiet > refused
            curl -sf -X DELETE $address/sandbox/v1/faults > /dev/null
            enrich --quiet > first
            enrich --quiet > second
            "$COMMAND" report --store sqlite:store.sqlite --html report.html > reported
            echo "status $?"
            """, in: folder)
        #expect(outcome.output == "status 0\n", "\(outcome)")
        let page = try folder.text("report.html")
        func row(_ name: String, _ count: String, _ meaning: String) -> String {
            "<th scope=\"row\">\(name)</th><td class=\"number\">\(count)</td><td>\(meaning)</td>"
        }
        #expect(page.contains("<caption>All runs of enrich</caption>"))
        // The last run found nothing to query.
        #expect(page.contains(row("runs", "2", "that queried the App Store")))
        #expect(page.contains(row("answered", "2", "customers and bare transaction ids")))
        #expect(page.contains(row("unknown", "0", "the App Store knows none of their transactions")))
        #expect(page.contains(row("failed", "0", "the next run queries them again")))
        #expect(page.contains(row("refused", "1", "runs whose app or key the App Store did not accept")))
        #expect(page.contains(row("new facts", "8", "new to the store, or newer than its own")))
        #expect(page.contains("<th scope=\"row\">requests</th>"))
        #expect(!page.contains(row("requests", "0", "repeated ones too")))
    }

    @Test("The file of --summary has the numbers of the terminal, and those of the estimate")
    func summary() async throws {
        let folder = try Folder()
        let outcome = try await Self.shell(
            """
            migrate
            enrich --dry-run --summary dry.json
            enrich --quiet --summary first.json
            enrich --quiet --summary second.json
            enrich --quiet --summary no/folder.json
            echo "status $?"
            """, in: folder)
        #expect(outcome.output.contains("2 customers completed"), "\(outcome)")
        #expect(outcome.output.hasSuffix("status 2\n"), "\(outcome)")
        #expect(outcome.error.contains("no/folder.json cannot be written"), "\(outcome.error)")
        func expected(dryRun: Bool, toAsk: Int, completed: Int, known: Int, facts: Int) -> String {
            let (calls, seconds) = (2 * toAsk, toAsk)
            return """
                {
                  "dryRun": \(dryRun),
                  "askAgainAfterDays": 30,
                  "toAsk": [
                    {"bundleId": "com.example.app", "environment": "Sandbox", "customers": \(toAsk), "purchases": \(toAsk), \
                "calls": \(calls), "seconds": \(seconds), "purchasesNotAskedAgain": 0}
                  ],
                  "bareTransactionIdsToAsk": \
                {"ids": \(toAsk), "calls": \(calls), "seconds": \(seconds), "idsNotAskedAgain": 0},
                  "completed": \(completed),
                  "knownBefore": \(known),
                  "unknownToTheAppStore": 0,
                  "notAskedAgain": 0,
                  "notCompleted": 0,
                  "factsNewToTheStore": \(facts),
                  "factsOfErasedCustomers": 0,
                  "stopped": null
                }

                """
        }
        #expect(try folder.text("dry.json") == expected(dryRun: true, toAsk: 1, completed: 0, known: 0, facts: 0))
        #expect(try folder.text("first.json") == expected(dryRun: false, toAsk: 1, completed: 2, known: 0, facts: 8))
        #expect(try folder.text("second.json") == expected(dryRun: false, toAsk: 0, completed: 0, known: 2, facts: 0))
    }

    @Test("A key that the App Store refuses ends the run at the first answer, and prints what to check")
    func refusedKey() async throws {
        let folder = try Folder()
        let outcome = try await Self.shell(
            """
            for number in 1 2 3 4 5 6 7 8; do
                shop purchases '{"customer": "c'$number'", "productId": "com.example.monthly"}' > /dev/null || exit 7
                curl -sf $address/sandbox/v1/customers/c$number/receipt |
                    sed 's/.*"receipt-data":"\\([^"]*\\)".*/{"receipt": "\\1"}/' >> dump.ndjson
                echo >> dump.ndjson
            done
            migrate
            shop faults '{"kind": "unauthorized"}' > /dev/null
            enrich --quiet --summary refused.json
            echo "status $?"
            curl -sf $address/sandbox/v1/faults
            curl -sf -X DELETE $address/sandbox/v1/faults > /dev/null
            enrich --quiet
            echo "status $?"
            """, in: folder)
        #expect(outcome.error.contains("does not accept the key for com.example.app in Sandbox (HTTP 401)"))
        #expect(outcome.error.contains("--key-id and --issuer-id"), "\(outcome.error)")
        #expect(outcome.error.split(separator: "\n").count == 1, "\(outcome.error)")
        #expect(outcome.output.contains("status 2") && outcome.output.contains("\"met\":1"), "\(outcome.output)")
        let summary = try JSONSerialization.jsonObject(with: Data(try folder.bytes("refused.json"))) as? [String: Any]
        let stopped = summary?["stopped"] as? String ?? ""
        #expect(stopped.hasPrefix("The App Store does not accept the key for com.example.app"), "\(stopped)")
        // A second run completes everybody.
        #expect(outcome.output.contains("10 customers completed, 0 known before, 0 unknown"), "\(outcome.output)")
    }

    @Test("A run that the App Store limits says until when it waits, and completes everybody at half of the rate")
    func rateLimited() async throws {
        let folder = try Folder()
        let outcome = try await Self.shell(
            """
            migrate
            shop faults '{"kind": "rate-limited", "count": 1, "retryAfter": 3}' > /dev/null
            enrich
            """, in: folder)
        #expect(outcome.error.contains("rate limited until 20") && outcome.error.contains(" UTC\n"), "\(outcome.error)")
        let rate = "Rate of com.example.app, Sandbox: 2.5 of 5 queries per second\n"
        #expect(outcome.error.components(separatedBy: rate).count == 2, "\(outcome.error)")
        #expect(outcome.output.contains("2 customers completed, 0 known before, 0 unknown"), "\(outcome.output)")
        #expect(!outcome.output.contains("Not completed"))
    }

    @Test("enrich takes its permits from the budget that the programs of a store share")
    func sharedLimit() async throws {
        let folder = try Folder()
        let outcome = try await Self.shell("migrate; enrich --quiet", in: folder)
        #expect(outcome.output.contains("2 customers completed"), "\(outcome)")
        #expect(
            try await SharedLimits.used(in: folder.file("store.sqlite")) == [
                "Sandbox com.example.app getAllSubscriptionStatuses", "Sandbox com.example.app getTransactionHistory",
            ])
    }

    @Test("A run that is killed has kept which ids are unknown, and the next one asks about the others")
    func killed() async throws {
        let folder = try Folder()
        let outcome = try await Self.shell(
            """
            : > dump.ndjson
            for number in $(seq 100 139); do printf '{"user_id": "u%s", "receipt": "80000%s"}\\n' $number $number >> dump.ndjson; done
            unknown() {
                "$COMMAND" store stats --store sqlite:store.sqlite |
                    sed -n 's/^transactions unknown to the App Store: //p'
            }
            # False where the machine was so busy that the run was over before it was killed.
            interrupt() {
                rm -f store.sqlite*
                migrate
                "$COMMAND" enrich --store sqlite:store.sqlite --bundle-id com.example.app --environment Sandbox \\
                    --trust-root roots.pem --issuer-id $issuer --key-id $key --private-key key.p8 \\
                    --sandbox-url $address --quiet > killed &
                running=$!
                until [ "$(unknown)" -ge 3 ]; do kill -0 $running 2> /dev/null || return 1; sleep 0.1; done
                kill -9 $running 2> /dev/null
                wait $running 2> /dev/null
                [ "$(unknown)" -lt 40 ]
            }
            tries=0
            until interrupt; do
                tries=$((tries + 1))
                [ $tries -lt 10 ] || exit 7
            done
            enrich --dry-run | sed 's/[^0-9]*\\([0-9]*\\) to query.*/left \\1/; s/.* and \\([0-9]*\\) bare.*/remembered \\1/'
            enrich --quiet
            echo "status $?"
            unknown
            enrich --dry-run --ask-again-after 0
            """, in: folder)
        let lines = outcome.output.split(separator: "\n").map(String.init)
        func number(_ beginning: String) -> Int {
            lines.first { $0.hasPrefix(beginning) }.flatMap { Int($0.dropFirst(beginning.count)) } ?? -1
        }
        let remembered = number("remembered ")
        #expect(remembered >= 3 && remembered < 40 && number("left ") == 40 - remembered, "\(outcome)")
        #expect(lines.contains { $0.contains(", \(40 - remembered) unknown to the App Store; 0 facts") }, "\(outcome)")
        #expect(
            lines.contains { $0.hasPrefix("Not queried again: \(remembered), unknown to the App Store") }, "\(lines)")
        #expect(lines.contains("status 0") && lines.contains("40"), "\(outcome)")
        #expect(lines.last?.hasPrefix("Bare transaction ids: 40 to query, ") == true, "\(outcome)")
    }

    @Test("An unknown id and an unreachable App Store are reported and lose nothing")
    func unknownAndAway() async throws {
        let folder = try Folder()
        let outcome = try await Self.shell(
            """
            printf '{"receipt": "%s"}\\n{"receipt": "99999"}\\n' "$receipt" > dump.ndjson
            migrate
            enrich
            enrich
            "$COMMAND" export --store sqlite:store.sqlite --to tables > exported
            grep -c '"reason":"unknownTransactionId"' tables/quarantine.ndjson
            kill $pid; wait $pid; trap - EXIT
            rm store.sqlite
            printf '{"receipt": "%s"}\\n' "$receipt" > dump.ndjson
            migrate
            enrich
            echo "status $?"
            """, in: folder)
        let lines = outcome.output.split(separator: "\n").map(String.init)
        let expected = "App Store Server API: 1 customers completed, 0 known before, 1 unknown"
        #expect(lines.contains { $0.hasPrefix(expected) }, "\(lines)")
        // The second run does not ask about the unknown id again, and the first one counts it once.
        #expect(lines.contains { $0.contains("0 customers completed, 1 known before, 0 unknown") }, "\(lines)")
        #expect(lines.count { $0.hasPrefix("Not queried again: 1, unknown to the App Store less than 30 days") } == 1)
        #expect(
            outcome.error.contains("Not queried again: 0 purchases and 1 bare transaction ids, unknown"),
            "\(outcome.error)")
        #expect(lines.contains("1"))
        #expect(lines.contains { $0.hasPrefix("Not completed: 1. Run it again") })
        #expect(lines.last == "status 1")
        let ada = try #require(try folder.text("ids").split(whereSeparator: \.isWhitespace).first.map(String.init))
        #expect(outcome.error.contains("Transaction \(ada): "), "\(outcome.error)")
        let store = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"))
        let customer = try await store.customer([.init(.originalTransactionId, ada)], in: Self.scope)
        #expect(customer?.transactions.count == 1)
        try await store.close()
    }
}

/// The rate limits that programs share through a store.
enum SharedLimits {
    /// The limits from which a program took permits.
    static func used(in path: String) async throws -> [String] {
        let queue = try DatabaseQueue(path: path)
        let rows = try await queue.read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT environment || ' ' || bundle_id || ' ' || endpoint FROM request_budgets
                    WHERE full_at > 1600000000000000 ORDER BY endpoint
                    """)
        }
        try queue.close()
        return rows
    }
}
