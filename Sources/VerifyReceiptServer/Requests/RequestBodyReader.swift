import HummingbirdCore
import NIOCore

/// Reads a request's body within its limits.
struct RequestBodyReader {
    enum Failure: Error {
        case tooLarge
        /// The memory budget has no room for it.
        case noRoom
        /// The client disconnected in the middle.
        case incomplete
    }

    /// How many bytes of a rejected body are read and discarded. A client that sends everything before it reads then
    /// gets the answer instead of a broken connection.
    private static let maximumDiscarded = 64 << 20

    private var iterator: RequestBody.AsyncIterator
    private let declared: Int?
    private let budget: BufferBudget
    private(set) var taken = 0

    /// - Parameters:
    ///   - body: the body.
    ///   - declared: `Content-Length`.
    ///   - budget: the memory that all requests share.
    init(_ body: RequestBody, declared: Int?, budget: BufferBudget) {
        iterator = body.makeAsyncIterator()
        self.declared = declared
        self.budget = budget
    }

    /// Reads the whole body. The caller must release ``taken`` from the budget afterwards.
    ///
    /// - Throws: ``Failure``, or the error of the connection.
    mutating func collect(limit: Int) async throws -> [UInt8] {
        if let declared, declared > limit { throw Failure.tooLarge }
        var bytes: [UInt8] = []
        // At most 64 KiB, because a header alone must not reserve much memory.
        if let declared { bytes.reserveCapacity(min(declared, 64 << 10)) }
        while let buffer = try await iterator.next() {
            guard bytes.count + buffer.readableBytes <= limit else { throw Failure.tooLarge }
            let total = max(declared ?? 0, bytes.count + buffer.readableBytes)
            guard budget.take(buffer.readableBytes, of: total) else { throw Failure.noRoom }
            taken += buffer.readableBytes
            bytes += buffer.readableBytesView
        }
        // A closed connection ends the body like its regular end.
        if let declared, bytes.count != declared { throw Failure.incomplete }
        return bytes
    }

    /// Reads and discards the rest.
    mutating func discard() async throws {
        var count = 0
        while count < Self.maximumDiscarded, let buffer = try await iterator.next() { count += buffer.readableBytes }
    }
}
