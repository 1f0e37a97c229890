import AppStoreServer
import AppStoreSync
import Crypto
import Testing
import VerifyReceipt
import VerifyReceiptServer

extension ServerTests {
    @Suite(.serialized) struct ReloadedFreshness {
        @Test func aReloadedServerKeepsTheAnswersOfTheAppStore() async throws {
            let appStore = try await LiveServiceStub(
                .answer(#"{"errorCode":4040010,"errorMessage":"Transaction id not found."}"#, status: 404))
            let credentials = try AppStoreCredentials.testing(url: appStore.url)
            let configuration = VerifyReceiptServerConfiguration.testing {
                $0.endpoint.freshness = Freshness(source: .appStore, isRequired: true)
                $0.appStore = [credentials]
            }
            try await Notifications.withStore { store in
                try await TestServer.run(configuration, store: store) { server in
                    #expect(try await Wire.ask(server.port, Sent.post(Sent.body())).verifyStatus == 21010)
                    let questions = appStore.received.count
                    #expect(questions > 0)
                    try server.server.reload(configuration)
                    #expect(try await Wire.ask(server.port, Sent.post(Sent.body())).verifyStatus == 21010)
                    #expect(appStore.received.count == questions)
                }
            }
            try await appStore.stop()
        }
    }
}

extension AppStoreCredentials {
    /// A new key for the app of the test receipts.
    static func testing(url: String? = nil) throws -> AppStoreCredentials {
        AppStoreCredentials(
            bundleID: Sent.bundleId,
            key: try InAppPurchaseKey(
                pem: P256.Signing.PrivateKey().pemRepresentation, keyID: "ABCDEFGHIJ",
                issuerID: "99b16628-15e4-4668-972b-eeff55eeff55"), productionURL: url, sandboxURL: url)
    }
}
