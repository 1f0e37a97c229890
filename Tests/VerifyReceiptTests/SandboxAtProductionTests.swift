import AppStoreModels
import LegacyReceipts
import Purchases
import Testing
import TransactionStore
import VerifyReceipt

/// Sandbox purchases at the production endpoint (``EndpointConfiguration/SandboxAtProduction``).
@Suite struct SandboxAtProductionTests {
    private func endpoint(
        store: MemoryStore? = nil, _ change: (inout EndpointConfiguration) -> Void = { _ in }
    ) throws -> VerifyReceiptEndpoint {
        try testEndpoint(store: store) {
            $0.apps = [AppConfiguration(bundleId: bundleId)]
            $0.apps[0].sandboxAtProduction = .answered
            change(&$0)
        }
    }

    @Test func theDefaultIsRefused() async throws {
        let endpoint = try endpoint { $0.apps[0].sandboxAtProduction = nil }
        #expect(try await endpoint.ask(body(sandboxReceipt()), at: .production).status == 21007)
    }

    @Test func answeredGivesTheReplyOfTheSandbox() async throws {
        let request = try body(sandboxReceipt([nonConsumable]))
        let endpoint = try endpoint()
        let reply = try await endpoint.ask(request, at: .production)
        #expect(reply.status == 0)
        #expect(reply.json["environment"]?.string == "Sandbox")
        #expect(try await endpoint.ask(request, at: .sandbox).reply.body == reply.reply.body)
        let transaction = try body(sandboxTransactionReceipt())
        #expect(try await endpoint.ask(transaction, at: .production).status == 0)
    }

    @Test func theAppsSettingBeatsTheEndpoints() async throws {
        let request = try body(sandboxReceipt())
        let all = try endpoint {
            $0.apps[0].sandboxAtProduction = nil
            $0.sandboxAtProduction = .answered
        }
        #expect(try await all.ask(request, at: .production).status == 0)
        let refused = try endpoint {
            $0.apps[0].sandboxAtProduction = .refused
            $0.sandboxAtProduction = .answered
        }
        #expect(try await refused.ask(request, at: .production).status == 21007)
    }

    @Test func otherAppsStayRefused() async throws {
        let endpoint = try endpoint {
            $0.apps[0].bundleId = "com.example.other"
            $0.sandboxAtProduction = .answered
        }
        #expect(try await endpoint.ask(body(sandboxReceipt()), at: .production).status == 21007)
    }

    @Test func aForgedOrContradictoryReceiptStaysRefused() async throws {
        let endpoint = try endpoint()
        #expect(try await endpoint.ask(body(damaged(sandboxReceipt())), at: .production).status == 21007)
        let contradictory = try sandboxTransactionReceipt { $0.environment = nil }
        #expect(try await endpoint.ask(body(contradictory), at: .production).status == 21007)
    }

    @Test func aProductionReceiptAtTheSandboxStaysRefused() async throws {
        #expect(try await endpoint().ask(body(appReceipt()), at: .sandbox).status == 21008)
    }

    @Test func theSharedSecretIsStillRequired() async throws {
        let endpoint = try endpoint { $0.accountSecrets = [SharedSecret("s3cret")] }
        #expect(try await endpoint.ask(body(sandboxReceipt([month(0)])), at: .production).status == 21004)
    }

    /// Both receipts name the same transactions, so only the environment keeps the customers apart.
    @Test func aSandboxPurchaseNeverAppearsInAProductionCustomer() async throws {
        let endpoint = try endpoint(store: MemoryStore())
        let sandbox = try await endpoint.ask(body(sandboxReceipt([month(0), month(1)])), at: .production)
        #expect(sandbox.status == 0)
        #expect(sandbox.json["latest_receipt_info"]?.array?.count == 2)
        let production = try await endpoint.ask(body(appReceipt([month(0)])), at: .production)
        #expect(production.json["environment"]?.string == "Production")
        #expect(production.json["latest_receipt_info"]?.array?.count == 1)
    }

    /// Every document that production answers is stored for the sandbox only.
    @Test(arguments: ["receipt", "validated receipt", "signed transaction", "validated signed transaction"])
    func noDocumentOfTheSandboxChangesAProductionCustomer(_ kind: String) async throws {
        let store = MemoryStore()
        var payload = KnownSignedTransaction.transaction
        payload.environment = .sandbox
        let endpoint = try endpoint(store: store) {
            $0.apps[0].answersValidations = true
            $0.answersSignedTransactions = true
            $0.signedTransactionVerifier = KnownSignedTransaction(payload: payload)
        }
        let production = try body(appReceipt([month(0)]))
        #expect(try await endpoint.ask(production, at: .production).status == 0)
        let before = try await endpoint.ask(production, at: .production)
        let sandbox = try sandboxReceipt([month(0), month(1), month(2)])
        let jws = KnownSignedTransaction.jws
        switch kind {
        case "receipt": #expect(try await endpoint.ask(body(sandbox), at: .production).status == 0)
        case "validated receipt": #expect(try await endpoint.ask(validation: validation(of: sandbox)).isOK)
        case "signed transaction": #expect(try await endpoint.ask(body(text: jws), at: .production).status == 0)
        default: #expect(try await endpoint.ask(validation: validation(ofSigned: jws)).isOK)
        }
        let customer = try await store.customer(
            [CustomerIdentity(.originalTransactionId, "530001234567000")],
            in: StoreScope(environment: .sandbox, bundleId: bundleId))
        #expect(customer?.transactions.isEmpty == false)
        #expect(try await endpoint.ask(production, at: .production).reply.body == before.reply.body)
    }
}
