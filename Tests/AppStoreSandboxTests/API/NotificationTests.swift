import AppStoreModels
import AppStoreSandbox
import AppStoreServer
import Testing

struct NotificationTests {
    /// A sandbox that sends to a receiver.
    @inline(never)
    private func sending(
        _ change: @escaping @Sendable (inout SandboxServerConfiguration) -> Void = { _ in },
        _ body: @Sendable (RunningSandbox, Receiver) async throws -> Void
    ) async throws {
        try await Receiver.run { receiver, url in
            let setup = RunningSandbox.Setup(change: {
                $0.notificationURL = url
                change(&$0)
            })
            try await RunningSandbox.run(setup) { sandbox in try await body(sandbox, receiver) }
        }
    }

    @Test("Each notification is signed, with a signed transaction and renewal information inside, and arrives in order")
    func signed() async throws {
        try await sending { sandbox, receiver in
            let checking = try Checking()
            let bought = try await sandbox.buy(Sold.basic)
            try await sandbox.post("subscriptions/\(bought)/renew")
            let found = receiver.signedPayloads
            #expect(found.count == 2)
            let first = try await checking.notification(found.first)
            #expect(first.notification.payload.notificationType == .subscribed)
            #expect(first.notification.payload.subtype == .initialBuy)
            #expect(first.notification.payload.version == "2.0")
            #expect(first.notification.payload.data?.status == .active)
            #expect(first.transaction?.payload.transactionId == bought)
            #expect(first.renewalInfo?.payload.originalTransactionId == bought)
            let second = try await checking.notification(found.last)
            #expect(second.notification.payload.notificationType == .didRenew)
            #expect(second.transaction?.payload.originalTransactionId == bought)
            #expect(second.notification.payload.signedDate == second.transaction?.payload.purchaseDate)
        }
    }

    @Test(
        "A failed notification is tried again 1, 12, 24, 48 and 72 hours later in the pace of the sandbox, with one UUID"
    )
    func retries() async throws {
        try await sending { sandbox, receiver in
            receiver.answer(500)
            _ = try await sandbox.buy(Sold.coins)
            #expect(receiver.bodies.count == 1)
            for (index, hours) in ([1, 12, 24, 48, 72] as [Int64]).enumerated() {
                let wait = hours * 3_600_000 / 8_640
                try await sandbox.post("clock", "{\"advance\": \(wait - 1)}")
                #expect(receiver.bodies.count == index + 1)
                try await sandbox.post("clock", "{\"advance\": 1}")
                #expect(receiver.bodies.count == index + 2)
            }
            try await sandbox.post("clock", "{\"advance\": 1000000000}")
            #expect(receiver.bodies.count == 6)
            #expect(Set(receiver.signedPayloads).count == 1)
        }
    }

    @Test("A notification that was received is not sent again, and without retries none is")
    func once() async throws {
        try await sending { sandbox, receiver in
            _ = try await sandbox.buy(Sold.coins)
            try await sandbox.post("clock", "{\"advance\": 1000000}")
            #expect(receiver.bodies.count == 1)
        }
        try await sending(
            { $0.retriesNotifications = false },
            { sandbox, receiver in
                receiver.answer(503)
                _ = try await sandbox.buy(Sold.coins)
                try await sandbox.post("clock", "{\"advance\": 1000000}")
                #expect(receiver.bodies.count == 1)
            })
    }

