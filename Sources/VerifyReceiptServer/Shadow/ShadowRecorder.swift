import AppStoreModels
import Foundation
import ReplyComparison
import Synchronization
import VerifyReceipt

/// The file of differences: one JSON object per line, two files at most.
///
/// A line is
/// ```
/// {"time":1717243200789,"environment":"Production","receipt":"3f1c…","bundleId":"…",
///  "status":{"apple":0,"ours":0},"counts":{…},
///  "entitlement":{"grantedByOursOnly":0,"grantedByAppleOnly":1,"differences":[{"product":…,
///  "originalTransactionId":…,"grantedBy":"apple","reason":"expired","status":0}]},
///  "differences":[{"path":…,"kind":…,"rule":…,"transactionId":…,"apple":…,"ours":…}],"differencesLeftOut":0}
/// ```
/// `time` is in milliseconds since 1970-01-01T00:00:00Z. ``ReplyDifference`` redacts values: a line contains no receipt, no shared
/// secret and no account token. Expected differences (`request_date`, the bytes of `latest_receipt`) are counted but not listed. A
/// comparison without other differences is not written.
final class ShadowRecorder: Sendable {
    private struct File {
        var descriptor: Int32 = -1
        var size = 0
    }

    private static let alwaysDifferent: Set<ComparisonRule> = [.requestDate, .reissuedReceipt]

    private let path: String
    private let maximumSize: Int
    private let file = Mutex(File())

    init(path: String, maximumSize: Int) {
        self.path = path
        self.maximumSize = max(1, maximumSize)
    }

    deinit { file.withLock { Self.close(&$0) } }

    /// The line for a comparison; nil without differences.
    static func line(
        _ comparison: ReplyComparison, _ facts: ReplyFacts, _ environment: EndpointEnvironment, time: Int64
    ) -> [UInt8]? {
        let differences = comparison.differences.filter { !alwaysDifferent.contains($0.rule) }
        guard !differences.isEmpty || comparison.differencesLeftOut > 0 || comparison.entitlement.isDifferent else {
            return nil
        }
        return JSONWriter.object(reservingCapacity: 256 + 256 * differences.count, endsLine: true) { writer in
            writer.member("time", time)
            writer.member("environment", environment.rawValue)
            writer.member("receipt", facts.receiptName)
            writer.member("bundleId", facts.bundleId)
            writer.object("status") { writer in
                writer.member("apple", comparison.appleStatus)
                writer.member("ours", comparison.ourStatus)
            }
            writer.object("counts", comparison.counts.write(to:))
            writer.object("entitlement", comparison.entitlement.write(to:))
            writer.objects("differences", differences) { writer, difference in difference.write(to: &writer) }
            writer.member("differencesLeftOut", comparison.differencesLeftOut)
        }
    }

    /// Appends a line. A line is written whole or not at all.
    ///
    /// - Throws: ``ShadowRecordError``.
    func append(_ line: [UInt8]) throws {
        try file.withLock { file in
            if file.descriptor < 0 { try open(&file) }
            if file.size > 0, file.size + line.count > maximumSize { try rotate(&file) }
            try write(line, to: &file)
        }
    }

    func close() { file.withLock { Self.close(&$0) } }

    private func open(_ file: inout File) throws {
        let descriptor = openForAppending(path)
        guard descriptor >= 0 else { throw ShadowRecordError(systemError: errno) }
        let end = lseek(descriptor, 0, SEEK_END)
        file = File(descriptor: descriptor, size: max(0, Int(end)))
    }

    private func rotate(_ file: inout File) throws {
        Self.close(&file)
        guard rename(path, path + ".1") == 0 else { throw ShadowRecordError(systemError: errno) }
        try open(&file)
    }

    private func write(_ line: [UInt8], to file: inout File) throws {
        let (count, error) = writeAll(line[...], to: file.descriptor)
        guard error == 0 else {
            // Remove half a line, which would corrupt the next one.
            if count > 0 { _ = ftruncate(file.descriptor, off_t(file.size)) }
            Self.close(&file)
            throw ShadowRecordError(systemError: error)
        }
        file.size += count
    }

    private static func close(_ file: inout File) {
        if file.descriptor >= 0 { closeDescriptor(file.descriptor) }
        file = File()
    }
}

/// The record cannot be written.
struct ShadowRecordError: Error, CustomStringConvertible {
    let systemError: Int32

    var description: String { strerror(systemError).map { String(cString: $0) } ?? "error \(systemError)" }
}

// Outside of the class, whose own names would shadow the system's.
private func openForAppending(_ path: String) -> Int32 { open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600) }

private func closeDescriptor(_ descriptor: Int32) { _ = close(descriptor) }
