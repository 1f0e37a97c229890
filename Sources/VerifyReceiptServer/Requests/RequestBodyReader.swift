import HummingbirdCore
import NIOCore

/// Reads a request's body within its limits.
struct RequestBodyReader {
    enum Failure: Error {
        case tooLarge
        /// There is no memory left for it.
        case noRoom
        /// The client went away in the middle.
        case incomplete
    }

    /// How much of a body that was refused is thrown away, so that a client that sends first and reads afterwards sees
    /// the answer instead of a broken connection.
    private static let maximumDiscarded = 64 << 20

    private var iterator: RequestBody.AsyncIterator
    private let declared: Int?
    private let budget: BufferBudget
    private(set) var taken = 0

    /// - Parameter declared: `Content-Length`.
    init(_ body: RequestBody, declared: Int?, budget: BufferBudget) {
        iterator = body.makeAsyncIterator()
        self.declared = declared
        self.budget = budget
    }

    /// The whole body. The caller has to give ``taken`` back to the budget when it is done with it.
    ///
    /// - Throws: ``Failure``, or what the connection reports.
    mutating func collect(limit: Int) async throws -> [UInt8] {
        if let declared, declared > limit { throw Failure.tooLarge }
        var bytes: [UInt8] = []
        // Only for what a client has a reason to send: memory is not reserved on the word of a header.
        if let declared { bytes.reserveCapacity(min(declared, 64 << 10)) }
        while let buffer = try await iterator.next() {
            guard bytes.count + buffer.readableBytes <= limit else { throw Failure.tooLarge }
            let total = max(declared ?? 0, bytes.count + buffer.readableBytes)
            guard budget.take(buffer.readableBytes, of: total) else { throw Failure.noRoom }
            taken += buffer.readableBytes
            bytes += buffer.readableBytesView
        }
        // A connection that is closed ends the body as its end would.
        if let declared, bytes.count != declared { throw Failure.incomplete }
        return bytes
    }

    /// Throws the rest away.
    mutating func discard() async throws {
        var count = 0
        while count < Self.maximumDiscarded, let buffer = try await iterator.next() { count += buffer.readableBytes }
    }
}
