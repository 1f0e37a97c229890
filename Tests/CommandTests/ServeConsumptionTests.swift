import Foundation
import GRDB
import Testing

/// `serve` with `consumption`, against the App Store that `sandbox` plays.
@Suite("serve: consumption requests", .timeLimit(.minutes(10)), .enabled(if: Command.hasProgram("curl")))
struct ServeConsumptionTests {
    /// Writes the rules of the test.
    private static func writeRules(in folder: Folder) throws {
        try folder.write(
            "rules.json",
            #"{"rules":[{"answer":{"deliveryStatus":"DELIVERED","sampleContentProvided":true,"refundPreference":"DECLINE"}}]}"#
                .utf8)
    }

    /// Shell functions that read the metrics of consumption requests.
    private static let waitingForMetrics = """
        metric() {
            curl -s http://127.0.0.1:$(port admin)/metrics | sed -n "s/^legacy_receipts_consumption_requests_$1 //p"
        }
        # waits NAME VALUE: until the metric has the value, 2 minutes at most.
        waits() { tries=0; until [ "$(metric $1)" = $2 ] || [ $tries -ge 1200 ]; do sleep 0.1; tries=$((tries + 1)); done; }
        """

    /// Starts `serve` with a key file. The variable `serve` then has its process.
    /// - Parameters:
    ///   - keyFile: the file of the In-App Purchase key.
    ///   - query: the end of the App Store's address.
    ///   - consent: whether the customer consented.
    ///   - options: more options of `serve`.
    private static func serve(
        keyFile: String, query: String = "", consent: Bool = true, options: String = ""
    ) -> String {
        """
        printf 'transactionId,customerConsented\\n%s,\(consent)\\n' $coins > consents.csv
        cat > serve.yaml <<END
        listeners: [{port: 0}]
        admin: {port: 0}
        store: {url: "sqlite:store.sqlite"}
        apps: [{bundle-id: com.example.app}]
        app-store-server: {issuer-id: $issuer, key-id: $key, private-key-file: \(keyFile), sandbox-url: "$address\(query)"}
        consumption: {rules: rules.json, customer-consented: consents.csv, interval: 1}
        trust: {roots: [roots.pem], signed-data-roots: [roots.pem]}
        timeouts: {store: 60}
        END
        : > log
        "$COMMAND" serve --config serve.yaml \(options) 2> log &
        serve=$!
        pids="$pids $serve"
        port() { sed -n "/\\"role\\":\\"$1\\"/s/.*\\"port\\":\\"\\{0,1\\}\\([0-9]*\\).*/\\1/p" log; }
        until [ -n "$(port both)" ] && [ -n "$(port admin)" ]; do sleep 0.1; done
        curl -sf -X PUT -d "{\\"url\\": \\"http://127.0.0.1:$(port both)/notifications/v2\\"}" \\
            $address/sandbox/v1/notifications/url > /dev/null
        shop transactions/$coins/request-refund '{"reason": "OTHER"}' > /dev/null
        """
    }

    @Test("serve answers requests by the rules, for customers who consented, and reads the consents again")
    func answers() async throws {
        let folder = try Folder()
        try Self.writeRules(in: folder)
        let outcome = try await AppStoreShell.run(
            """
            \(Self.serve(keyFile: "key.p8"))
            \(Self.waitingForMetrics)
            shop transactions/$ada/request-refund '{"reason": "OTHER"}' > /dev/null
            sent() {
                curl -sf $address/sandbox/v1/transactions/$1 | grep -o '"consumptionInformation":{[^}]*}' || echo nothing
            }
            wait_for() {
                tries=0
                while [ "$(sent $1)" = nothing ] && [ $tries -lt 1200 ]; do sleep 0.1; tries=$((tries + 1)); done
            }
            wait_for $coins
            sent $coins
            sent $ada
            # The number is that of the last look, which may have been before the second request.
            waits open 1
            metric open
            printf '%s,true\\n' $ada >> consents.csv
            wait_for $ada
            sent $ada
            # The App Store has the answer before the server has noted it.
            waits 'total{outcome="answered"}' 2
            "$COMMAND" app-store consumption --pending --store sqlite:store.sqlite
            curl -s http://127.0.0.1:$(port admin)/metrics | grep '^legacy_receipts_consumption_requests_total{outcome="answered"}'
            """, in: folder)
        let log = try folder.text("log")
        let lines = outcome.output.split(separator: "\n").map(String.init)
        try #require(lines.count == 6, "\(outcome) \(log)")
        #expect(lines[0].contains(#""refundPreference":"DECLINE""#) && lines[0].contains(#""customerConsented":true"#))
        #expect(lines[1] == "nothing" && lines[2] == "1")
        #expect(lines[3].contains(#""refundPreference":"DECLINE""#))
        #expect(lines[4] == "No open consumption requests.")
        #expect(lines[5].hasSuffix(#"{outcome="answered"} 2"#), "\(lines[5])")
        #expect(log.contains(#""message":"consumption requests""#) && !log.contains("BEGIN"))
    }

