import Foundation
import Testing
import TransactionStore
import VerifyReceipt
import VerifyReceiptServer

extension ServerTests.Notifications {
    @Test(arguments: ["GET", "PUT", "DELETE", "OPTIONS"])
    func otherMethodsGet405(method: String) async throws {
        try await TestServer.run(Self.configuration(), store: PuppetStore()) { server in
            let answer = try await Wire.ask(server.port, Sent.get("/notifications/v2", method: method))
            #expect(answer.status == 405 && answer.headers["allow"] == "POST")
        }
    }

    @Test func thereIsNothingWhereNotificationsAreOff() async throws {
        let off = Self.configuration { $0.notifications.enabled = false }
        for (configuration, store) in [(off, PuppetStore()), (Self.configuration(), nil)] {
            try await TestServer.run(configuration, store: store) { server in
                let status = try await Self.status(server)
                #expect(status == 404)
            }
        }
        try await TestServer.run(Self.configuration(), store: PuppetStore()) { server in
            let version1 = try Self.post(Self.draft(), path: "/notifications/v1")
            #expect(try await Wire.ask(server.port, version1).status == 404)
        }
    }

    @Test func listenersOfEveryRoleTakeNotifications() async throws {
        for role in VerifyReceiptServerConfiguration.Role.allCases {
            let configuration = Self.configuration { $0.listeners[0].role = role }
            try await TestServer.run(configuration, store: PuppetStore()) { server in
                let request = try Self.post(Self.draft(), path: "//notifications/v2/")
                #expect(try await Wire.ask(server.port, request).status == 200)
            }
        }
    }

    @Test func bodyBeyondTheLimitGets413() async throws {
        let configuration = Self.configuration { $0.limits.bodyBytes = 1_000 }
        try await TestServer.run(configuration, store: PuppetStore()) { server in
            let status = try await Self.status(server)
            #expect(status == 413)
        }
    }

    @Test func eachNotificationIsOneLogLineWithoutSignedData() async throws {
        let draft = try Self.draft("DID_FAIL_TO_RENEW", "GRACE_PERIOD")
        let jws = try draft.signed()
        let log = try await TestServer.run(Self.configuration(), store: PuppetStore(), logLevel: .trace) { server in
            _ = try await Wire.ask(server.port, Self.post(draft))
            _ = try await Wire.ask(server.port, Sent.post("{\"signedPayload\":\"\(jws)x\"}", path: "/notifications/v2"))
            return server.log.text
        }
        let lines = try log.split(separator: "\n").filter { $0.contains("/notifications/v2") }.map {
            try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(lines.count == 2)
        let first = try #require(lines.first)
        #expect(first["outcome"] as? String == "accepted")
        #expect(first["notificationType"] as? String == "DID_FAIL_TO_RENEW")
        #expect(first["subtype"] as? String == "GRACE_PERIOD")
        #expect(first["notificationUUID"] as? String == draft.uuid.lowercased())
        #expect(first["bundleId"] as? String == Signed.bundleId && first["environment"] as? String == "Production")
        #expect(first["httpStatus"] as? Int == 200 && first["durationMs"] is Double && first["storeMs"] is Double)
        #expect(lines.last?["outcome"] as? String == "notGenuine")
        // Any twelve characters of the JWS would be too much.
        let characters = Array(jws)
        for start in stride(from: 0, to: characters.count - 12, by: 12) {
            #expect(!log.contains(String(characters[start..<(start + 12)])))
        }
    }

    @Test func reloadTakesOverAppsAndSwitches() async throws {
        try await TestServer.run(Self.configuration(), store: PuppetStore()) { server in
            #expect(try await Self.status(server) == 200)
            var other = Self.configuration()
            other.endpoint.apps = [AppConfiguration(bundleId: "com.example.other")]
            try server.server.reload(other)
            #expect(try await Self.status(server) == 403)
            other.notifications.enabled = false
            try server.server.reload(other)
            #expect(try await Self.status(server) == 404)
        }
    }

    @Test func configurationKeysAreRead() throws {
        let standard = try ConfigurationSources().load()
        #expect(standard.notifications.enabled && !standard.notifications.version1)
        let off = try ConfigurationSources(flags: ["notifications.enabled": "false"]).load()
        #expect(!off.notifications.enabled)
        let secret = ["notifications.v1": "true", "account-secrets": "hush"]
        #expect(try ConfigurationSources(flags: secret).load().notifications.version1)
        let mistakes = [
            ["notifications.v1": "true"], ["notifications.enabled": "true", "store.url": "none"],
            ["notifications.enabled": "perhaps"],
        ]
        for flags in mistakes {
            #expect(throws: ConfigurationError.self) { try ConfigurationSources(flags: flags).load() }
        }
    }
}
