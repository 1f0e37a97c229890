import Foundation
import Testing

/// What depends on time, stepped: `serve` and `notifications backfill` beside a `sandbox` whose clock has run ahead.
@Suite("test clock", .timeLimit(.minutes(10)), .enabled(if: Command.hasProgram("curl")))
struct TestClockTests {
    /// `$address` is where the App Store plays, `$port` where the endpoint listens once `serve` was called.
    private static func shell(_ steps: String, in folder: Folder) async throws -> Outcome {
        try folder.write("p.storekit", Array(AppStoreShell.subscription.utf8))
        return try await Command.shell(
            """
            "$COMMAND" sandbox --products p.storekit --port 0 --clock stepped --speed real --root-out roots.pem \\
                --intermediate-out intermediate.pem --key-out key.p8 > out &
            pids=$!
            trap 'kill $pids' EXIT
            while ! grep -q "issuer-id" out; do kill -0 $pids || exit 9; sleep 0.1; done
            address=$(sed -n 's/^The local App Store listens at \\(.*\\)\\.$/\\1/p' out)
            key=$(sed -n 's/.*key-id \\([^ ]*\\) and issuer-id.*/\\1/p' out)
            issuer=$(sed -n 's/.*issuer-id \\([^ ]*\\).*/\\1/p' out)
            shop() { curl -sf -d "$2" "$address/sandbox/v1/$1"; }
            id() { sed 's/.*"originalTransactionId":"\\([0-9]*\\)".*/\\1/'; }
            serve() {
                "$COMMAND" serve --port 0 --set admin.enabled=false --set trust.roots=roots.pem \\
                    --set trust.intermediates=intermediate.pem --set trust.signed-data-roots=roots.pem \\
                    --set timeouts.app-store=60 --set timeouts.store=60 --test-clock-from $address "$@" 2> log &
                pids="$pids $!"
                while ! grep -q listening log; do kill -0 $! || exit 8; sleep 0.1; done
                port=$(grep listening log | sed -n 's/.*"port":"*\\([0-9]*\\).*/\\1/p' | head -n 1)
            }
            \(steps)
            """, in: folder)
    }

    @Test("With the sandbox's clock an iOS 6 receipt is answered with 0, and with 21006 once the clock was stepped")
    func expiry() async throws {
        let folder = try Folder()
        let outcome = try await Self.shell(
            """
            serve --store none
            ada=$(shop purchases '{"customer": "ada", "productId": "com.example.monthly"}' | id)
            shop subscriptions/$ada/cancel '{}' > /dev/null
            curl -sf $address/sandbox/v1/transactions/$ada/receipt | sed 's/"now":[0-9]*,*//' > request
            ask() { curl -sf -d @request http://127.0.0.1:$port/sandbox/verifyReceipt |
                sed 's/.*"status":\\([0-9]*\\).*/\\1/'; }
            echo "$(ask)"
            shop clock '{"advance": "P2M"}' > /dev/null
            for attempt in $(seq 1200); do [ "$(ask)" = 21006 ] && break; sleep 0.1; done
            echo "$(ask)"
            """, in: folder)
        let lines = outcome.output.split(separator: "\n").map(String.init)
        #expect(lines == ["0", "21006"], "\(outcome.output) \(outcome.error)")
    }

    @Test("With the sandbox's clock an answer of the App Store has its age, also after the App Store went away")
    func age() async throws {
        let folder = try Folder()
        let outcome = try await Self.shell(
            """
            shop purchases '{"customer": "ada", "productId": "com.example.monthly"}' > /dev/null
            shop clock '{"advance": "P1Y"}' > /dev/null
            curl -sf $address/sandbox/v1/customers/ada/receipt | sed 's/"now":[0-9]*,*//' > request
            cat > serve.yaml <<EOF
            apps: [{bundle-id: com.example.app, freshness: {mode: app-store, maximum-age: 0}}]
            app-store-server: {issuer-id: $issuer, key-id: $key, private-key-file: key.p8, sandbox-url: "$address"}
            EOF
            serve --config serve.yaml --store sqlite:store.sqlite
            age() { curl -s -D - -o /dev/null -d @request http://127.0.0.1:$port/sandbox/verifyReceipt |
                tr A-Z a-z | tr -d '\\r' | grep '^age:'; }
            age
            shop faults '{"kind": "unauthorized"}' > /dev/null
            shop clock '{"advance": 3600000}' > /dev/null
            for attempt in $(seq 1200); do [ "$(age)" = "age: 3600" ] && break; sleep 0.1; done
            age
            """, in: folder)
        #expect(outcome.output.split(separator: "\n") == ["age: 0", "age: 3600"], "\(outcome.output) \(outcome.error)")
    }

