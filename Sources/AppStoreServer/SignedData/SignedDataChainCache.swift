internal import Foundation
internal import Synchronization

/// A cache of valid chains, so a thousand transactions cost one thousand signature verifications instead of three.
///
/// The key is the undecoded bytes of the header. The payload's date is checked against the period in which the whole chain is
/// valid, so a result never depends on earlier payloads. A chain is cached only after a valid signature of its leaf, which
/// requires the leaf's key, so a forger cannot fill the cache. The cache is bounded and evicts the oldest entry.
final class SignedDataChainCache: Sendable {
    private struct Entry: Sendable {
        let header: [UInt8]
        let chain: SignedDataChain
    }

    /// Apple signs with one leaf at a time, for two years.
    static let maximumEntries = 32
    /// Apple's headers take 4.3 kB. Longer ones are not cached.
    static let maximumHeaderLength = 16 * 1024

    private let entries = Mutex<[Entry]>([])
    private let hits = Atomic<Int>(0)
    private let misses = Atomic<Int>(0)

    /// - Parameter header: the first part of the JWS in its base64 form.
    func chain(header: UnsafeBufferPointer<UInt8>) -> SignedDataChain? {
        let entries = entries.withLock { $0 }
        for entry in entries where Self.equal(entry.header, header) {
            hits.add(1, ordering: .relaxed)
            return entry.chain
        }
        misses.add(1, ordering: .relaxed)
        return nil
    }

    func insert(_ chain: SignedDataChain, header: UnsafeBufferPointer<UInt8>) {
        guard header.count <= Self.maximumHeaderLength else { return }
        let entry = Entry(header: Array(header), chain: chain)
        entries.withLock { entries in
            // Another task may have added the same header at the same time.
            if entries.contains(where: { $0.header == entry.header }) { return }
            if entries.count >= Self.maximumEntries { entries.removeFirst() }
            entries.append(entry)
        }
    }

    /// Hits and misses.
    var lookups: (hits: Int, misses: Int) { (hits.load(ordering: .relaxed), misses.load(ordering: .relaxed)) }

    /// The number of cached chains.
    var count: Int { entries.withLock { $0.count } }

    private static func equal(_ left: [UInt8], _ right: UnsafeBufferPointer<UInt8>) -> Bool {
        guard left.count == right.count, let other = right.baseAddress else { return false }
        return left.withUnsafeBytes { bytes in bytes.baseAddress.map { memcmp($0, other, bytes.count) == 0 } ?? false }
    }
}
