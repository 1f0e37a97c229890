import Foundation
import Testing

/// The actions of `app-store` that change something, against the App Store that `sandbox` plays.
@Suite("app-store, actions", .timeLimit(.minutes(10)), .enabled(if: Command.hasProgram("curl")))
struct AppStoreActTests {
    private static let token = "68753a44-4d6f-1226-9c60-0050e4c00067"

    // MARK: extend

    @Test("extend moves the renewal date once per request identifier")
    func extend() async throws {
        let folder = try Folder()
        let outcome = try await AppStoreShell.run(
            """
            app extend $ada --days 7 --reason service-issue --request-identifier outage-1
            app extend $ada --days 7 --reason service-issue --request-identifier outage-1 --json
            app extend $ada --days 7 --reason other
            """, in: folder)
        #expect(outcome.error.isEmpty, "\(outcome.error)")
        let parts = outcome.output.components(separatedBy: "status 0\n")
        #expect(parts.count == 4 && parts[0].contains("success                         true"))
        let first = try #require(parts[0].firstMatch(of: /effectiveDate +(\d+)/)?.1)
        #expect(parts[1].contains("\"effectiveDate\":\(first)") && parts[1].contains("outage-1"))
        let second = try #require(parts[2].firstMatch(of: /effectiveDate +(\d+)/)?.1)
        #expect(try #require(Int64(second)) > #require(Int64(first)))
    }

    @Test("A third extension is refused with Apple's error, and a call without an answer names how to repeat it")
    func extendRefused() async throws {
        let outcome = try await AppStoreShell.run(
            """
            app extend $ada --days 1 --reason other > /dev/null
            app extend $ada --days 1 --reason other > /dev/null
            app extend $ada --days 1 --reason other
            shop faults '{"kind": "unauthorized"}' > /dev/null
            app extend $ada --days 1 --reason other --request-identifier again
            """, in: try Folder())
        #expect(outcome.output == "status 1\nstatus 2\n")
        #expect(outcome.error.contains("4030005 (SubscriptionMaxExtension)"), "\(outcome.error)")
        #expect(outcome.error.contains("To send the same request again: --request-identifier again"))
    }

    // MARK: extend-all

    @Test("extend-all extends every active subscriber, and extend-all-status shows when Apple is done")
    func extendAll() async throws {
        let outcome = try await AppStoreShell.run(
            """
            app extend-all com.example.monthly --days 2 --reason service-issue --request-identifier outage-1
            app extend-all-status com.example.monthly outage-1 --json
            shop clock '{"advance": "P2D"}' > /dev/null
            app extend-all-status com.example.monthly outage-1 --json
            """, in: try Folder())
        #expect(outcome.error.isEmpty, "\(outcome.error)")
        #expect(outcome.output.contains("requestIdentifier               outage-1\nThe App Store accepted"))
        let lines = outcome.output.split(separator: "\n").filter { $0.contains("\"complete\"") }
        try #require(lines.count == 2, "\(outcome.output)")
        #expect(lines[0].contains("\"complete\":false") && !lines[0].contains("completeDate"))
        #expect(lines[1].contains("\"complete\":true") && lines[1].contains("\"succeededCount\":1"), "\(lines[1])")
    }

    @Test("Apple's errors about a product, a storefront and an unknown request are explained")
    func extendAllRefused() async throws {
        let outcome = try await AppStoreShell.run(
            """
            app extend-all com.example.coins --days 2 --reason other --request-identifier a
            app extend-all com.example.monthly --days 2 --reason other --request-identifier a --storefront usa
            app extend-all-status com.example.monthly unknown
            """, in: try Folder())
        #expect(outcome.output == "status 1\nstatus 1\nstatus 1\n")
        let lines = outcome.error.split(separator: "\n")
        try #require(lines.count == 3, "\(outcome.error)")
        #expect(lines[0].contains("4000023 (InvalidProductId)"))
        #expect(lines[1].contains("4000028 (InvalidStorefrontCountryCode)"))
        #expect(lines[2].contains("4040009 (StatusRequestNotFound)"))
    }

    // MARK: consumption

