import AppStoreSync
import Foundation
import SQLiteTransactionStore
import TestSupport
import Testing
import TransactionStore
import VerifyReceipt
import VerifyReceiptServer

extension ServerTests {
    @Suite("Names of metrics", .serialized) struct MetricNameTests {
        private struct NothingOpen: ConsumptionAnswering {
            func countMissed(deadlineUpTo date: Int64) async throws -> MissedConsumptionTasks {
                MissedConsumptionTasks()
            }
            func answerOpenRequests(
                _ credentials: [AppStoreCredentials], _ endpoint: EndpointConfiguration, now: Int64
            ) async throws -> ConsumptionRound {
                ConsumptionRound()
            }
            func openDeadlines(after date: Int64) async throws -> [Int64] { [] }
        }

        @Test("Every metric that a document or an alert names is one of the server")
        func documented() async throws {
            let folder = try TemporaryFolder()
            let spool = try SQLiteFactSpool.open(path: folder.file("spool"), maximumBytes: 1 << 20)
            let certificate = try TestCertificate()
            let shadow = try ShadowConfiguration(base: "http://127.0.0.1:9")
            // Everything that has metrics of its own is switched on.
            let configuration = VerifyReceiptServerConfiguration.testing {
                $0.listeners = [.init(port: 0, tls: certificate.tls)]
                $0.shadow = shadow
                $0.consumption = .init(rulesFile: "none", consentFile: "none")
            }
            let text = try await TestServer.run(
                configuration, store: PuppetStore(), spool: spool, consumptionAnswering: NothingOpen()
            ) { $0.server.metricsText }
            try await spool.close()
            let documents = try FileManager.default.contentsOfDirectory(atPath: PackageFolder.path("Documentation"))
                .map { "Documentation/\($0)" }
            var names: Set<String> = []
            for document in documents + ["MIGRATION.md", "CHANGELOG.md", "tools/alerts.yml"] {
                let content = try String(contentsOfFile: PackageFolder.path(document), encoding: .utf8)
                names.formUnion(content.matches(of: /legacy_receipts_[a-z_]+/).map { String($0.output) })
            }
            #expect(names.count > 20)
            for name in names.sorted() { #expect(text.contains("# TYPE \(name) "), "\(name)") }
        }
    }
}
