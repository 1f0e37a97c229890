import Foundation
import Testing

/// `app-store` against the App Store that `sandbox` plays, both run as commands.
@Suite("app-store", .timeLimit(.minutes(10)), .enabled(if: Command.hasProgram("curl")))
struct AppStoreTests {
    /// The JSON on the line before `status`, and the status.
    private func answer(_ outcome: Outcome) throws -> (object: [String: Any], status: String) {
        let lines = outcome.output.split(separator: "\n")
        let json = try #require(lines.dropLast().last, "\(outcome.error)")
        let object = try JSONSerialization.jsonObject(with: Data(json.utf8))
        return (try #require(object as? [String: Any]), String(lines.last ?? ""))
    }

    // MARK: One transaction

    @Test("transaction prints the verified payload as text and as JSON")
    func transaction() async throws {
        let folder = try Folder()
        let outcome = try await AppStoreShell.run("app transaction $ada; app transaction $ada --json", in: folder)
        let ids = try AppStoreShell.ids(in: folder)
        #expect(outcome.error.isEmpty, "\(outcome.error)")
        #expect(outcome.output.contains("productId                       com.example.monthly\n"))
        let (object, status) = try answer(outcome)
        #expect(status == "status 0" && object["environment"] as? String == "Sandbox")
        let payload = try #require(object["transaction"] as? [String: Any])
        #expect(payload["transactionId"] as? String == ids[0])
        #expect(payload["productId"] as? String == "com.example.monthly")
    }

    @Test("An unknown id is refused with Apple's number, one sentence, and the other environment")
    func unknownTransaction() async throws {
        let folder = try Folder()
        let outcome = try await AppStoreShell.run("app transaction 99999 --json", in: folder)
        #expect(
            outcome.error == """
                Error: Apple's error 4040010 (TransactionIdNotFound): The transaction id does not exist in this \
                environment: check the id, and query the other environment. This was Sandbox; --environment production \
                queries the other one.

                """)
        let (object, status) = try answer(outcome)
        let error = try #require(object["error"] as? [String: Any])
        #expect(status == "status 1")
        #expect(error["errorCode"] as? Int == 4_040_010 && error["name"] as? String == "TransactionIdNotFound")
        #expect(error["httpStatus"] as? Int == 404 && error["errorMessage"] as? String == "Transaction id not found.")
    }

    @Test("Nothing of an answer that is not genuine is shown, by any action, and the exit status is 3")
    func notGenuine() async throws {
        let folder = try Folder()
        let outcome = try await AppStoreShell.run(
            """
            order=$(curl -sf $address/sandbox/v1/transactions/$coins | member orderId)
            plain transaction $ada
            plain history $ada
            plain statuses $ada
            plain order $order
            plain app-transaction $ada --json
            plain notification-history
            shop transactions/$coins/refund '{}' > /dev/null
            plain refunds $ada --json
            """, in: folder)
        #expect(!outcome.output.contains("com.example.monthly") && !outcome.output.contains("com.example.coins"))
        #expect(!outcome.output.contains("originalPurchaseDate"))
        let statuses = outcome.output.split(separator: "\n").filter { $0.hasPrefix("status") }
        #expect(statuses == Array(repeating: "status 3", count: 7), "\(outcome.output)")
        #expect(outcome.error.contains("is not genuine and is not shown"))
        #expect(outcome.error.contains("Transaction 2 is not genuine"))
        #expect(outcome.error.contains("do not lead to a trusted root"))
    }

    @Test("A key that Apple refuses ends with 2 and what to check, and the key is not printed")
    func refusedKey() async throws {
        let folder = try Folder()
        let outcome = try await AppStoreShell.run(
            "shop faults '{\"kind\": \"unauthorized\"}' > /dev/null; app history $ada", in: folder)
        #expect(outcome.output.hasSuffix("status 2\n"))
        #expect(outcome.error.contains("HTTP 401: Apple does not accept the key: check the key, its id"))
        #expect(!outcome.error.contains("PRIVATE KEY"))
    }

    // MARK: A customer

    @Test("history lists every transaction of all pages, and the filters narrow it")
    func history() async throws {
        let folder = try Folder()
        let outcome = try await AppStoreShell.run(
            """
            for number in $(seq 22); do
                shop purchases '{"customer": "ada", "productId": "com.example.coins"}' > /dev/null || exit 7
            done
            app history $ada --product-id com.example.monthly
            app history $coins --json
            """, in: folder)
        let ids = try AppStoreShell.ids(in: folder)
        #expect(outcome.error.isEmpty, "\(outcome.error)")
        let text = outcome.output.components(separatedBy: "status 0\n")[0]
        #expect(text.contains("purchaseDate") && text.contains(ids[0]) && !text.contains("com.example.coins"))
        let (object, status) = try answer(outcome)
        let transactions = try #require(object["transactions"] as? [[String: Any]])
        #expect(status == "status 0" && transactions.count == 24)
        #expect(Set(transactions.compactMap { $0["transactionId"] as? String }).isSuperset(of: ids))
        #expect(object["revision"] is String)
    }