    @Test("consumption sends exactly the answer that the options describe")
    func consumption() async throws {
        let folder = try Folder()
        let outcome = try await AppStoreShell.run(
            """
            app consumption $coins --customer-consented --delivery-status DELIVERED --no-sample-content-provided
            app consumption $coins --customer-consented --delivery-status DELIVERED --no-sample-content-provided \\
                --consumption-percentage 37.5 --refund-preference GRANT_PRORATED --json
            curl -sf $address/sandbox/v1/transactions/$coins > kept
            """, in: folder)
        #expect(outcome.error.isEmpty && outcome.output.hasSuffix("status 0\n"), "\(outcome.error)")
        #expect(outcome.output.contains("The App Store accepted the information.\n"))
        let kept = try #require(try folder.object("kept")["consumptionInformation"] as? [String: Any])
        #expect(kept.count == 5 && kept["customerConsented"] as? Bool == true)
        #expect(kept["deliveryStatus"] as? String == "DELIVERED" && kept["sampleContentProvided"] as? Bool == false)
        #expect(kept["consumptionPercentage"] as? Int == 37_500)
        #expect(kept["refundPreference"] as? String == "GRANT_PRORATED")
    }

    @Test("Without the statement of the customer's consent, consumption sends nothing")
    func consent() async throws {
        let folder = try Folder()
        let outcome = try await AppStoreShell.run(
            """
            app consumption $coins --delivery-status DELIVERED --sample-content-provided
            curl -sf $address/sandbox/v1/transactions/$coins > kept
            """, in: folder)
        #expect(outcome.output == "status 2\n" && outcome.error.contains("Missing --customer-consented."))
        #expect(try folder.object("kept")["consumptionInformation"] == nil)
    }

    @Test("An error of Apple's without a published number shows its text")
    func consumptionRefused() async throws {
        let outcome = try await AppStoreShell.run(
            """
            app consumption $ada --customer-consented --delivery-status DELIVERED --sample-content-provided \\
                --consumption-percentage 10
            """, in: try Folder())
        #expect(outcome.output == "status 1\n")
        #expect(outcome.error.contains("4000000 (GeneralBadRequest)"), "\(outcome.error)")
        #expect(outcome.error.contains("Its text: Consumption percentage auto renewable subscription."))
    }

    // MARK: finish

    @Test("finish finishes a transaction; Apple's error about an unknown one is explained")
    func finish() async throws {
        let folder = try Folder()
        let outcome = try await AppStoreShell.run(
            """
            app finish $coins
            app finish $coins --json
            curl -sf $address/sandbox/v1/transactions/$coins > kept
            app finish 99999
            """, in: folder)
        let lines = outcome.output.split(separator: "\n")
        try #require(lines.count >= 4, "\(outcome.output)")
        #expect(outcome.output.contains("finished                        true\nstatus 0\n"))
        #expect(lines.suffix(3).first?.hasSuffix(#""finished":true}"#) == true, "\(outcome.output)")
        #expect(lines.suffix(2) == ["status 0", "status 1"])
        #expect(outcome.error.contains("4040010 (TransactionIdNotFound)"))
        #expect(try folder.object("kept")["isFinished"] as? Bool == true)
    }

    // MARK: set-account-token

    @Test("set-account-token sets the token of one purchase; Apple's error about another id is explained")
    func oneToken() async throws {
        let folder = try Folder()
        let outcome = try await AppStoreShell.run(
            """
            app set-account-token $ada \(Self.token.uppercased())
            app set-account-token $ada \(Self.token.uppercased()) --json
            app transaction $ada --json
            app set-account-token 99999 \(Self.token)
            """, in: folder)
        let text = "appAccountToken                 \(Self.token)\nstatus 0\n"
        #expect(outcome.output.contains(text), "\(outcome.output)")
        // In the answer of the command, and in the transaction.
        #expect(outcome.output.components(separatedBy: "\"appAccountToken\":\"\(Self.token)\"").count == 3)
        #expect(outcome.output.hasSuffix("status 1\n"))
        #expect(outcome.error.contains("4040005 (OriginalTransactionIdNotFound)"))
    }

