import AppStoreModels
import LegacyReceipts
import ReceiptForge
import TestSupport
import Testing
import TransactionStore
import VerifyReceipt

/// Every row of the table of statuses (Reference.md V2), brought about and compared member by member.
@Suite struct StatusTableTests {
    @Test func everyConditionHasOneRow() {
        #expect(StatusTable.rows.map(\.condition).count == StatusCondition.allCases.count)
        for condition in StatusCondition.allCases {
            #expect(StatusTable.rows.filter { $0.condition == condition }.count == 1, "\(condition)")
            #expect(StatusTable.row(condition).condition == condition)
        }
    }

    @Test func everyStatusOfTheReferenceHasARow() {
        let statuses = Set(StatusTable.rows.map(\.status))
        let expected: [Int] = [0, 21000] + Array(21002...21010)
        #expect(statuses == Set(expected.map { $0...$0 } + [21100...21199]))
    }

    @Test("Two failures of a backend are equal if their codes are")
    func equalityOfBackendFailures() {
        let all: [BackendFailure] = [
            .internalDataAccess(code: 21100, isRetryable: true), .internalDataAccess(code: 21100, isRetryable: false),
            .internalDataAccess(code: 21104, isRetryable: true), .accountNotFound,
        ]
        #expect(all[0] == all[1] && Set(all).count == 3)
    }

