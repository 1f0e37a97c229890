import Foundation
import Logging
import SQLiteTransactionStore
import Synchronization
import TestSupport
import Testing
import TransactionStore
import VerifyReceipt
import VerifyReceiptServer

extension ServerTests {
    /// The line that each request leaves in the log.
    @Suite(.serialized) struct RequestLog {
        /// The input of another log handler.
        private final class Lines: Sendable {
            let all = Mutex<[(level: Logger.Level, message: String, metadata: Logger.Metadata)]>([])

            var ofRequests: [(level: Logger.Level, metadata: Logger.Metadata)] {
                all.withLock { $0.filter { $0.message == "request" }.map { ($0.level, $0.metadata) } }
            }
        }

        private struct OtherHandler: LogHandler {
            let lines: Lines
            var metadata: Logger.Metadata = [:]
            var logLevel = Logger.Level.info

            subscript(metadataKey key: String) -> Logger.Metadata.Value? {
                get { metadata[key] }
                set { metadata[key] = newValue }
            }

            func log(event: LogEvent) {
                let line = (event.level, event.message.description, event.metadata ?? [:])
                lines.all.withLock { $0.append(line) }
            }
        }

        /// A stored receipt, a rejected receipt, and an unsigned notification.
        private static let requests = [
            Sent.post(Sent.body()), Sent.post(Sent.body("AAAA")), Sent.post("{}", path: "/notifications/v2"),
            Sent.post("{}", path: "/nowhere"),
        ]

        private static func ask(_ server: TestServer) async throws {
            for request in requests { _ = try await Wire.ask(server.port, request) }
        }

        private static func requestLines(_ log: String) -> [Substring] {
            log.split(separator: "\n").filter { $0.contains("request") && $0.contains("httpStatus") }
        }

        /// The names of the members as they stand in the line, which has no nested objects.
        private static func keys(_ line: Substring) throws -> [String] {
            let pattern = try Regex(#""([A-Za-z]+)":"#, as: (Substring, Substring).self)
            return line.matches(of: pattern).map { String($0.output.1) }
        }

        @Test func eachLineHasItsFieldsInTheOrderOfTheirNames() async throws {
            let folder = try TemporaryFolder()
            let store = try SQLiteTransactionStore.open(path: folder.path + "/store.sqlite")
            let log = try await TestServer.run(store: store) { server in
                try await Self.ask(server)
                return server.log.text
            }
            try await store.close()
            let lines = Self.requestLines(log)
            try #require(lines.count == 4)
            let begin = ["time", "level", "message"]
            let common = ["durationMs", "httpStatus", "method", "path", "peer", "requestId"]
            let names = try lines.map { try Self.keys($0) }
            let ofReceipt = ["bundleId", "receipt", "source", "status", "storeMs", "verificationMs"]
            #expect(names[0] == begin + (common + ofReceipt).sorted())
            #expect(names[1] == begin + (common + ["reason", "status"]).sorted())
            #expect(names[2] == begin + (common + ["outcome", "reason"]).sorted())
            #expect(names[3] == begin + common.sorted())
        }

        @Test(arguments: [
            ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "4bf92f3577b34da6a3ce929d0e0e4736"),
            ("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more", "4bf92f3577b34da6a3ce929d0e0e4736"),
            ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more", nil),
            ("ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", nil),
            ("00-00000000000000000000000000000000-00f067aa0ba902b7-01", nil),
            ("00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", nil),
            ("00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", nil),
            ("00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01", nil),
            ("4bf92f3577b34da6a3ce929d0e0e4736", nil),
        ])
        func theTraceIdOfAValidTraceparentIsLogged(_ header: String, _ traceId: String?) async throws {
            let log = try await TestServer.run { server in
                _ = try await Wire.ask(server.port, Sent.post("{}", headers: ["traceparent: \(header)"]))
                return server.log.text
            }
            let line = try #require(Self.requestLines(log).first)
            let object = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            #expect(object["traceId"] as? String == traceId)
        }

        @Test func anotherHandlerGetsTheSameFields() async throws {
            let lines = Lines()
            let handler: @Sendable (LogWriter) -> any LogHandler = { _ in OtherHandler(lines: lines) }
            try await TestServer.run(handler: handler) { try await Self.ask($0) }
            let log = try await TestServer.run { server in
                try await Self.ask(server)
                return server.log.text
            }
            let own = Self.requestLines(log)
            let others = lines.ofRequests
            try #require(own.count == others.count)
            for (line, other) in zip(own, others) {
                let object = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
                #expect(object["level"] as? String == other.level.rawValue)
                #expect(Set(object.keys) == Set(other.metadata.keys).union(["time", "level", "message"]))
                for name in ["httpStatus", "method", "path", "peer", "receipt", "status", "reason", "outcome"] {
                    let value = object[name].map { "\($0)" }
                    #expect(value == other.metadata[name].map { "\($0)" }, "\(name)")
                }
            }
        }

        @Test func metadataOfALoggerIsInEachLine() async throws {
            let handler: @Sendable (LogWriter) -> any LogHandler = { writer in
                var handler = ServerLogHandler(level: .info, writer: writer)
                handler[metadataKey: "replica"] = "b7"
                return handler
            }
            let log = try await TestServer.run(handler: handler) { server in
                try await Self.ask(server)
                return server.log.text
            }
            let lines = Self.requestLines(log)
            #expect(lines.count == 4)
            for line in lines { #expect(line.contains(#""replica":"b7","requestId":"#), "\(line)") }
        }

        @Test func linesForPeopleHaveTheSameFields() async throws {
            let handler: @Sendable (LogWriter) -> any LogHandler = {
                ServerLogHandler(level: .info, format: .text, writer: $0)
            }
            let log = try await TestServer.run(handler: handler) { server in
                try await Self.ask(server)
                return server.log.text
            }
            let lines = Self.requestLines(log)
            #expect(lines.count == 4)
            let fields = try #require(lines.first).split(separator: " ").compactMap { $0.split(separator: "=").first }
            #expect(
                fields.suffix(11) == [
                    "bundleId", "durationMs", "httpStatus", "method", "path", "peer", "receipt", "requestId", "source",
                    "status", "verificationMs",
                ])
        }

        @Test func aLoggerThatWantsLessGetsNoLine() async throws {
            let log = try await TestServer.run(logLevel: .warning) { server in
                try await Self.ask(server)
                return server.log.text
            }
            #expect(Self.requestLines(log).isEmpty)
        }
    }
}