    @Test("A file is set row by row, refused rows are named, and a second run sends nothing again")
    func file() async throws {
        let folder = try Folder()
        let outcome = try await AppStoreShell.run(
            """
            {
                printf 'originalTransactionId,appAccountToken\\r\\n'
                printf '%s,%s\\r\\n' $ada \(Self.token) $coins \(Self.token) 99999 \(Self.token)
            } > tokens.csv
            app set-account-token --csv tokens.csv
            app transaction $ada --json
            app transaction $coins --json
            shop faults '{"kind": "unauthorized"}' > /dev/null
            app set-account-token --csv tokens.csv --json
            """, in: folder)
        #expect(
            outcome.output.hasPrefix(
                "Purchases: 3; tokens set: 2, refused: 1, failed: 0, left: 0; known from earlier runs: 0\nstatus 1\n"),
            "\(outcome.output) \(outcome.error)")
        #expect(outcome.output.components(separatedBy: "\"appAccountToken\":\"\(Self.token)\"").count == 3)
        // With the fault, any call would have stopped the second run.
        let json = try #require(outcome.output.split(separator: "\n").last { $0.hasPrefix("{") })
        let object = try #require(JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        #expect(object["set"] as? Int == 2 && object["refused"] as? Int == 1 && object["known"] as? Int == 3)
        #expect(outcome.error.hasPrefix("99999: Apple's error 4040005 (OriginalTransactionIdNotFound)"))
        #expect(outcome.error.hasSuffix("Every refusal is in tokens.csv.sandbox.done.\n"))
        #expect(outcome.error.split(separator: "\n").count == 2, "\(outcome.error)")
        let done = try folder.text("tokens.csv.sandbox.done").split(separator: "\n")
        #expect(done.first == "# com.example.app sandbox" && done.count == 4)
        #expect(done.contains("99999,\(Self.token),4040005"))
    }

    @Test("With a store, set-account-token uses the rate limits that the programs on the store share")
    func sharedLimit() async throws {
        let folder = try Folder()
        for name in ["rows.sqlite", "one.sqlite"] { try await StoredPurchases.makeStore(in: folder, name) }
        let outcome = try await AppStoreShell.run(
            """
            printf 'originalTransactionId,appAccountToken\\n%s,%s\\n' $ada \(Self.token) > tokens.csv
            app set-account-token --csv tokens.csv --store sqlite:rows.sqlite
            app set-account-token $ada \(Self.token) --store sqlite:one.sqlite
            app set-account-token --csv tokens.csv --store sqlite:missing.sqlite
            """, in: folder)
        let set = "Purchases: 1; tokens set: 1, refused: 0, failed: 0, left: 0; known from earlier runs: 0\nstatus 0\n"
        #expect(outcome.output.hasPrefix(set) && outcome.output.hasSuffix("status 0\nstatus 2\n"), "\(outcome)")
        #expect(outcome.error.contains("The file missing.sqlite does not exist"), "\(outcome.error)")
        for name in ["rows.sqlite", "one.sqlite"] {
            #expect(
                try await SharedLimits.used(in: folder.file(name)) == ["Sandbox com.example.app setAppAccountToken"])
        }
    }

    @Test("A token that was replaced since is sent again")
    func tokenAgain() async throws {
        let folder = try Folder()
        let outcome = try await AppStoreShell.run(
            """
            for token in \(Self.token) 00000000-0000-4000-8000-000000000001 \(Self.token); do
                printf 'originalTransactionId,appAccountToken\\n%s,%s\\n' $ada $token > tokens.csv
                app set-account-token --csv tokens.csv
            done
            app transaction $ada --json
            """, in: folder)
        #expect(outcome.output.components(separatedBy: "known from earlier runs: 0").count == 4, "\(outcome)")
        #expect(outcome.output.contains("\"appAccountToken\":\"\(Self.token)\""))
    }

    @Test("A run that Apple's server stopped, or that was killed within a line, continues with the remaining rows")
    func resume() async throws {
        let folder = try Folder()
        let outcome = try await AppStoreShell.run(
            """
            for number in $(seq 14); do
                bought=$(shop purchases '{"customer": "c'$number'", "productId": "com.example.monthly"}') || exit 7
                echo "$bought" | member originalTransactionId
            done > purchases
            { echo appAccountToken,originalTransactionId; sed 's/^/\(Self.token),/' purchases; } > tokens.csv
            head -n 6 purchases | sed 's/$/,\(Self.token),set/' > some
            { echo "# com.example.app sandbox"; head -n 5 some; tail -n 1 some | head -c 30; } > tokens.csv.sandbox.done
            shop faults '{"kind": "unauthorized"}' > /dev/null
            app set-account-token --csv tokens.csv
            curl -sf -X DELETE $address/sandbox/v1/faults > /dev/null
            app set-account-token --csv tokens.csv
            app transaction $(tail -n 1 purchases) --json
            app transaction $(head -n 1 purchases) --json
            """, in: folder)
        let lines = outcome.output.split(separator: "\n")
        try #require(lines.count == 8, "\(outcome.output) \(outcome.error)")
        #expect(lines[0].hasSuffix("tokens set: 5, refused: 0, failed: 0, left: 9; known from earlier runs: 5"))
        #expect(
            lines[1] == "status 2" && outcome.error.hasPrefix("Stopped. Run the same command to continue. HTTP 401"))
        #expect(lines[2] == "Purchases: 14; tokens set: 14, refused: 0, failed: 0, left: 0; known from earlier runs: 5")
        #expect(lines[3] == "status 0" && lines[4].contains(Self.token))
        // The first five are known, and were not sent.
        #expect(!lines[6].contains(Self.token))
        #expect(try folder.text("tokens.csv.sandbox.done").split(separator: "\n").count == 15)
    }

    @Test(
        "An error about the app or its key ends the run, prints what to check, and is recorded for no row",
        arguments: [4_040_003, 4_000_002, 4_030_999])
    func refusedApp(code: Int) async throws {
        let folder = try Folder()
        let outcome = try await AppStoreShell.run(
            """
            echo originalTransactionId,appAccountToken > tokens.csv
            for id in $ada $coins $(seq 99901 99940); do echo $id,\(Self.token); done >> tokens.csv
            shop faults '{"kind": "refused", "code": \(code)}' > /dev/null
            app set-account-token --csv tokens.csv
            curl -sf $address/sandbox/v1/faults > faults
            curl -sf -X DELETE $address/sandbox/v1/faults > /dev/null
            cp tokens.csv.sandbox.done first
            head -n 3 tokens.csv > few && mv few tokens.csv
            app set-account-token --csv tokens.csv
            """, in: folder)
        let lines = outcome.output.split(separator: "\n")
        try #require(lines.count == 4, "\(outcome.output) \(outcome.error)")
        #expect(lines[0].hasSuffix("tokens set: 0, refused: 0, failed: 0, left: 42; known from earlier runs: 0"))
        #expect(lines[1] == "status 2")
        #expect(outcome.error.hasPrefix("Stopped. Run the same command to continue. Apple's error \(code)"))
        #expect(outcome.error.contains("Check that --private-key is"), "\(outcome.error)")
        #expect(outcome.error.split(separator: "\n").count == 1, "\(outcome.error)")
        #expect(try folder.text("first") == "# com.example.app sandbox\n")
        // No more than were under way together.
        let met = try #require(try folder.text("faults").firstMatch(of: /"met":(\d+)/)?.1)
        #expect(try #require(Int(met)) <= 16)
        #expect(lines[2] == "Purchases: 2; tokens set: 2, refused: 0, failed: 0, left: 0; known from earlier runs: 0")
        #expect(lines[3] == "status 0")
    }

    @Test(
        "A row that an earlier version recorded as refused because of the app or its key is sent again",
        arguments: [4_040_003, 4_040_004, 4_000_002, 4_010_000, 4_030_999])
    func refusedAppRecorded(code: Int) async throws {
        let folder = try Folder()
        let outcome = try await AppStoreShell.run(
            """
            echo originalTransactionId,appAccountToken > tokens.csv
            for id in $ada $coins 99999; do echo $id,\(Self.token); done >> tokens.csv
            echo "# com.example.app sandbox" > tokens.csv.sandbox.done
            echo $ada,\(Self.token),\(code) >> tokens.csv.sandbox.done
            # An error about the row is kept.
            echo 99999,\(Self.token),4040005 >> tokens.csv.sandbox.done
            app set-account-token --csv tokens.csv
            app set-account-token --csv tokens.csv
            app transaction $ada --json
            """, in: folder)
        let lines = outcome.output.split(separator: "\n")
        try #require(lines.count == 6, "\(outcome.output) \(outcome.error)")
        #expect(lines[0] == "Purchases: 3; tokens set: 2, refused: 1, failed: 0, left: 0; known from earlier runs: 1")
        #expect(lines[2] == "Purchases: 3; tokens set: 2, refused: 1, failed: 0, left: 0; known from earlier runs: 3")
        #expect(lines[4].contains(Self.token))
    }

    @Test("A file with mistakes sends nothing and names the lines; the log of another app or environment is refused")
    func mistakes() async throws {
        let folder = try Folder()
        let outcome = try await AppStoreShell.run(
            """
            printf 'originalTransactionId,appAccountToken\\n%s,%s\\nx1,%s\\n%s,none\\n1,2,3\\n%s,%s\\n' $ada \(Self.token) \\
                \(Self.token) $ada $ada 00000000-4d6f-1226-9c60-0050e4c00067 > bad.csv
            app set-account-token --csv bad.csv
            printf 'id,token\\n1,2\\n' > header.csv
            app set-account-token --csv header.csv
            printf 'originalTransactionId,appAccountToken\\n%s,%s\\n' $ada \(Self.token) > good.csv
            echo '# com.example.app production' > good.csv.sandbox.done
            app set-account-token --csv good.csv
            app set-account-token --csv none.csv
            app transaction $ada --json
            """, in: folder)
        let ada = try AppStoreShell.ids(in: folder)[0]
        #expect(outcome.output.hasPrefix(String(repeating: "status 2\n", count: 4)), "\(outcome.output)")
        #expect(!outcome.output.contains(Self.token))
        let expected = [
            "Nothing was sent. Correct bad.csv:", "Line 3: 'x1' is not an original transaction id",
            "Line 4: 'none' is not a UUID.", "Line 5 has 3 columns instead of 2.",
            "Line 6: \(ada) has another token above.", "must be the header originalTransactionId,appAccountToken",
            "good.csv.sandbox.done is not the log of com.example.app sandbox", "Cannot read none.csv",
        ]
        for text in expected { #expect(outcome.error.contains(text), "\(text): \(outcome.error)") }
    }

    // MARK: Usage

    @Test(
        "A usage error names the fault and exits with 2",
        arguments: [
            (["extend", "1", "--days", "91", "--reason", "other"], "--days takes a number from 1 to 90."),
            (["extend", "1", "--days", "1", "--reason", "fun"], "'fun' is invalid"),
            (
                ["extend-all", "p", "--days", "1", "--reason", "other"],
                "Missing expected argument '--request-identifier"
            ),
            (["extend-all-status", "p", ""], "A request identifier has 1 to 128 bytes."),
            (["set-account-token", "1"], "Give an original transaction id and its token, or --csv."),
            (["set-account-token", "1", "2"], "'2' is not a UUID."),
            (["set-account-token", "1", "2", "--csv", "f"], "not both"),
            (["set-account-token", "--csv", "f", "--share", "0"], "--share takes"),
            (
                ["consumption", "1", "--customer-consented", "--delivery-status", "LOST", "--sample-content-provided"],
                "'LOST' is not one of DELIVERED"
            ),
            (
                ["consumption", "1", "--customer-consented", "--delivery-status", "DELIVERED"],
                "Missing --sample-content"
            ),
            (
                [
                    "consumption", "1", "--customer-consented", "--delivery-status", "UNDELIVERED_OTHER",
                    "--sample-content-provided", "--consumption-percentage", "1",
                ], "is 0 unless the delivery status is DELIVERED"
            ),
        ])
    func usage(arguments: [String], message: String) async throws {
        let key = ["--bundle-id", "a", "--issuer-id", "b", "--key-id", "c", "--private-key", "none.p8"]
        let outcome = try await Command.run(["app-store"] + arguments + key)
        #expect(outcome.status == 2 && outcome.output.isEmpty)
        #expect(outcome.error.contains(message), "\(outcome.error)")
    }
}
