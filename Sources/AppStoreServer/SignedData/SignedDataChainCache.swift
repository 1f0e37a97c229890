internal import Foundation
internal import Synchronization

/// Chains that were found good, so that a thousand transactions cost a thousand signatures and not three thousand.
///
/// A chain is found again only by exactly the header's bytes that it was judged from, before anything is decoded; and the
/// payload's own date is checked against the span in which the whole chain is valid. So an answer never depends on what was
/// verified before. A chain is kept only once a signature of its leaf was good, for which a forger would need the leaf's
/// key: nobody can fill the cache. Bounded; the oldest goes.
final class SignedDataChainCache: Sendable {
    private struct Entry: Sendable {
        let header: [UInt8]
        let chain: SignedDataChain
    }

    /// Apple signs with one leaf at a time, for two years.
    static let maximumEntries = 32
    /// Apple's headers take 4.3 kB; longer ones are judged anew each time.
    static let maximumHeaderLength = 16 * 1024

    private let entries = Mutex<[Entry]>([])
    private let hits = Atomic<Int>(0)
    private let misses = Atomic<Int>(0)

    /// - Parameter header: the first part of the JWS, as it is written.
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
            // Another task may have judged the same header at the same time.
            if entries.contains(where: { $0.header == entry.header }) { return }
            if entries.count >= Self.maximumEntries { entries.removeFirst() }
            entries.append(entry)
        }
    }

    /// How often a chain was found here, and how often it had to be judged.
    var lookups: (hits: Int, misses: Int) { (hits.load(ordering: .relaxed), misses.load(ordering: .relaxed)) }

    /// How many chains are held.
    var count: Int { entries.withLock { $0.count } }

    private static func equal(_ left: [UInt8], _ right: UnsafeBufferPointer<UInt8>) -> Bool {
        guard left.count == right.count, let other = right.baseAddress else { return false }
        return left.withUnsafeBytes { bytes in bytes.baseAddress.map { memcmp($0, other, bytes.count) == 0 } ?? false }
    }
}
