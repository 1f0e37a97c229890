import Foundation
import Testing

/// `app-store consumption answer`, against the App Store that `sandbox` plays.
@Suite("app-store consumption answer", .timeLimit(.minutes(10)), .enabled(if: Command.hasProgram("curl")))
struct ConsumptionAnswerTests {
    private static let rules = """
        {"rules": [
          {"when": {"type": "Consumable", "consumptionRequestReason": "FULFILLMENT_ISSUE"},
           "answer": {"deliveryStatus": "DELIVERED", "sampleContentProvided": false, "refundPreference": "GRANT_PRORATED"}},
          {"answer": {"deliveryStatus": "DELIVERED", "sampleContentProvided": true, "refundPreference": "DECLINE"}}
        ]}
        """

    /// Refunds of the coins and of the subscription are requested, and the store has the notifications. `answer` runs the command,
    /// `sent` shows what the App Store got about a transaction, `open` lists the transactions with an open request.
    private func run(_ steps: String, in folder: Folder, rules: String = Self.rules) async throws -> Outcome {
        try folder.write("rules.json", rules.utf8)
        return try await AppStoreShell.run(
            """
            shop transactions/$coins/request-refund '{"reason": "FULFILLMENT_ISSUE"}' > /dev/null
            shop transactions/$ada/request-refund '{"reason": "OTHER"}' > /dev/null
            backfill() {
                "$COMMAND" notifications backfill --store sqlite:store.sqlite --bundle-id com.example.app \\
                    --environment sandbox --issuer-id $issuer --key-id $key --private-key key.p8 \\
                    --server-url $address --trust-root roots.pem --since $today > /dev/null || exit 8
            }
            backfill
            answer() {
                app consumption --answer --store sqlite:store.sqlite --rules rules.json --customer-consented consents.csv "$@"
            }
            sent() {
                curl -sf $address/sandbox/v1/transactions/$1 | grep -o '"consumptionInformation":{[^}]*}' || echo nothing
            }
            open() {
                "$COMMAND" app-store consumption --pending --store sqlite:store.sqlite --json |
                    grep -o '"transactionId":"[0-9]*"' | sed 's/[^0-9]//g' | tr '\\n' ' '
                echo
            }
            \(steps)
            """, in: folder)
    }