    @Test("The notification history shows all attempts, in pages of 20, and filters by type, customer and failure")
    func history() async throws {
        try await sending { sandbox, receiver in
            let checking = try Checking()
            let client = try sandbox.client()
            receiver.answer(400)
            let failed = try await sandbox.buy(Sold.unlock, by: "bob")
            receiver.answer(206)
            for _ in 0..<21 { _ = try await sandbox.buy(Sold.coins) }
            _ = try await sandbox.buy(Sold.basic)
            let now = try #require(try await sandbox.call("GET", "clock")["now"]?.integer)
            let all = NotificationHistoryRequest(startDate: now - 1_000, endDate: now + 1_000)
            var counts: [Int] = []
            var items: [NotificationHistoryResponseItem] = []
            for try await page in client.notificationHistory(all) {
                counts.append(page.notificationHistory?.count ?? 0)
                items += page.notificationHistory ?? []
            }
            #expect(counts == [20, 3])
            #expect(items.first?.sendAttempts?.map(\.sendAttemptResult) == [.unsuccessfulHTTPResponseCode])
            #expect(items.last?.sendAttempts?.map(\.sendAttemptResult) == [.success])
            let last = try await checking.notification(items.last?.signedPayload)
            #expect(last.notification.payload.notificationType == .subscribed)
            @Sendable func count(_ change: (inout NotificationHistoryRequest) -> Void) async throws -> Int? {
                var request = all
                change(&request)
                return try await client.getNotificationHistory(request).notificationHistory?.count
            }
            #expect(try await count { $0.notificationType = .subscribed } == 1)
            #expect(try await count { $0.transactionId = failed } == 1)
            #expect(try await count { $0.onlyFailures = true } == 1)
            var wrong = all
            wrong.startDate = now - 31 * 86_400_000
            let far = wrong
            #expect(await apiError { _ = try await client.getNotificationHistory(far) }?.code == .startDateTooFarInPast)
            wrong = all
            wrong.transactionId = failed
            wrong.notificationType = .subscribed
            let both = wrong
            #expect(
                await apiError { _ = try await client.getNotificationHistory(both) }?.code == .multipleFiltersSupplied)
        }
    }

    @Test("A test notification is sent, and its status lists the attempts")
    func test() async throws {
        try await sending { sandbox, receiver in
            let checking = try Checking()
            let client = try sandbox.client()
            let token = try #require(try await client.requestTestNotification().testNotificationToken)
            // Any control call waits for what is being sent.
            try await sandbox.call("GET", "clock")
            let status = try await client.getTestNotificationStatus(token)
            #expect(status.sendAttempts?.map(\.sendAttemptResult) == [.success])
            #expect(status.signedPayload == receiver.signedPayloads.first)
            let sent = try await checking.notification(status.signedPayload)
            #expect(sent.notification.payload.notificationType == .test && sent.transaction == nil)
            #expect(
                await apiError { _ = try await client.getTestNotificationStatus("x") }?.code
                    == .invalidTestNotificationToken)
        }
        try await RunningSandbox.run { sandbox in
            let client = try sandbox.client()
            #expect(
                await apiError { _ = try await client.requestTestNotification() }?.code
                    == .serverNotificationUrlNotFound)
        }
    }

    @Test("A receiver that is not there is SOCKET_ISSUE, and the URL can be changed")
    func nobody() async throws {
        try await RunningSandbox.run { sandbox in
            try await sandbox.call("PUT", "notifications/url", "{\"url\": \"http://127.0.0.1:1/\"}")
            _ = try await sandbox.buy(Sold.coins)
            let list = try await sandbox.call("GET", "notifications")["notifications"]?.array
            #expect(list?.first?["sendAttemptResults"]?.array?.compactMap(\.string) == ["SOCKET_ISSUE"])
        }
    }

    @Test("Version 1 carries the unified receipt and the secret, and skips what it does not know")
    func version1() async throws {
        try await sending(
            {
                $0.sendsNotificationsV1 = true
                $0.sharedSecret = "secret"
            },
            { sandbox, receiver in
                let bought = try await sandbox.buy(Sold.basic)
                _ = try await sandbox.buy(Sold.coins)
                try await sandbox.post("subscriptions/\(bought)/renew")
                let bodies = try receiver.bodies.map { try JSONValue.parse($0) }
                #expect(bodies.map { $0["notification_type"]?.string } == ["INITIAL_BUY", "DID_RENEW"])
                let renewed = try #require(bodies.last)
                #expect(renewed["password"]?.string == "secret" && renewed["environment"]?.string == "Sandbox")
                let receipt = try #require(renewed["unified_receipt"])
                let newest = receipt["latest_receipt_info"]?.array?.first
                #expect(
                    newest?["original_transaction_id"]?.string == bought && newest?["transaction_id"]?.string != bought)
                #expect(receipt["pending_renewal_info"]?.array?.first?["auto_renew_status"]?.string == "1")
                #expect(receipt["latest_receipt"]?.string?.hasPrefix("MII") == true)
            })
    }
}