    /// A reply for the condition, and the endpoint that was asked.
    private func example(of condition: StatusCondition) async throws -> ReadReply {
        switch condition {
        case .valid: return try await testEndpoint().ask(body(appReceipt([month(0)])))
        case .notAPost: return try ReadReply(VerifyReceiptEndpoint.notAPost)
        case .queueFull: return try ReadReply(VerifyReceiptEndpoint.unavailable)
        case .bodyNotJSON: return try await testEndpoint().ask(Array("receipt-data=MII".utf8))
        case .receiptDataMissing: return try await testEndpoint().ask(Array("{}".utf8))
        case .receiptDataNotText: return try await testEndpoint().ask(Array(#"{"receipt-data":1}"#.utf8))
        case .receiptDataNotBase64: return try await testEndpoint().ask(body(text: "no"))
        case .receiptTooLarge:
            return try await testEndpoint { $0.limits.maximumSize = 100 }.ask(body(appReceipt()))
        case .notAReceipt: return try await testEndpoint().ask(body(Array("foobar".utf8)))
        case .xcodeReceipt:
            let receipt = ForgedAppReceipt.xcode(bundleId: bundleId, created: created)
            return try await testEndpoint().ask(body(receipt.signedDataOfXcode().encoded()), at: .sandbox)
        case .signedTransactionNotAnswered: return try await testEndpoint().ask(body(text: "eyJh.eyJi.c-_"))
        case .notGenuine: return try await testEndpoint().ask(body(damaged(appReceipt())))
        case .unknownBundleId:
            return try await testEndpoint { $0.unknownBundleIds = .refused }.ask(body(appReceipt()))
        case .foreignAppleId:
            return try await testEndpoint {
                $0.apps = [AppConfiguration(bundleId: bundleId, appleId: 1)]
            }.ask(body(appReceipt()))
        default: return try await laterExample(of: condition)
        }
    }

    private func laterExample(of condition: StatusCondition) async throws -> ReadReply {
        let secret = try testEndpoint { $0.accountSecrets = [SharedSecret("s3cret")] }
        func failing(_ error: any Error & Sendable) throws -> VerifyReceiptEndpoint {
            try testEndpoint(store: FailingStore(reading: error))
        }
        switch condition {
        case .secretMissing: return try await secret.ask(body(appReceipt([month(0)])))
        case .secretMismatch: return try await secret.ask(body(appReceipt([month(0)]), password: "x"))
        case .storeUnavailable:
            return try await failing(TransactionStoreError(.unavailable, "")).ask(body(appReceipt()))
        case .appStoreUnavailable:
            let endpoint = try testEndpoint(store: MemoryStore()) {
                $0.freshness = Freshness(source: .appStore, isRequired: true)
            }
            return try await endpoint.ask(body(appReceipt([month(0)])))
        case .storedDataUnreadable:
            return try await failing(TransactionStoreError(.corrupt, "")).ask(body(appReceipt()))
        case .accountNotFound: return try await failing(BackendFailure.accountNotFound).ask(body(appReceipt()))
        case .internalDataAccess:
            let failure = BackendFailure.internalDataAccess(code: 21104, isRetryable: true)
            return try await failing(failure).ask(body(appReceipt()))
        case .subscriptionExpired: return try await testEndpoint().ask(body(transactionReceipt()))
        case .subscriptionCancelled:
            let bytes = try transactionReceipt { $0.cancellationDate = transactionDate.adding(days: 1) }
            return try await testEndpoint().ask(body(bytes))
        case .sandboxAtProduction: return try await testEndpoint().ask(body(sandboxReceipt()))
        case .contradictoryEnvironment:
            return try await testEndpoint().ask(body(sandboxTransactionReceipt { $0.environment = nil }))
        case .productionAtSandbox: return try await testEndpoint().ask(body(appReceipt()), at: .sandbox)
        default: throw TestFailure("no example of \(condition)")
        }
    }

    @Test(arguments: StatusCondition.allCases)
    func theConditionGivesItsStatusAndItsMembers(_ condition: StatusCondition) async throws {
        let row = StatusTable.row(condition)
        let reply = try await example(of: condition)
        #expect(row.status.contains(reply.status))
        let always = Set(row.members.filter { !$0.hasPrefix("(") } + ["status"])
        let sometimes = Set(row.members.filter { $0.hasPrefix("(") }.map { String($0.dropFirst().dropLast()) })
        #expect(always.isSubset(of: reply.keys), "\(always.subtracting(reply.keys)) missing")
        #expect(reply.keys.isSubset(of: always.union(sometimes)), "\(reply.keys) has more than \(row.members)")
        if row.members.contains("environment") { #expect(reply.json["environment"] == .string("Production")) }
        let retryable: JSONValue? =
            switch row.retryable {
            case .notStated: nil
            case .fixed(let value): .bool(value)
            case .asReported: .bool(true)
            }
        #expect(reply.json["is_retryable"] == retryable && reply.json["is-retryable"] == retryable)
        // The log states the reason of every refusal, and the reply does not.
        if reply.status != 0, reply.status != 21006 {
            let reason = try unwrap(reply.reply.facts.reason)
            #expect(!reason.isEmpty && !String(decoding: reply.reply.body, as: UTF8.self).contains(reason))
        }
    }

    @Test func withoutAPostTheBodyIsExactly21000() {
        #expect(String(decoding: VerifyReceiptEndpoint.notAPost.body, as: UTF8.self) == #"{"status":21000}"#)
        #expect(String(decoding: VerifyReceiptEndpoint.unavailable.body, as: UTF8.self) == #"{"status":21005}"#)
    }

    @Test func anUntrustedSignerIs21003WithTheEnvironment() async throws {
        let endpoint = try VerifyReceiptEndpoint(configuration: EndpointConfiguration(), store: nil)
        let reply = try await endpoint.ask(body(appReceipt([month(0)])))
        #expect(String(decoding: reply.reply.body, as: UTF8.self) == #"{"status":21003,"environment":"Production"}"#)
        let sandbox = try await endpoint.ask(body(sandboxReceipt()), at: .sandbox)
        #expect(String(decoding: sandbox.reply.body, as: UTF8.self) == #"{"status":21003,"environment":"Sandbox"}"#)
    }

    @Test func anUnreadableCertificateInTheTrustIsAnErrorAtTheStart() {
        #expect(throws: ReceiptError.self) { try testEndpoint { $0.trust.additionalRoots = [[1, 2, 3]] } }
    }

    @Test func unknownBundleIdsAreAcceptedUnlessTheyAreRefused() async throws {
        #expect(try await testEndpoint().ask(body(appReceipt())).status == 0)
        let endpoint = try testEndpoint {
            $0.unknownBundleIds = .refused
            $0.apps = [AppConfiguration(bundleId: "com.example.other")]
        }
        #expect(try await endpoint.ask(body(appReceipt())).status == 21003)
        #expect(try await endpoint.ask(body(transactionReceipt())).status == 21003)
        let known = try testEndpoint {
            $0.unknownBundleIds = .refused
            $0.apps = [AppConfiguration(bundleId: bundleId)]
        }
        #expect(try await known.ask(body(appReceipt())).status == 0)
    }

    @Test func anotherAppsIdIsRefusedInProductionOnly() async throws {
        let endpoint = try testEndpoint { $0.apps = [AppConfiguration(bundleId: bundleId, appleId: 6_001_234_567)] }
        #expect(try await endpoint.ask(body(appReceipt())).status == 0)
        #expect(try await endpoint.ask(body(appReceipt { $0.appItemId = 0 })).status == 0)
        #expect(try await endpoint.ask(body(appReceipt { $0.appItemId = 5 })).status == 21003)
        #expect(try await endpoint.ask(body(sandboxReceipt()), at: .sandbox).status == 0)
        #expect(try await endpoint.ask(body(transactionReceipt(subscription: false))).status == 21003)
    }
}