    @Test("With the sandbox's clock an offer is signed for a subscription that began after the machine's time")
    func signatures() async throws {
        let folder = try Folder()
        let outcome = try await Self.shell(
            """
            shop clock '{"advance": "P2Y"}' > /dev/null
            ada=$(shop purchases '{"customer": "ada", "productId": "com.example.monthly"}' | id)
            curl -sf $address/sandbox/v1/customers/ada/receipt | sed 's/"now":[0-9]*,*//' > request
            printf '%040d' 7 > token
            cat > serve.yaml <<EOF
            apps:
              - bundle-id: com.example.app
                catalogs: [p.storekit]
                app-store-server: {issuer-id: $issuer, key-id: $key, private-key-file: key.p8}
            look-up: {enabled: true, port: 0, token-files: [token]}
            EOF
            serve --config serve.yaml --store sqlite:store.sqlite
            curl -sf -o reply -d @request http://127.0.0.1:$port/sandbox/verifyReceipt
            \(Command.lookUpPort)
            ask() { curl -s -H "Authorization: Bearer $(cat token)" "$@"; }
            for attempt in $(seq 1200); do
                ask -f -o found http://127.0.0.1:$port/v1/customers/$ada && break
                sleep 0.1
            done
            body='{"bundleId": "com.example.app", "environment": "Sandbox", "productId": "com.example.monthly"'
            ask -d "$body, \\"offerIdentifier\\": \\"spring\\", \\"customer\\": \\"$ada\\"}" -o answer -w '%{http_code}' \\
                http://127.0.0.1:$port/v1/signatures/promotional-offer
            """, in: folder)
        #expect(outcome.output == "200", "\(outcome)")
    }

    @Test("A test clock is refused unless the sandbox's root is trusted, and where there is no sandbox")
    func refused() async throws {
        let folder = try Folder()
        let outcome = try await Self.shell(
            """
            "$COMMAND" serve --port 0 --store none --set trust.roots=roots.pem --test-clock-from $address
            echo "status $?"
            "$COMMAND" serve --port 0 --store none --test-clock-from http://127.0.0.1:1
            echo "status $?"
            """, in: folder)
        #expect(outcome.output.split(separator: "\n") == ["status 2", "status 2"])
        #expect(outcome.error.contains("not among trust.signed-data-roots"), "\(outcome.error)")
        #expect(outcome.error.contains("No sandbox answers at http://127.0.0.1:1"), "\(outcome.error)")
    }

    @Test("A backfill sees all notifications of a sandbox whose clock has run ahead")
    func backfill() async throws {
        let folder = try Folder()
        let outcome = try await Self.shell(
            """
            ada=$(shop purchases '{"customer": "ada", "productId": "com.example.monthly"}' | id)
            shop clock '{"advance": "P1Y"}' > /dev/null
            shop purchases '{"customer": "bob", "productId": "com.example.monthly"}' > /dev/null
            shop clock '{"advance": "P1W"}' > /dev/null
            shop purchases '{"customer": "cleo", "productId": "com.example.monthly"}' > /dev/null
            "$COMMAND" notifications backfill --store sqlite:store.sqlite --bundle-id com.example.app \\
                --environment sandbox --issuer-id $issuer --key-id $key --private-key key.p8 --server-url $address \\
                --trust-root roots.pem
            """, in: folder)
        // Those of the last 30 days, which is how far the history of the sandbox reaches.
        #expect(outcome.status == 0, "\(outcome.error)")
        #expect(outcome.output.contains("Notifications in the history: 2; new: 2"), "\(outcome.output)")
    }
}