    @Test("backfill and answer take their permits from the budget that the programs of a store share")
    func sharedLimit() async throws {
        let folder = try Folder()
        let outcome = try await run(
            """
            printf 'transactionId,customerConsented\\n%s,true\\n' $ada > consents.csv
            answer
            """, in: folder)
        #expect(outcome.output.contains("Transactions answered: 1"), "\(outcome)")
        #expect(
            try await SharedLimits.used(in: folder.file("store.sqlite")) == [
                "Sandbox com.example.app getNotificationHistory", "Sandbox com.example.app sendConsumptionInformation",
            ])
    }

    @Test("answer sends what the rules say, for customers who consented, and only these requests are answered")
    func answers() async throws {
        let folder = try Folder()
        let outcome = try await run(
            """
            printf 'transactionId,customerConsented,consumptionPercentage\\r\\n%s,true,37.5\\r\\n%s,false,\\r\\n' \\
                $coins $ada > consents.csv
            answer
            sent $coins
            sent $ada
            open
            printf 'customerConsented,transactionId\\n"true","%s"\\n' $ada > consents.csv
            answer --json
            sent $ada
            open
            """, in: folder)
        let (ada, coins) = (try AppStoreShell.ids(in: folder)[0], try AppStoreShell.ids(in: folder)[1])
        let lines = outcome.output.split(separator: "\n").map(String.init)
        try #require(lines.count == 9, "\(outcome.output) \(outcome.error)")
        #expect(lines[0].hasPrefix("\(coins)  {") && lines[0].contains("\"consumptionPercentage\":37500"))
        #expect(lines[1] == "Transactions answered: 1, not answered: 1, left: 0; missed requests: 0")
        #expect(
            lines[2] == "status 1" && outcome.error == "\(ada): The customer did not consent.\n", "\(outcome.error)")
        for text in [
            "\"customerConsented\":true", "\"deliveryStatus\":\"DELIVERED\"", "\"sampleContentProvided\":false",
            "\"refundPreference\":\"GRANT_PRORATED\"", "\"consumptionPercentage\":37500",
        ] { #expect(lines[3].contains(text), "\(lines[3])") }
        #expect(lines[4] == "nothing" && lines[5] == "\(ada) ")
        let json = try #require(JSONSerialization.jsonObject(with: Data(lines[6].utf8)) as? [String: Any])
        let answered = try #require(json["answered"] as? [[String: Any]])
        #expect(answered.count == 1 && answered.first?["transactionId"] as? String == ada)
        #expect((answered.first?["notificationUUIDs"] as? [String])?.count == 1)
        #expect(lines[7] == "status 0")
        #expect(lines[8].contains("\"refundPreference\":\"DECLINE\"") && !lines[8].contains("consumptionPercentage"))
        #expect(outcome.output.hasSuffix("\n\n"), "no request is open: \(outcome.output)")
    }

    @Test("An answer about one transaction closes its request in the store of --store, and only there")
    func oneTransaction() async throws {
        let folder = try Folder()
        let outcome = try await run(
            """
            send() { app consumption "$@" --customer-consented --delivery-status DELIVERED --no-sample-content-provided; }
            send $coins
            send $coins --json > json
            open
            send $coins --consumption-percentage 10 --store sqlite:store.sqlite
            open
            send $ada --store sqlite:store.sqlite --json
            open
            send $ada --store sqlite:store.sqlite
            send $ada --store sqlite:missing.sqlite
            """, in: folder)
        let (ada, coins) = (try AppStoreShell.ids(in: folder)[0], try AppStoreShell.ids(in: folder)[1])
        // A program sees it too, without the line of text.
        #expect(try folder.text("json").contains(#""requestStaysOpen":true"#))
        let parts = outcome.output.components(separatedBy: "status ")
        try #require(parts.count == 6, "\(outcome.output) \(outcome.error)")
        // The same command with --store would send the answer again.
        #expect(parts[0].hasSuffix("If a store keeps the request, dismiss it there: it is still open.\n"))
        #expect(parts[1].hasPrefix("0\n\(coins) \(ada) \n") && parts[1].contains("notificationUUIDs"))
        #expect(!parts[1].contains("still open") && !parts[1].contains("no open request"))
        #expect(parts[2].hasPrefix("0\n\(ada) \n{"))
        let json = try #require(parts[2].split(separator: "\n").last)
        let object = try #require(JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        #expect((object["notificationUUIDs"] as? [String])?.count == 1 && object["requestStaysOpen"] as? Bool == false)
        #expect(parts[3].hasPrefix("0\n\n") && parts[3].hasSuffix("The store has no open request about it.\n"))
        #expect(parts[4] == "0\n" && parts[5] == "2\n")
        #expect(outcome.error.contains("The file missing.sqlite does not exist."), "\(outcome.error)")
        // The store's budget counts these calls too.
        #expect(
            try await SharedLimits.used(in: folder.file("store.sqlite"))
                .contains("Sandbox com.example.app sendConsumptionInformation"))
    }

    @Test("A transaction that the file of consents does not name is not sent, and a dry run sends nothing")
    func consent() async throws {
        let folder = try Folder()
        let outcome = try await run(
            """
            echo transactionId,customerConsented > consents.csv
            answer
            echo $ada,true >> consents.csv
            answer --dry-run
            sent $coins; sent $ada
            open
            """, in: folder)
        let (ada, coins) = (try AppStoreShell.ids(in: folder)[0], try AppStoreShell.ids(in: folder)[1])
        let lines = outcome.output.split(separator: "\n").map(String.init)
        try #require(lines.count == 8, "\(outcome.output) \(outcome.error)")
        #expect(lines[0] == "Transactions answered: 0, not answered: 2, left: 0; missed requests: 0")
        #expect(lines[3] == "Transactions would be answered: 1, not answered: 1, left: 0; missed requests: 0")
        #expect(lines[5] == "nothing" && lines[6] == "nothing" && lines[7] == "\(coins) \(ada) ")
        #expect(outcome.error.hasPrefix("\(coins): The file of consents has no row for the transaction."))
    }

    @Test("A request stays open until Apple has accepted the answer, and the next run continues")
    func goesOn() async throws {
        let folder = try Folder()
        let outcome = try await run(
            """
            printf 'transactionId,customerConsented,consumptionPercentage\\n%s,true,10\\n%s,true,\\n' $coins $ada > consents.csv
            shop faults '{"kind": "unauthorized"}' > /dev/null
            answer
            open
            curl -sf -X DELETE $address/sandbox/v1/faults > /dev/null
            answer
            open
            answer
            """, in: folder)
        let (ada, coins) = (try AppStoreShell.ids(in: folder)[0], try AppStoreShell.ids(in: folder)[1])
        let lines = outcome.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        try #require(lines.count == 11, "\(outcome.output) \(outcome.error)")
        #expect(lines[0] == "Transactions answered: 0, not answered: 0, left: 2; missed requests: 0")
        #expect(lines[1] == "status 2" && lines[2] == "\(coins) \(ada) ")
        #expect(outcome.error.hasPrefix("Stopped. Run the same command to continue. HTTP 401"), "\(outcome.error)")
        #expect(lines[5] == "Transactions answered: 2, not answered: 0, left: 0; missed requests: 0")
        #expect(lines[6] == "status 0" && lines[7].isEmpty)
        #expect(lines[8] == "Transactions answered: 0, not answered: 0, left: 0; missed requests: 0")
    }

    @Test("After 12 hours a request is missed: it is not sent, and stays in the list")
    func missed() async throws {
        let folder = try Folder()
        let outcome = try await run(
            """
            printf 'transactionId,customerConsented\\n%s,true\\n%s,true\\n' $coins $ada > consents.csv
            shop clock '{"advance": 46800000}' > /dev/null
            answer
            sent $coins
            open
            """, in: folder)
        let (ada, coins) = (try AppStoreShell.ids(in: folder)[0], try AppStoreShell.ids(in: folder)[1])
        #expect(
            outcome.output == """
                Transactions answered: 0, not answered: 0, left: 0; missed requests: 2
                status 0
                nothing
                \(coins) \(ada) 

                """, "\(outcome.error)")
    }

    @Test("Apple's error about one request is explained, and the others are answered")
    func refused() async throws {
        let folder = try Folder()
        let outcome = try await run(
            """
            eve=$(shop purchases '{"customer": "eve", "productId": "com.example.monthly"}' | member originalTransactionId)
            shop transactions/$eve/request-refund '{"reason": "LEGAL"}' > /dev/null || exit 7
            backfill
            shop faults '{"kind": "refused", "path": "'$eve'"}' > /dev/null || exit 6
            printf 'transactionId,customerConsented,consumptionPercentage\n%s,true,10\n%s,true,\n' $coins $eve > consents.csv
            echo $ada,true, >> consents.csv
            answer
            open
            echo $eve > eve
            """, in: folder)
        let eve = try folder.text("eve").trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(outcome.output.contains("Transactions answered: 2, not answered: 1, left: 0"), "\(outcome)")
        #expect(outcome.output.hasSuffix("status 1\n\(eve) \n"), "\(outcome.output)")
        #expect(outcome.error.hasPrefix("\(eve): Apple's error 4"), "\(outcome.error)")
    }

    @Test("An answer that Apple's rules exclude is not sent")
    func excluded() async throws {
        let rules = """
            {"rules": [
              {"when": {"type": "Consumable"}, "answer":
                {"deliveryStatus": "DELIVERED", "sampleContentProvided": false, "refundPreference": "GRANT_PRORATED"}},
              {"answer": {"deliveryStatus": "DELIVERED", "sampleContentProvided": false, "consumptionPercentage": 5}}
            ]}
            """
        let folder = try Folder()
        let outcome = try await run(
            """
            printf 'transactionId,customerConsented\\n%s,true\\n%s,true\\n' $coins $ada > consents.csv
            answer
            sent $coins; sent $ada
            """, in: folder, rules: rules)
        #expect(outcome.output.hasSuffix("status 1\nnothing\nnothing\n"), "\(outcome)")
        #expect(outcome.error.contains("GRANT_PRORATED needs a consumptionPercentage above 0 (rules[0])."))
        #expect(outcome.error.contains("An auto-renewable subscription has no consumptionPercentage (rules[1])."))
    }

    // MARK: Files

    private static func rule(_ text: String) -> String { "{\"rules\": [\(text)]}" }

    @Test(
        "A mistake in the rules or in the consents is named, and nothing is sent",
        arguments: [
            ("[", nil, "This is not JSON."), ("{}", nil, "rules: expected a list of 1 to 10000 rules."),
            (rule("1"), nil, "rules[0]: expected an object."), (rule("{}"), nil, "rules[0]: answer is missing."),
            (rule("{\"answer\": {}}"), nil, "rules[0].answer: deliveryStatus is missing."),
            (
                rule("{\"answer\": {\"deliveryStatus\": \"DELIVERED\"}}"), nil,
                "rules[0].answer: sampleContentProvided is missing."
            ),
            (
                rule("{\"answer\": {\"deliveryStatus\": \"LOST\"}}"), nil,
                "rules[0].answer.deliveryStatus: expected one of DELIVERED, "
            ),
            (
                rule("{\"when\": {\"product\": \"a\"}}"), nil,
                "rules[0].when: unknown member 'product'. Known: consumptionRequestReason, "
            ),
            (rule("{\"when\": {\"isDelivered\": 1}}"), nil, "rules[0].when.isDelivered: expected true or false."),
            (
                rule(
                    """
                    {"when": {"isDelivered": true}, "answer": {"deliveryStatus": "DELIVERED", "sampleContentProvided": true}}
                    """), nil, "has a rule with isDelivered: name its consumer of the ledger (--consumer"
            ),
            (nil, "", "consents.csv is empty."), (nil, "transactionId\n1\n", "must be the header"),
            (nil, "transactionId,consented\n", "must be the header"),
            (nil, "transactionId,customerConsented\n1,yes\n", "Line 2: customerConsented is 'yes'"),
            (nil, "transactionId,customerConsented\n1,\n", "Line 2: customerConsented is ''"),
            (nil, "transactionId,customerConsented\n1\n", "Line 2 has 1 columns instead of 2."),
            (nil, "transactionId,customerConsented\n1,true\n1,false\n", "Line 3: 1 has other values above."),
            (
                nil, "transactionId,customerConsented,consumptionPercentage\n1,true,101\n",
                "Line 2: consumptionPercentage is '101'"
            ),
            (
                nil, "transactionId,customerConsented,consumptionPercentage\n1,true,nan\n",
                "Line 2: consumptionPercentage is 'nan'"
            ),
        ] as [(String?, String?, String)])
    func mistakes(rules: String?, consents: String?, message: String) async throws {
        let folder = try Folder()
        try folder.write("rules.json", (rules ?? Self.rules).utf8)
        try folder.write("consents.csv", (consents ?? "transactionId,customerConsented\n").utf8)
        let outcome = try await Command.run(
            [
                "app-store", "consumption", "answer", "--store", "sqlite:none.sqlite", "--rules", "rules.json",
                "--customer-consented", "consents.csv", "--bundle-id", "a", "--issuer-id", "b", "--key-id", "c",
                "--private-key", "none.p8",
            ], in: folder)
        #expect(outcome.status == 2 && outcome.output.isEmpty)
        #expect(outcome.error.contains(message), "\(outcome.error)")
    }

    @Test("Without the file of the customers' consents, answer does nothing")
    func consentIsRequired() async throws {
        let outcome = try await Command.run(
            [
                "app-store", "consumption", "answer", "--store", "sqlite:none.sqlite", "--rules", "rules.json",
                "--bundle-id", "a", "--issuer-id", "b", "--key-id", "c", "--private-key", "none.p8",
            ], in: try Folder())
        #expect(outcome.status == 2 && outcome.error.contains("Missing expected argument '--customer-consented"))
    }
}
