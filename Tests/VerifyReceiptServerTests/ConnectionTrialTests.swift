import AppStoreServer
import AppStoreSync
import Crypto
import Foundation
import SQLiteTransactionStore
import Synchronization
import TestSupport
import Testing
import TransactionStore
import VerifyReceiptServer

/// `serve --check --connect`: everything is tried, and nothing is changed.
@Suite struct ConnectionTrialTests {
    /// An App Store that gives one answer.
    private final class OneAnswer: APITransport {
        let requests = Mutex<[(method: String, url: String)]>([])
        private let status: Int
        private let body: String

        init(_ status: Int, _ body: String = "") { (self.status, self.body) = (status, body) }

        func send(_ request: APITransportRequest) async throws -> APITransportResponse {
            requests.withLock { $0.append((request.method, request.url)) }
            return APITransportResponse(status: status, retryAfter: nil, body: Array(body.utf8))
        }
    }

    private static func configuration() throws -> VerifyReceiptServerConfiguration {
        let key = try InAppPurchaseKey(
            pem: P256.Signing.PrivateKey().pemRepresentation, keyID: "ABCDEFGHIJ", issuerID: "issuer")
        return .testing {
            $0.storeURL = nil
            $0.appStore = [AppStoreCredentials(bundleID: "com.example.app", key: key)]
        }
    }

    private static func problems(_ answer: OneAnswer) async throws -> [String?] {
        try await ConnectionTrial(configuration(), transport: answer) { _ in throw TestFailure("no store") }
            .findings().map(\.problem)
    }

    /// The call requests the result of a test notification that does not exist: it sends no notification.
    @Test(arguments: [
        (404, #"{"errorCode":4040008,"errorMessage":"Test notification not found."}"#),
        (400, #"{"errorCode":4000020,"errorMessage":"Invalid token."}"#),
    ])
    func aKeyIsRightWhereOnlyTheTokenIsUnknown(status: Int, body: String) async throws {
        let answer = OneAnswer(status, body)
        #expect(try await Self.problems(answer) == [nil, nil])
        let requests = answer.requests.withLock { $0 }
        #expect(requests.map(\.method) == ["GET", "GET"])
        #expect(requests.allSatisfy { $0.url.contains("/inApps/v1/notifications/test/") })
        #expect(Set(requests.compactMap { URL(string: $0.url)?.host() }).count == 2)
    }

    @Test(arguments: [(401, "not accepted (401)"), (500, "HTTP 500"), (404, "HTTP 404")])
    func aRejectedKeyIsReported(status: Int, text: String) async throws {
        let answer = OneAnswer(status)
        let problems = try await Self.problems(answer)
        #expect(problems.count == 2 && problems.allSatisfy { $0?.contains(text) == true }, "\(problems)")
        // Each is queried once.
        #expect(answer.requests.withLock { $0.count } == 2)
    }

    @Test func aStoreIsOpenedAndQueried() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/store.sqlite"
        try await SQLiteTransactionStore.open(path: path).close()
        var configuration = VerifyReceiptServerConfiguration.testing()
        configuration.storeURL = "sqlite:\(path)"
        let works = await ConnectionTrial(configuration) { _ in try SQLiteTransactionStore.open(path: path) }.findings()
        #expect(works.map(\.subject) == ["store sqlite:\(path)"] && works[0].problem == nil)
        let store = PuppetStore()
        store.become(.refusesWrites(.notWritable))
        let fails = await ConnectionTrial(configuration) { _ in store }.findings()
        #expect(fails.count == 1 && fails[0].problem?.isEmpty == false)
    }

    /// A check by another user would leave a file that the server may not write to.
    @Test func aStoreThatIsNotThereYetIsNotMade() async throws {
        let folder = try TemporaryFolder()
        var configuration = VerifyReceiptServerConfiguration.testing()
        configuration.storeURL = "sqlite:\(folder.path)/store.sqlite"
        let trial = ConnectionTrial(configuration) { _ in throw TestFailure("it must not be opened") }
        #expect(await trial.findings().map(\.problem) == [nil])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        configuration.storeURL = "sqlite:\(folder.path)/missing/store.sqlite"
        let missing = await ConnectionTrial(configuration) { _ in throw TestFailure("no") }.findings()
        #expect(missing.count == 1 && missing[0].problem != nil)
    }

    @Test func certificatesAreReadAgain() async throws {
        let files = try TestCertificate()
        let configuration = VerifyReceiptServerConfiguration.testing {
            $0.storeURL = nil
            $0.listeners = [.init(port: 0, tls: files.tls)]
        }
        let trial = ConnectionTrial(configuration) { _ in throw TestFailure("no store") }
        #expect(await trial.findings().map(\.problem) == [nil])
        try Data("nothing".utf8).write(to: URL(fileURLWithPath: files.tls.certificate))
        let problems = await trial.findings().map(\.problem)
        #expect(problems.count == 1 && problems[0] != nil)
    }
}