    @Test("A reload replaces the key with which serve answers, also under the same key identifier")
    func reload() async throws {
        let folder = try Folder()
        try Self.writeRules(in: folder)
        let outcome = try await AppStoreShell.run(
            """
            openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out current.p8 2> /dev/null
            \(Self.serve(keyFile: "current.p8"))
            sent() { curl -sf $address/sandbox/v1/transactions/$coins | grep -c '"consumptionInformation":{' || true; }
            # waits COMMAND…: until the command is true, 2 minutes at most.
            waits() { tries=0; until "$@" || [ $tries -ge 1200 ]; do sleep 0.1; tries=$((tries + 1)); done; }
            waits grep -q '"left":"\\{0,1\\}1' log
            sent
            cp key.p8 current.p8
            kill -HUP $serve
            is_sent() { [ "$(sent)" = 1 ]; }
            waits is_sent
            sent
            """, in: folder)
        let log = try folder.text("log")
        #expect(outcome.output == "0\n1\n", "\(outcome) \(log)")
    }

    @Test("While the rules cannot be read, the metrics and the log still state what is open")
    func unreadableRules() async throws {
        let folder = try Folder()
        let outcome = try await AppStoreShell.run(
            """
            \(Self.serve(keyFile: "key.p8"))
            metric() {
                curl -s http://127.0.0.1:$(port admin)/metrics | sed -n "s/^legacy_receipts_consumption_$1 //p"
            }
            tries=0
            until [ "$(metric requests_open)" = 1 ] || [ $tries -ge 1200 ]; do sleep 0.1; tries=$((tries + 1)); done
            metric requests_open
            [ "$(metric deadline_timestamp_seconds)" = 0 ] || echo deadline
            tries=0
            until grep -q '"unanswered":"\\{0,1\\}1' log || [ $tries -ge 1200 ]; do sleep 0.1; tries=$((tries + 1)); done
            grep -q '"unanswered":"\\{0,1\\}1' log && echo logged
            """, in: folder)
        let log = try folder.text("log")
        #expect(outcome.output == "1\ndeadline\nlogged\n", "\(outcome) \(log)")
        #expect(log.contains("consumption requests are not answered") && log.contains("rules.json"), "\(log)")
    }

    @Test("A request that a person dismisses is no longer counted as open, and no round fails because of an app")
    func dismissed() async throws {
        let folder = try Folder()
        try Self.writeRules(in: folder)
        let outcome = try await AppStoreShell.run(
            """
            # The API client takes no address with a query.
            \(Self.serve(keyFile: "key.p8", query: "/?"))
            metrics() { curl -s http://127.0.0.1:$(port admin)/metrics; }
            open() { metrics | sed -n "s/^legacy_receipts_consumption_requests_open //p"; }
            tries=0
            until grep -q '"left":"\\{0,1\\}1' log || [ $tries -ge 1200 ]; do sleep 0.1; tries=$((tries + 1)); done
            until [ "$(open)" = 1 ] || [ $tries -ge 1200 ]; do sleep 0.1; tries=$((tries + 1)); done
            open
            uuid=$("$COMMAND" app-store consumption --pending --store sqlite:store.sqlite --json | member notificationUUID)
            "$COMMAND" app-store consumption dismiss $uuid --store sqlite:store.sqlite
            until [ "$(open)" = 0 ] || [ $tries -ge 1200 ]; do sleep 0.1; tries=$((tries + 1)); done
            open
            metrics | grep -c 'legacy_receipts_consumption_requests_total{outcome="failed"}' || true
            """, in: folder)
        let log = try folder.text("log")
        #expect(outcome.output == "1\nDismissed: 1; not open: 0\n0\n0\n", "\(outcome) \(log)")
        #expect(log.contains("com.example.app (Sandbox): The base URL must be http"), "\(log)")
        #expect(!log.contains("consumption requests are not answered"), "\(log)")
    }

