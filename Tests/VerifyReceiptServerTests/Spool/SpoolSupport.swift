import AppStoreModels
import Foundation
import GRDB
import Purchases
import ReceiptForge
import SQLiteTransactionStore
import Synchronization
import TestSupport
import TransactionStore

/// Another program that writes to a store's file and does not end.
final class StoreHolder: Sendable {
    private let queue: DatabaseQueue

    init(_ path: String) throws {
        var configuration = GRDB.Configuration()
        configuration.allowsUnsafeTransactions = true
        configuration.busyMode = .timeout(30)
        queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.inDatabase { try $0.execute(sql: "BEGIN IMMEDIATE") }
    }

    func release() throws {
        try queue.inDatabase { try $0.execute(sql: "ROLLBACK") }
        try queue.close()
    }
}

enum SpoolLog {
    /// Whether the spool took longer than the server waits for it, on a disk that other tests keep busy. Then receipts that it
    /// would have kept are refused, which says nothing.
    static func logsTooSlow(_ log: String) -> Bool { log.contains("Neither did the spool: it took longer than") }
}

/// Different genuine receipts by number.
enum Numbered {
    static func post(_ number: Int64) throws -> String {
        Sent.post(Sent.body(Data(try forgeReceipts(count: 1, from: number)[0]).base64EncodedString()))
    }

    /// Whether the store has the purchases of a receipt.
    static func isKnown(_ number: Int64, to store: any TransactionStore) async throws -> Bool {
        let scope = StoreScope(environment: .production, bundleId: "com.example.bulk.app\(number % 1_000)")
        let first = 530_100_000_000_000 + number * 1_000
        let customer = try await store.customer([CustomerIdentity(.originalTransactionId, String(first))], in: scope)
        return customer?.transactions.count == 2 && customer?.newestAppReceipt != nil
    }
}

/// Clients that send one receipt after the other, none twice.
final class NumberedClients: Sendable {
    private struct State {
        var next: Int64
        var answered: [Int64] = []
        var others: [Int: Int] = [:]
        var isStopped = false
    }

    private let state: Mutex<State>

    init(from first: Int64 = 0) { state = Mutex(State(next: first)) }

    /// The receipts that were answered with 0.
    var answered: [Int64] { state.withLock { $0.answered } }
    /// How many got another status, by status; -1 where there was none.
    var others: [Int: Int] { state.withLock { $0.others } }
    var next: Int64 { state.withLock { $0.next } }

    func stop() { state.withLock { $0.isStopped = true } }

    /// Sends until stopped, or until the server is gone.
    ///
    /// - Parameters:
    ///   - port: the port of the server.
    ///   - clients: the number of clients.
    ///   - count: how many receipts at most, of all clients.
    func send(to port: Int, clients: Int = 4, count: Int64 = .max) async {
        let last = state.withLock { $0.next.addingReportingOverflow(count) }
        let end = last.overflow ? .max : last.partialValue
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<clients {
                group.addTask { try? await Wire.run { try self.sendAll(to: port, before: end) } }
            }
        }
    }

    private func sendAll(to port: Int, before end: Int64) throws {
        let wire = try Wire(port: port)
        while true {
            let number = state.withLock { state -> Int64? in
                guard !state.isStopped, state.next < end else { return nil }
                defer { state.next += 1 }
                return state.next
            }
            guard let number else { return }
            wire.send(try Numbered.post(number))
            let answer = try wire.readResponse()
            state.withLock { state in
                if answer.verifyStatus == 0 {
                    state.answered.append(number)
                } else {
                    state.others[answer.verifyStatus ?? -1, default: 0] += 1
                }
            }
        }
    }
}

extension TestServer {
    /// The value of a metric without labels, or with them written out.
    func metric(_ name: String) async throws -> String? {
        try await Self.metric(name, adminPort)
    }

    static func metric(_ name: String, _ adminPort: Int) async throws -> String? {
        let text = try await Wire.ask(adminPort, Sent.get("/metrics")).body
        return text.split(separator: "\n").first { $0.hasPrefix("\(name) ") }.map {
            String($0.dropFirst(name.count + 1))
        }
    }
}

/// `serve` as a process of its own.
final class ServeProcess: Sendable {
    static let path: String = {
        #if os(Linux)
            let products = Bundle.main.bundleURL
        #else
            let products = Bundle(for: ServeProcess.self).bundleURL.deletingLastPathComponent()
        #endif
        return products.appending(path: "legacy-receipts").path
    }()

    private let process: ChildProcess
    private let log: String
    let port: Int
    let adminPort: Int

    var identifier: Int32 { process.identifier }
    var isRunning: Bool { process.isRunning }
    var logText: String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }

    /// Starts the server on free ports and waits until it listens.
    ///
    /// - Parameters:
    ///   - prefix: a program that executes the command that follows it.
    ///   - folder: the working directory.
    ///   - arguments: more arguments of `serve`.
    init(prefix: [String] = [], in folder: TemporaryFolder, _ arguments: [String]) async throws {
        let root = folder.path + "/root.der"
        try Data(TestRoot.der).write(to: URL(fileURLWithPath: root))
        let log = try folder.write("log-\(UUID().uuidString)", "")
        let all =
            prefix + [
                Self.path, "serve", "--port", "0", "--admin-port", "0", "--set", "trust.roots=\(root)",
                "--set", "timeouts.store=60",
            ] + arguments
        let process = try ChildProcess(all[0], Array(all.dropFirst()), directory: folder.path, errors: log)
        let deadline = ContinuousClock.now + .seconds(120)
        var ports: [String: Int] = [:]
        while ports.count < 2 {
            guard process.isRunning, ContinuousClock.now < deadline else {
                process.signal(SIGKILL)
                throw TestFailure(
                    "the server did not listen: \((try? String(contentsOfFile: log, encoding: .utf8)) ?? "")")
            }
            try await Task.sleep(for: .milliseconds(10))
            for line in try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n") {
                guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                    object["message"] as? String == "listening", let role = object["role"] as? String,
                    let port = (object["port"] as? NSNumber)?.intValue
                        ?? (object["port"] as? String).flatMap({ Int($0) })
                else { continue }
                ports[role] = port
            }
        }
        self.process = process
        self.log = log
        port = ports["both"] ?? 0
        adminPort = ports["admin"] ?? 0
    }

    /// Sends a signal and waits for the end.
    ///
    /// - Returns: the exit code; nil if a signal ended it.
    @discardableResult
    func end(by signal: Int32) async throws -> Int32? {
        process.signal(signal)
        let status = try await process.end()
        return status < 128 ? status : nil
    }
}
