import AppStoreModels
import Foundation
import Purchases
import SQLiteTransactionStore
import TestSupport
import Testing
import TransactionStore

@Suite("serve: signatures", .timeLimit(.minutes(10)), .enabled(if: Command.hasProgram("curl"), "curl is missing"))
struct ServeSignatureTests {
    private struct Answer {
        let status: String
        let body: [String: Any]
    }

    /// Asks a server with the store of the usual customers, a catalog and a key that OpenSSL made.
    private func ask(_ requests: [(kind: String, body: String)], in folder: Folder) async throws -> [Answer] {
        try await StoredPurchases.makeStore(in: folder)
        try folder.write("token", String(repeating: "k", count: 40).utf8)
        try folder.write("products.yaml", StoredPurchases.catalog.utf8)
        try folder.write(
            "serve.yaml",
            """
            listen: {port: 0}
            admin: {enabled: false}
            store: {url: "sqlite:store.sqlite"}
            look-up: {enabled: true, port: 0, token-files: [token]}
            apps:
              - bundle-id: \(StoredPurchases.bundleId)
                shared-secrets: ["0123456789abcdef0123456789abcdef"]
                catalogs: [products.yaml]
                app-store-server: {issuer-id: 57246542-96fe-1a63-e053-0824d011072a, key-id: L256SYR32L, private-key-file: key.p8}
            """.utf8)
        for (number, request) in requests.enumerated() { try folder.write("request-\(number)", request.body.utf8) }
        let calls = requests.enumerated().map { number, request in
            """
            curl -sS -o answer-\(number) -w '%{http_code}' -H "Authorization: Bearer $(cat token)" \
            --data-binary @request-\(number) "http://127.0.0.1:$port/v1/signatures/\(request.kind)" >status-\(number)
            """
        }
        let outcome = try await Command.shell(
            """
            openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key.p8 2>openssl.log || exit 90
            openssl pkey -in key.p8 -pubout -out public.pem
            : >log
            "$COMMAND" serve --config serve.yaml 2>log &
            server=$!
            \(Command.lookUpPort)
            \(calls.joined(separator: "\n"))
            kill -TERM $server
            wait $server
            """, in: folder)
        let log = try folder.text("log")
        #expect(outcome.status == 0 && outcome.error.isEmpty, "\(outcome) \(log)")
        return try requests.indices.map { number in
            let body = try JSONSerialization.jsonObject(with: Data(folder.bytes("answer-\(number)")))
            return Answer(status: try folder.text("status-\(number)"), body: try #require(body as? [String: Any]))
        }
    }

    /// The claims of a JWS whose signature OpenSSL verifies.
    private func claims(_ answer: Answer, in folder: Folder) async throws -> [String: Any] {
        let jws = try #require(answer.body["compactJWS"] as? String, "\(answer)")
        let parts = jws.split(separator: ".").map(String.init)
        try #require(parts.count == 3)
        func decoded(_ part: String) throws -> Data {
            let text = part.replacing("-", with: "+").replacing("_", with: "/")
            return try #require(Data(base64Encoded: text + String(repeating: "=", count: (4 - text.count % 4) % 4)))
        }
        let raw = try decoded(parts[2])
        try #require(raw.count == 64)
        try folder.write("signed", "\(parts[0]).\(parts[1])".utf8)
        try folder.write("signature", Self.der(raw.prefix(32), raw.suffix(32)))
        let verified = try await Command.shell(
            "openssl dgst -sha256 -verify public.pem -signature signature signed", in: folder)
        #expect(verified.output == "Verified OK\n", "\(verified)")
        return try #require(try JSONSerialization.jsonObject(with: decoded(parts[1])) as? [String: Any])
    }

    /// An ECDSA signature in DER (RFC 3279, 2.2.3).
    private static func der(_ r: some Sequence<UInt8>, _ s: some Sequence<UInt8>) -> [UInt8] {
        func integer(_ bytes: some Sequence<UInt8>) -> [UInt8] {
            var digits = Array(bytes.drop { $0 == 0 })
            if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
            return [0x02, UInt8(digits.count)] + digits
        }
        let content = integer(r) + integer(s)
        return [0x30, UInt8(content.count)] + content
    }

    private static let app = "\"bundleId\":\"\(StoredPurchases.bundleId)\""

    @Test("Each kind is signed with the key of the app, and OpenSSL verifies it")
    func signed() async throws {
        let folder = try Folder()
        let nonce = "20fba8a0-2b80-4a7d-a17f-85c1854727f8"
        let answers = try await ask(
            [
                (
                    "promotional-offer",
                    "{\(Self.app),\"productId\":\"p\",\"offerIdentifier\":\"o\",\"nonce\":\"\(nonce)\"}"
                ),
                (
                    "introductory-eligibility",
                    "{\(Self.app),\"productId\":\"p\",\"transactionId\":\"5\",\"allowIntroductoryOffer\":true}"
                ),
                ("advanced-commerce", "{\(Self.app),\"request\":{\"operation\":\"UNKNOWN\"}}"),
                ("advanced-commerce", "{\(Self.app),\"request\":\(SignTests.request)}"),
            ], in: folder)
        #expect(answers.map(\.status) == ["200", "200", "400", "200"], "\(answers)")
        let offer = try await claims(answers[0], in: folder)
        #expect(offer["aud"] as? String == "promotional-offer" && offer["nonce"] as? String == nonce)
        #expect(offer["bid"] as? String == StoredPurchases.bundleId && offer["offerIdentifier"] as? String == "o")
        #expect(answers[0].body["situation"] == nil)
        let eligibility = try await claims(answers[1], in: folder)
        #expect(eligibility["allowIntroductoryOffer"] as? Bool == true)
        #expect((answers[2].body["error"] as? String)?.contains("UNKNOWN") == true)
        let commerce = try await claims(answers[3], in: folder)
        #expect(commerce["aud"] as? String == "advanced-commerce-api")
        let data = try #require((commerce["request"] as? String).flatMap { Data(base64Encoded: $0) })
        let signed = try #require(try JSONSerialization.jsonObject(with: data) as? NSDictionary)
        #expect(signed == (try JSONSerialization.jsonObject(with: Data(SignTests.request.utf8)) as? NSDictionary))
    }

    @Test("Where the request names the customer, the resolver decides")
    func eligibility() async throws {
        let folder = try Folder()
        let product = "\"productId\":\"premium\",\"transactionId\":\"201\""
        let answers = try await ask(
            [
                ("introductory-eligibility", "{\(Self.app),\(product),\"customer\":\"201\"}"),
                ("promotional-offer", "{\(Self.app),\(product),\"offerIdentifier\":\"o\",\"customer\":\"201\"}"),
                ("promotional-offer", "{\(Self.app),\(product),\"offerIdentifier\":\"o\",\"customer\":\"none\"}"),
                (
                    "promotional-offer",
                    "{\(Self.app),\"productId\":\"unlisted\",\"offerIdentifier\":\"o\",\"customer\":\"201\"}"
                ),
            ], in: folder)
        #expect(answers.map(\.status) == ["200", "200", "404", "409"], "\(answers)")
        // The customer had a free trial.
        #expect(answers[0].body["allowIntroductoryOffer"] as? Bool == false)
        let claims = try await claims(answers[0], in: folder)
        #expect(claims["allowIntroductoryOffer"] as? Bool == false)
        #expect(answers[1].body["situation"] != nil)
    }

    /// `backfill` stores what the App Store of `AppStoreShell` has. `serve` starts a server on that store. `ask` asks it for an
    /// introductory offer to the customer with a transaction.
    private static let shell = """
        backfill() {
        "$COMMAND" notifications backfill --store sqlite:store.sqlite --bundle-id com.example.app \\
            --environment sandbox --issuer-id $issuer --key-id $key --private-key key.p8 \\
            --server-url $address --trust-root roots.pem --since $today > /dev/null || exit 8
        }
        serve() {
        cat > serve.yaml <<END
        listeners: [{port: 0}]
        admin: {enabled: false}
        store: {url: "sqlite:store.sqlite"}
        look-up: {enabled: true, port: 0, token-files: [token]}
        apps: [{bundle-id: com.example.app, catalogs: [p.storekit]}]
        app-store-server: {issuer-id: $issuer, key-id: $key, private-key-file: key.p8, sandbox-url: "$address"}
        trust: {roots: [roots.pem], signed-data-roots: [roots.pem]}
        timeouts: {app-store: 60, store: 60}
        END
        : > log
        "$COMMAND" serve --config serve.yaml 2> log &
        pids="$pids $!"
        port() { sed -n '/"role":"look-up"/s/.*"port":"\\{0,1\\}\\([0-9]*\\).*/\\1/p' log; }
        tries=0
        until [ -n "$(port)" ]; do
            tries=$((tries + 1))
            [ $tries -lt 1200 ] || exit 7
            sleep 0.1
        done
        }
        ask() {
            echo '{"bundleId":"com.example.app","productId":"com.example.monthly","environment":"Sandbox",' \\
                '"transactionId":"'$1'","customer":"'$1'"}' > request
            curl -sS -w '%{http_code}\\n' -H "Authorization: Bearer $(cat token)" --data-binary @request \\
                "http://127.0.0.1:$(port)/v1/signatures/introductory-eligibility" |
                sed 's/"compactJWS":"[^"]*"/"compactJWS":""/'
        }
        """

    @Test(
        "An introductory offer is allowed only after a query to the App Store: purchases missing from the store count")
    func queriesTheAppStore() async throws {
        let folder = try Folder()
        try folder.write("token", String(repeating: "k", count: 40).utf8)
        let outcome = try await AppStoreShell.run(
            """
            \(Self.shell)
            for name in bob carl; do
                shop purchases '{"customer": "'$name'", "productId": "com.example.coins"}' | member transactionId > $name
            done
            backfill
            serve
            ask $(cat bob)
            shop purchases '{"customer": "bob", "productId": "com.example.monthly"}' > /dev/null
            ask $(cat bob)
            # On a busy machine, an App Store that only has the signal would answer the next question.
            away=$(echo $pids | cut -d ' ' -f 1)
            kill -9 $away
            wait $away
            ask $(cat carl)
            ask $(cat bob)
            """, in: folder)
        let lines = outcome.output.split(separator: "\n").map(String.init)
        let log = try folder.text("log")
        try #require(lines.count == 8, "\(outcome) \(log)")
        #expect(lines[0].contains("\"allowIntroductoryOffer\":true") && lines[1] == "200", "\(lines) \(log)")
        #expect(lines[2].contains("\"allowIntroductoryOffer\":false") && lines[3] == "200", "\(lines) \(log)")
        #expect(lines[4].contains("The App Store could not be queried") && lines[5] == "503", "\(lines) \(log)")
        // A subscription that ran at the last App Store query may have ended.
        #expect(lines[6].contains("The App Store could not be queried") && lines[7] == "503", "\(lines) \(log)")
    }

    @Test("No introductory offer for a purchase that the App Store does not know, or beside one that was erased")
    func unknownAndErased() async throws {
        let folder = try Folder()
        try folder.write("token", String(repeating: "k", count: 40).utf8)
        let unknown = StoredPurchases.purchase("2000000999999991", "com.example.coins", .consumable, month: 1)
        let scope = StoreScope(environment: .sandbox, bundleId: StoredPurchases.bundleId)
        let store = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"))
        _ = try await store.apply([FactSet(scope: scope, transactions: [unknown])])
        try await store.close()
        let outcome = try await AppStoreShell.run(
            """
            \(Self.shell)
            buy() {
                shop purchases '{"customer": "dave", "productId": "com.example.coins"}' | member transactionId > dave
                backfill
            }
            buy
            "$COMMAND" customer $(cat dave) --store sqlite:store.sqlite --erase --yes --leave-hashes > erased || exit 6
            buy
            serve
            ask 2000000999999991
            ask $(cat dave)
            """, in: folder)
        let lines = outcome.output.split(separator: "\n").map(String.init)
        let log = try folder.text("log")
        try #require(lines.count == 4, "\(outcome) \(log)")
        #expect(lines[0].contains("does not know the transaction 2000000999999991"), "\(lines) \(log)")
        #expect(lines[2].contains("A purchase of the customer was erased"), "\(lines) \(log)")
        #expect(lines[1] == "409" && lines[3] == "409", "\(lines) \(log)")
    }

    @Test("Nothing is signed for a customer with the transaction of another one")
    func transactionOfAnother() async throws {
        let folder = try Folder()
        func request(_ transaction: String, _ more: String = "") -> String {
            let members = "\"productId\":\"premium\",\"transactionId\":\"\(transaction)\",\"customer\":\"201\""
            return "{\(Self.app),\(members)\(more)}"
        }
        let offer = ",\"offerIdentifier\":\"o\""
        let answers = try await ask(
            [
                ("introductory-eligibility", request("101")), ("promotional-offer", request("101", offer)),
                ("promotional-offer", request("999", offer)),
                // The first period of the customer, which is the original transaction too.
                ("introductory-eligibility", request("200")), ("promotional-offer", request("201", offer)),
            ], in: folder)
        #expect(answers.map(\.status) == ["409", "409", "409", "200", "200"], "\(answers)")
        #expect((answers[0].body["error"] as? String)?.contains("no transaction") == true)
        #expect(answers[0].body["compactJWS"] == nil)
    }

    @Test("A request that cannot be signed says why, and names the member")
    func mistakes() async throws {
        let folder = try Folder()
        let answers = try await ask(
            [
                ("promotional-offer", "no JSON"), ("promotional-offer", "{\"bundleId\":\"com.example.unknown\"}"),
                ("promotional-offer", "{\(Self.app),\"offerIdentifier\":\"o\"}"),
                ("promotional-offer", "{\(Self.app),\"product\":\"p\"}"),
                ("introductory-eligibility", "{\(Self.app),\"productId\":\"p\",\"transactionId\":\"5\"}"),
                (
                    "introductory-eligibility",
                    "{\(Self.app),\"productId\":\"p\",\"transactionId\":\"5\",\"nonce\":\"x\"}"
                ),
                ("advanced-commerce", "{\(Self.app)}"),
            ], in: folder)
        #expect(answers.map(\.status) == ["400", "404", "400", "400", "400", "400", "400"], "\(answers)")
        let errors = answers.map { $0.body["error"] as? String ?? "" }
        for (error, word) in zip(
            errors, ["JSON", "com.example.unknown", "productId", "product", "customer", "", "request"])
        {
            #expect(word.isEmpty || error.contains(word), "\(error)")
        }
    }
}