    @Test("An answer that the App Store accepted is sent once, also if the store cannot close its request")
    func sentOnce() async throws {
        let folder = try Folder()
        try Self.writeRules(in: folder)
        try await StoredPurchases.makeStore([], in: folder)
        let file = try DatabaseQueue(path: folder.file("store.sqlite"))
        try await file.write { database in
            try database.execute(
                sql: """
                    CREATE TRIGGER never BEFORE UPDATE OF outcome ON consumption_requests
                    BEGIN SELECT RAISE(ABORT, 'nothing is closed'); END
                    """)
        }
        try file.close()
        let outcome = try await AppStoreShell.run(
            """
            \(Self.serve(keyFile: "key.p8"))
            \(Self.waitingForMetrics)
            tries=0
            until [ "$(metric 'total{outcome="failed"}')" -ge 3 ] || [ $tries -ge 1200 ]; do
                sleep 0.1; tries=$((tries + 1))
            done 2> /dev/null
            metric 'total{outcome="answered"}'
            waits open 0
            metric open
            """, in: folder)
        let log = try folder.text("log")
        #expect(outcome.output == "1\n0\n", "\(outcome) \(log)")
        #expect(log.contains("nothing is closed"), "\(log)")
    }

    @Test("While the store cannot be written, an answer is sent in the last 2 hours before its deadline, and once")
    func withoutClaim() async throws {
        let folder = try Folder()
        try Self.writeRules(in: folder)
        try await StoredPurchases.makeStore([], in: folder)
        let file = try DatabaseQueue(path: folder.file("store.sqlite"))
        try await file.write { database in
            try database.execute(
                sql: """
                    CREATE TRIGGER never BEFORE UPDATE ON consumption_requests
                    BEGIN SELECT RAISE(ABORT, 'nothing is written'); END
                    """)
        }
        try file.close()
        let outcome = try await AppStoreShell.run(
            """
            \(Self.serve(keyFile: "key.p8", options: "--test-clock-from $address"))
            \(Self.waitingForMetrics)
            fails() {
                tries=0
                until [ "$(metric 'total{outcome="failed"}')" -ge $1 ] || [ $tries -ge 1200 ]; do
                    sleep 0.1; tries=$((tries + 1))
                done 2> /dev/null
            }
            sent() { curl -sf $address/sandbox/v1/transactions/$coins | grep -c consumptionInformation || true; }
            fails 3
            sent
            metric open
            # 11 hours
            shop clock '{"advance": 39600000}' > /dev/null
            waits 'total{outcome="answered"}' 1
            sent
            fails $(($(metric 'total{outcome="failed"}') + 3))
            metric 'total{outcome="answered"}'
            """, in: folder)
        let log = try folder.text("log")
        #expect(outcome.output == "0\n1\n1\n1\n", "\(outcome) \(log)")
        #expect(log.contains("nothing is written"), "\(log)")
    }

    @Test("Of two servers on one store, one sends the answer to a request")
    func twoServers() async throws {
        let folder = try Folder()
        try Self.writeRules(in: folder)
        let outcome = try await AppStoreShell.run(
            """
            # The second server looks while the answer of the first one is under way.
            shop faults '{"kind": "delay", "delay": 15000, "path": "consumption"}' > /dev/null
            \(Self.serve(keyFile: "key.p8"))
            mkdir second
            "$COMMAND" serve --config serve.yaml --set spool.path=none 2> second/log &
            pids="$pids $!"
            # waits COMMAND…: until the command is true, 2 minutes at most.
            waits() { tries=0; until "$@" || [ $tries -ge 1200 ]; do sleep 0.1; tries=$((tries + 1)); done; }
            waits grep -q '"message":"consumption requests"' log
            waits grep -q '"message":"consumption requests"' second/log
            answered() {
                curl -s http://127.0.0.1:$(cd $1; port admin)/metrics |
                    sed -n 's/^legacy_receipts_consumption_requests_total{outcome="answered"} //p' | grep . || echo 0
            }
            echo $(($(answered .) + $(answered second)))
            "$COMMAND" app-store consumption --pending --store sqlite:store.sqlite
            """, in: folder)
        let logs = (try folder.text("log"), try folder.text("second/log"))
        #expect(outcome.output == "1\nNo open consumption requests.\n", "\(outcome) \(logs)")
    }

