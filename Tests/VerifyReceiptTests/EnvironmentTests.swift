import LegacyReceipts
import ReceiptForge
import Testing
import VerifyReceipt

/// Which receipts belong to which endpoint (Reference.md V1.5, V1.6 and V7.5).
@Suite struct EnvironmentTests {
    private func reply(_ bytes: [UInt8], at environment: EndpointEnvironment) async throws -> String {
        String(decoding: try await testEndpoint().ask(body(bytes), at: environment).reply.body, as: UTF8.self)
    }

    @Test func aSandboxReceiptAtProductionIsExactly21007() async throws {
        #expect(try await reply(sandboxReceipt([nonConsumable]), at: .production) == #"{"status":21007}"#)
        #expect(try await testEndpoint().ask(body(sandboxReceipt()), at: .sandbox).status == 0)
    }

    @Test func aProductionReceiptAtTheSandboxIsExactly21008() async throws {
        #expect(try await reply(appReceipt([month(0)]), at: .sandbox) == #"{"status":21008}"#)
        #expect(try await testEndpoint().ask(body(appReceipt()), at: .production).status == 0)
    }

    @Test func theEnvironmentIsCheckedBeforeTheSignature() async throws {
        #expect(try await testEndpoint().ask(body(damaged(sandboxReceipt())), at: .production).status == 21007)
        #expect(try await testEndpoint().ask(body(damaged(appReceipt())), at: .sandbox).status == 21008)
        #expect(try await testEndpoint().ask(body(damaged(appReceipt())), at: .production).status == 21003)
    }

    /// Again from the cache of genuine receipts.
    @Test func theFactsNameTheAppOfAGenuineReceiptOfTheOtherEnvironment() async throws {
        let endpoint = try testEndpoint { $0.apps = [AppConfiguration(bundleId: bundleId)] }
        let receipt = try sandboxReceipt()
        for _ in 1...2 {
            let facts = try await endpoint.ask(body(receipt), at: .production).reply.facts
            #expect(facts.bundleId == bundleId && facts.isConfiguredApp)
            #expect(try await endpoint.ask(body(receipt), at: .sandbox).status == 0)
        }
        let unsigned = try await endpoint.ask(body(damaged(receipt)), at: .production).reply.facts
        #expect(unsigned.bundleId == nil && !unsigned.isConfiguredApp)
    }

    @Test func theEnvironmentIsCheckedBeforeThePassword() async throws {
        let endpoint = try testEndpoint { $0.accountSecrets = [SharedSecret("s3cret")] }
        #expect(try await endpoint.ask(body(sandboxReceipt([month(0)])), at: .production).status == 21007)
    }

    @Test(arguments: [
        ("ProductionVPP", EndpointEnvironment.production), ("ProductionVPPSandbox", .sandbox),
        ("ProductionOfTomorrow", .production), ("ProductionOfTomorrowSandbox", .sandbox), ("Unheard", .sandbox),
    ])
    func theTypeNamesTheEnvironment(_ type: String, _ environment: EndpointEnvironment) async throws {
        let bytes = try appReceipt([month(0)]) { $0.receiptType = type }
        let endpoint = try testEndpoint(store: MemoryStore())
        let other: EndpointEnvironment = environment == .production ? .sandbox : .production
        let reply = try await endpoint.ask(body(bytes), at: environment)
        #expect(reply.status == 0)
        #expect(reply.json["environment"]?.string == environment.rawValue)
        #expect(reply.receipt?.text("receipt_type") == type)
        #expect(try await endpoint.ask(body(bytes), at: other).status == (other == .sandbox ? 21008 : 21007))
    }

    @Test func aReceiptWithoutATypeIsProductionOnlyWithAnAppId() async throws {
        let withId = try appReceipt { $0.receiptType = nil }
        #expect(try await testEndpoint().ask(body(withId), at: .production).status == 0)
        let without = try appReceipt {
            $0.receiptType = nil
            $0.appItemId = 0
        }
        #expect(try await testEndpoint().ask(body(without), at: .production).status == 21007)
        let reply = try await testEndpoint().ask(body(without), at: .sandbox)
        #expect(reply.status == 0 && reply.receipt?["receipt_type"] == nil)
    }

    @Test func xcodesReceiptsAre21002UnlessTheyAreTrusted() async throws {
        let bytes = try ForgedAppReceipt.xcode(bundleId: bundleId, created: created).signedDataOfXcode().encoded()
        for environment in EndpointEnvironment.allCases {
            #expect(try await testEndpoint().ask(body(bytes), at: environment).status == 21002)
        }
    }

    /// The type makes it a receipt of Xcode, with any signer.
    @Test func aReceiptOfTypeXcodeByAnUntrustedSignerIs21002() async throws {
        let bytes = damaged(try appReceipt { $0.receiptType = "Xcode" })
        #expect(try await testEndpoint().ask(body(bytes)).status == 21002)
    }

    @Test func trustedXcodeReceiptsCountAsSandbox() async throws {
        // Signed by the test authority in place of Xcode's key, which is on every developer's Mac and not here.
        let bytes = try ForgedAppReceipt.xcode(bundleId: bundleId, created: created).signedData(.g5).encoded()
        let endpoint = try testEndpoint { $0.trust.acceptsXcodeReceipts = true }
        #expect(try await endpoint.ask(body(bytes), at: .production).status == 21007)
        #expect(try await endpoint.ask(body(bytes), at: .sandbox).status == 0)
    }

    @Test func aTransactionReceiptGoesByItsEnvironment() async throws {
        #expect(try await testEndpoint().ask(body(transactionReceipt(subscription: false))).status == 0)
        #expect(
            try await testEndpoint().ask(body(transactionReceipt(subscription: false)), at: .sandbox).status == 21008)
        #expect(try await reply(sandboxTransactionReceipt(), at: .production) == #"{"status":21007}"#)
        #expect(try await testEndpoint().ask(body(sandboxTransactionReceipt()), at: .sandbox).status == 0)
    }

    /// Deleting one unsigned line must not make a real purchase.
    @Test func aTransactionReceiptWithContradictingIdIsNeverProduction() async throws {
        let forged = try sandboxTransactionReceipt { $0.environment = nil }
        #expect(try await reply(forged, at: .production) == #"{"status":21007}"#)
        #expect(try await testEndpoint().ask(body(forged), at: .sandbox).status == 0)
        let other = try transactionReceipt(subscription: false) { $0.environment = "Sandbox" }
        #expect(try await reply(other, at: .production) == #"{"status":21007}"#)
        #expect(try await testEndpoint().ask(body(other), at: .sandbox).status == 0)
    }
}
