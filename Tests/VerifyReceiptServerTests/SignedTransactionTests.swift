import AppStoreModels
import AppStoreServer
import Foundation
import ReceiptForge
import TestSupport
import Testing
import VerifyReceipt
import VerifyReceiptServer

extension ServerTests {
    /// A StoreKit 2 JWS in `receipt-data`, sent to a running server.
    @Suite(.serialized) struct SignedTransactions {
        private static let date: Int64 = 1_748_736_000_000

        private static func transaction(_ environment: Environment) throws -> [UInt8] {
            Array(
                try JSONEncoder().encode(
                    JWSTransactionDecodedPayload {
                        $0.originalTransactionId = "530001234567000"
                        $0.transactionId = "530001234567000"
                        $0.bundleId = Sent.bundleId
                        $0.productId = "com.example.apple"
                        $0.purchaseDate = date
                        $0.originalPurchaseDate = date
                        $0.quantity = 1
                        $0.type = .nonConsumable
                        $0.inAppOwnershipType = .purchased
                        $0.signedDate = date
                        $0.environment = environment
                    }))
        }

        private static func configuration(_ extra: String = "") throws -> VerifyReceiptServerConfiguration {
            let folder = try TemporaryFolder()
            let der = Data(TestSignedDataAuthority.standard.rootCertificate)
            try der.write(to: URL(fileURLWithPath: folder.path + "/root.der"))
            let pem = der.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
            try folder.write("root.pem", "-----BEGIN CERTIFICATE-----\n\(pem)\n-----END CERTIFICATE-----\n")
            let file = try folder.write(
                "serve.yaml",
                """
                listen: {port: 0}
                admin: {port: 0}
                store: {url: none}
                timeouts: {drain: 0}
                \(extra)
                """)
            return try withExtendedLifetime(folder) { try ConfigurationSources(file: file).load() }
        }

        private static let switchedOn = """
            endpoint: {answer-signed-transactions: true}
            trust: {signed-data-roots: [root.pem, root.der]}
            """

        private static func status(
            _ jws: String, path: String = "/verifyReceipt", _ configuration: VerifyReceiptServerConfiguration
        ) async throws -> Int? {
            try await TestServer.run(configuration) { server in
                try await Wire.ask(server.port, Sent.post(Sent.body(jws), path: path)).verifyStatus
            }
        }

        @Test func genuineTransactionIsAnsweredInTheShapeOfAReceipt() async throws {
            let jws = try TestSignedDataAuthority.standard.sign(payload: Self.transaction(.production))
            let answer = try await TestServer.run(Self.configuration(Self.switchedOn)) { server in
                try await Wire.ask(server.port, Sent.post(Sent.body(jws)))
            }
            #expect(answer.verifyStatus == 0)
            let reply = try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any]
            let receipt = reply?["receipt"] as? [String: Any]
            let purchases = receipt?["in_app"] as? [[String: Any]]
            #expect(receipt?["bundle_id"] as? String == Sent.bundleId)
            #expect(purchases?.first?["transaction_id"] as? String == "530001234567000")
            #expect(purchases?.first?["purchase_date_ms"] as? String == "\(Self.date)")
        }

        @Test func sandboxTransactionGets21007AndIsAnsweredThere() async throws {
            let jws = try TestSignedDataAuthority.standard.sign(payload: Self.transaction(.sandbox))
            let configuration = try Self.configuration(Self.switchedOn)
            #expect(try await Self.status(jws, configuration) == 21007)
            #expect(try await Self.status(jws, path: "/sandbox/verifyReceipt", configuration) == 0)
        }

        @Test func forgedTransactionGets21003() async throws {
            let configuration = try Self.configuration(Self.switchedOn)
            let foreign = try TestSignedDataAuthority.foreign(impostor: true)
            let jws = try foreign.sign(payload: Self.transaction(.production))
            #expect(try await Self.status(jws, configuration) == 21003)
            let xcode = try TestSignedDataAuthority.xcodeSignedPayload(Self.transaction(.xcode)).text()
            #expect(try await Self.status(xcode, configuration) == 21003)
            let other = try TestSignedDataAuthority.standard.sign(
                payload: Self.transaction(Environment(rawValue: "Moon")))
            #expect(try await Self.status(other, configuration) == 21003)
        }

        @Test func otherSignedDataIsNoTransaction() async throws {
            let renewalInfo = JWSRenewalInfoDecodedPayload {
                $0.originalTransactionId = "530001234567000"
                $0.productId = "com.example.apple"
                $0.signedDate = Self.date
                $0.environment = .production
            }
            let jws = try TestSignedDataAuthority.standard.sign(payload: Array(JSONEncoder().encode(renewalInfo)))
            #expect(try await Self.status(jws, Self.configuration(Self.switchedOn)) == 21003)
        }

        @Test func testAuthorityIsNotTrustedUnlessItIsNamed() async throws {
            let jws = try TestSignedDataAuthority.standard.sign(payload: Self.transaction(.production))
            let configuration = try Self.configuration("endpoint: {answer-signed-transactions: true}")
            #expect(try await Self.status(jws, configuration) == 21003)
        }

        @Test func itIsOffByDefault() async throws {
            let jws = try TestSignedDataAuthority.standard.sign(payload: Self.transaction(.production))
            #expect(try await Self.status(jws, Self.configuration()) == 21002)
        }

        @Test func ownRootsAreWarnedOf() throws {
            let configuration = try Self.configuration(Self.switchedOn)
            #expect(configuration.signedDataTrust.additionalRoots.count == 2)
            #expect(configuration.warnings.contains { $0.contains("trust.signed-data-roots") })
            #expect(try Self.configuration().signedDataTrust.additionalRoots.isEmpty)
        }

        /// The responder that the test authority names is of a domain that cannot exist: there is no answer.
        @Test func revocationIsCheckedOnlyWhereConfigured() async throws {
            let jws = try TestSignedDataAuthority.standard.sign(payload: Self.transaction(.production))
            let checking = Self.switchedOn.replacing("trust: {", with: "trust: {revocation-check: true, ")
            #expect(try await Self.status(jws, Self.configuration(checking)) == 21100)
            #expect(try await Self.status(jws, Self.configuration(Self.switchedOn)) == 0)
            #expect(try Self.configuration().revocation == nil)
        }

        @Test func unansweredRevocationCheckCanBeRetried() async throws {
            struct Silence: RevocationChecking {
                func status(of chain: SignedDataCertificates, now: Int64) async -> RevocationStatus {
                    .unavailable("no answer")
                }
            }
            let root = TestSignedDataAuthority.standard.rootCertificate
            let verifier = try SignedTransactionVerifier(
                trust: SignedDataTrust(additionalRoots: [root]), revocation: Silence())
            let jws = try TestSignedDataAuthority.standard.sign(payload: Self.transaction(.production))
            let failure = await #expect(throws: BackendFailure.self) {
                try await verifier.verifiedTransaction(Array(jws.utf8), now: Self.date)
            }
            guard case .internalDataAccess(code: 21100, isRetryable: true)? = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
        }
    }
}