    @Test("A request that is open after its deadline counts as missed, and not as open")
    func missed() async throws {
        let folder = try Folder()
        try Self.writeRules(in: folder)
        let outcome = try await AppStoreShell.run(
            """
            \(Self.serve(keyFile: "key.p8", consent: false, options: "--test-clock-from $address"))
            \(Self.waitingForMetrics)
            waits open 1
            metric open
            metric 'total{outcome="missed"}'
            # 13 hours
            shop clock '{"advance": 46800000}' > /dev/null
            waits 'total{outcome="missed"}' 1
            metric open
            metric 'total{outcome="missed"}'
            """, in: folder)
        let log = try folder.text("log")
        #expect(outcome.output == "1\n0\n0\n1\n", "\(outcome) \(log)")
    }

    @Test("A request whose deadline passed while no server ran counts as missed once, also after another start")
    func missedWithoutServer() async throws {
        let folder = try Folder()
        try Self.writeRules(in: folder)
        let outcome = try await AppStoreShell.run(
            """
            \(Self.serve(keyFile: "key.p8", consent: false, options: "--test-clock-from $address"))
            \(Self.waitingForMetrics)
            stops() { kill $serve; wait $serve || true; }
            starts() {
                : > log
                "$COMMAND" serve --config serve.yaml --test-clock-from $address 2> log &
                serve=$!
                pids="$pids $serve"
                until [ -n "$(port both)" ] && [ -n "$(port admin)" ]; do sleep 0.1; done
                curl -sf -X PUT -d "{\\"url\\": \\"http://127.0.0.1:$(port both)/notifications/v2\\"}" \\
                    $address/sandbox/v1/notifications/url > /dev/null
            }
            waits open 1
            stops
            # 13 hours
            shop clock '{"advance": 46800000}' > /dev/null
            starts
            waits 'total{outcome="missed"}' 1
            metric 'total{outcome="missed"}'
            stops
            starts
            # Once the server has seen another request come and go, it has looked at the first one.
            shop transactions/$ada/request-refund '{"reason": "OTHER"}' > /dev/null
            waits open 1
            uuid=$("$COMMAND" app-store consumption --pending --store sqlite:store.sqlite --json |
                sed 's/.*"notificationUUID":"\\([^"]*\\)".*/\\1/')
            "$COMMAND" app-store consumption dismiss $uuid --store sqlite:store.sqlite
            waits open 0
            metric 'total{outcome="missed"}'
            """, in: folder)
        let log = try folder.text("log")
        #expect(outcome.output == "1\nDismissed: 1; not open: 0\n0\n", "\(outcome) \(log)")
    }

    @Test("serve --check warns of what is wrong in the rules and the consents, without which a server starts")
    func check() async throws {
        let folder = try Folder()
        let header = "transactionId,customerConsented\n"
        let cases: [(rules: String?, consents: String?, problem: String?)] = [
            (nil, header, "consumption.rules: Cannot read rules.json"),
            (
                #"{"rules":[{"answer":{"deliveryStatus":"DELIVERED"}}]}"#, header,
                "rules[0].answer: sampleContentProvided"
            ),
            ("good", nil, "consumption.customer-consented: "), ("good", header + "1,yes\n", "Line 2: "),
            ("good", header + "1,true\n", nil),
        ]
        for (rules, consents, problem) in cases {
            for name in ["rules.json", "consents.csv"] {
                try? FileManager.default.removeItem(atPath: folder.path + "/" + name)
            }
            if rules == "good" {
                try Self.writeRules(in: folder)
            } else if let rules {
                try folder.write("rules.json", rules.utf8)
            }
            if let consents { try folder.write("consents.csv", consents.utf8) }
            let outcome = try await Command.run(
                "serve", "--check", "--set", "store.url=sqlite:store.sqlite", "--set", "consumption.rules=rules.json",
                "--set", "consumption.customer-consented=consents.csv", in: folder)
            #expect(outcome.status == 0, "\(outcome)")
            #expect(outcome.error.contains("Warning: consumption.") == (problem != nil), "\(outcome)")
            if let problem { #expect(outcome.error.contains(problem), "\(outcome)") }
        }
    }

    @Test("Rules without consents are an error of the configuration, and the other way round")
    func configuration() async throws {
        let folder = try Folder()
        try folder.write("rules.json", "{}".utf8)
        for (key, missing) in [("rules", "customer-consented"), ("customer-consented", "rules")] {
            let outcome = try await Command.run(
                "serve", "--check", "--set", "store.url=sqlite:store.sqlite", "--set", "consumption.\(key)=rules.json",
                in: folder)
            #expect(outcome.status == 2 && outcome.error.contains("consumption.\(missing)"), "\(outcome)")
        }
    }
}