    @Test("Apple's error about a filter of history is explained")
    func historyRefused() async throws {
        let folder = try Folder()
        let outcome = try await AppStoreShell.run("app history $ada --since 2026-02-01 --until 2026-01-01", in: folder)
        #expect(outcome.output == "status 1\n")
        #expect(
            outcome.error.contains(
                "4000013 (StartDateAfterEndDate): The start date is not before the end date: send an earlier one."))
    }

    @Test("statuses shows each subscription with its status, last transaction and renewal info")
    func statuses() async throws {
        let folder = try Folder()
        let outcome = try await AppStoreShell.run(
            """
            app statuses $coins
            shop subscriptions/$ada/cancel '{}' > /dev/null
            app statuses $ada --json
            """, in: folder)
        #expect(outcome.error.isEmpty, "\(outcome.error)")
        #expect(outcome.output.contains("active") && outcome.output.contains("autoRenewStatus"))
        let (object, status) = try answer(outcome)
        let subscriptions = try #require(object["subscriptions"] as? [[String: Any]])
        #expect(status == "status 0" && subscriptions.count == 1)
        #expect(subscriptions[0]["status"] as? Int == 1 && subscriptions[0]["statusName"] as? String == "active")
        #expect((subscriptions[0]["renewalInfo"] as? [String: Any])?["autoRenewStatus"] as? Int == 0)
        #expect((subscriptions[0]["transaction"] as? [String: Any])?["productId"] as? String == "com.example.monthly")
        let unknown = try await AppStoreShell.run("app statuses 99999", in: try Folder())
        #expect(unknown.output == "status 1\n" && unknown.error.contains("TransactionIdNotFound"))
    }

    @Test("refunds lists what was refunded, none before")
    func refunds() async throws {
        let folder = try Folder()
        let outcome = try await AppStoreShell.run(
            """
            app refunds $ada
            shop transactions/$coins/refund '{}' > /dev/null
            app refunds $ada --json
            app refunds abc
            """, in: folder)
        #expect(outcome.output.hasPrefix("  environment                     Sandbox\n\ntransactions: none\nstatus 0\n"))
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.suffix(2) == ["status 0", "status 1"])
        #expect(outcome.output.contains("\"revocationDate\":"))
        #expect(outcome.error.contains("4000006 (InvalidTransactionId): The transaction id is not valid"))
    }

    @Test("order finds the purchases of an order ID; an unknown one and one that Apple refuses end with 1")
    func order() async throws {
        let folder = try Folder()
        let outcome = try await AppStoreShell.run(
            """
            order=$(curl -sf $address/sandbox/v1/transactions/$coins | member orderId)
            app order $order
            app order $order --json
            app order MUNKNOWN
            app order "$(printf '%0100d' 1)"
            """, in: folder)
        let ids = try AppStoreShell.ids(in: folder)
        #expect(outcome.output.contains(ids[1]) && !outcome.output.contains("com.example.monthly"))
        #expect(outcome.output.contains("does not know the order ID for this app"))
        let statuses = outcome.output.split(separator: "\n").filter { $0.hasPrefix("status ") && $0.count == 8 }
        #expect(statuses == ["status 0", "status 0", "status 1", "status 1"], "\(outcome.output)")
        let json = try #require(outcome.output.split(separator: "\n").first { $0.hasPrefix("{") })
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        let transactions = try #require(object["transactions"] as? [[String: Any]])
        #expect(object["status"] as? Int == 0 && transactions.map { $0["transactionId"] as? String } == [ids[1]])
        #expect(outcome.error.contains("4000000 (GeneralBadRequest): Apple cannot use the request"))
    }

    @Test("app-transaction shows the verified app transaction, and explains an unknown customer")
    func appTransaction() async throws {
        let folder = try Folder()
        let outcome = try await AppStoreShell.run(
            "app app-transaction 99999; app app-transaction $ada; app app-transaction $ada --json", in: folder)
        #expect(outcome.error.contains("4040010 (TransactionIdNotFound)") && outcome.output.hasPrefix("status 1\n"))
        #expect(outcome.output.contains("bundleId                        com.example.app\n"), "\(outcome.output)")
        let (object, status) = try answer(outcome)
        let payload = try #require(object["appTransaction"] as? [String: Any])
        #expect(status == "status 0" && payload["bundleId"] as? String == "com.example.app")
    }

    // MARK: Notifications

    @Test("notification-history shows each verified notification and whether it arrived")
    func notificationHistory() async throws {
        let folder = try Folder()
        let outcome = try await AppStoreShell.run(
            """
            curl -sf -X PUT -d '{"url": "http://127.0.0.1:9/"}' $address/sandbox/v1/notifications/url > /dev/null
            shop purchases '{"customer": "bob", "productId": "com.example.monthly"}' > /dev/null
            for attempt in $(seq 1200); do
                curl -sf $address/sandbox/v1/notifications | grep -q sendAttemptResult && break; sleep 0.1
            done
            app notification-history --only-failures
            app notification-history --type DID_RENEW
            app notification-history --type SUBSCRIBED --json
            plain notification-history
            """, in: folder)
        #expect(outcome.output.contains("SUBSCRIBED") && outcome.output.contains("SOCKET_ISSUE"), "\(outcome.output)")
        #expect(outcome.output.contains("The history has no such notifications."))
        let lines = outcome.output.split(separator: "\n")
        // Those about ada were recorded before there was a URL.
        let json = try #require(lines.last { $0.hasPrefix("{") })
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        #expect((object["notification"] as? [String: Any])?["notificationType"] as? String == "SUBSCRIBED")
        #expect((object["transaction"] as? [String: Any])?["productId"] as? String == "com.example.monthly")
        #expect(object["lastSendAttemptResult"] as? String == "SOCKET_ISSUE")
        #expect(lines.last == "status 3" && outcome.error.contains("Notification 1 is not genuine and is not shown"))
        let refused = try await AppStoreShell.run("app notification-history --since 2001-01-01", in: try Folder())
        #expect(refused.output == "status 1\n" && refused.error.contains("4000012 (StartDateTooFarInPast)"))
    }

    @Test("test-notification waits for the result: received, not received, and no URL at all")
    func testNotification() async throws {
        let folder = try Folder()
        let outcome = try await AppStoreShell.run(
            """
            app test-notification
            curl -sf -X PUT -d '{"url": "http://127.0.0.1:9/"}' $address/sandbox/v1/notifications/url > /dev/null
            app test-notification
            "$COMMAND" serve --port 0 --store sqlite:store.sqlite --set admin.enabled=false --set trust.roots=roots.pem \\
                --set trust.signed-data-roots=roots.pem --set timeouts.store=60 2> log &
            pids="$pids $!"
            while ! grep -q listening log; do kill -0 $! || exit 8; sleep 0.1; done
            port=$(grep listening log | sed -n 's/.*"port":"*\\([0-9]*\\).*/\\1/p' | head -n 1)
            curl -sf -X PUT -d "{\\"url\\": \\"http://127.0.0.1:$port/notifications/v2\\"}" \\
                $address/sandbox/v1/notifications/url > /dev/null
            app test-notification --json
            """, in: folder)
        #expect(outcome.error.contains("4040007 (ServerNotificationUrlNotFound)"), "\(outcome.error)")
        #expect(outcome.output.hasPrefix("status 1\n"))
        #expect(outcome.output.contains("No connection to your server: check the address"), "\(outcome.output)")
        let (object, status) = try answer(outcome)
        #expect(status == "status 0", "\(object)")
        #expect((object["notification"] as? [String: Any])?["notificationType"] as? String == "TEST")
        let attempts = try #require(object["sendAttempts"] as? [[String: Any]])
        #expect(attempts.map { $0["sendAttemptResult"] as? String } == ["SUCCESS"])
    }

    @Test(
        "A usage error names the fault and exits with 2",
        arguments: [
            (["transaction"], "Missing expected argument '<id>'"), (["transaction", ""], "The id is empty."),
            (["history", "1", "--since", "soon"], "'soon' is not a date"),
            (["notification-history", "--subtype", "RESUBSCRIBE"], "--subtype needs --type."),
            (["notification-history", "--type", "TEST", "--transaction-id", "1"], "not both"),
            (["test-notification", "--wait", "0"], "--wait takes"),
            (["transaction", "1"], "none.p8"),
        ])
    func usage(arguments: [String], message: String) async throws {
        let key = ["--bundle-id", "a", "--issuer-id", "b", "--key-id", "c", "--private-key", "none.p8"]
        let outcome = try await Command.run(["app-store"] + arguments + key)
        #expect(outcome.status == 2 && outcome.output.isEmpty)
        #expect(outcome.error.contains(message), "\(outcome.error)")
    }
}
