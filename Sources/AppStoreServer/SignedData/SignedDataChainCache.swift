internal import AppStoreTrust
internal import Foundation

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

    private let entries = BoundedCache<Entry>(maximum: maximumEntries)

    /// - Parameter header: the first part of the JWS in its base64 form.
    func chain(header: UnsafeBufferPointer<UInt8>) -> SignedDataChain? {
        let found = entries.current.first { Self.equal($0.header, header) }?.chain
        entries.count(isHit: found != nil)
        return found
    }

    func insert(_ chain: SignedDataChain, header: UnsafeBufferPointer<UInt8>) {
        guard header.count <= Self.maximumHeaderLength else { return }
        entries.insert(Entry(header: Array(header), chain: chain)) { Self.equal($0.header, header) }
    }

    /// Hits and misses.
    var lookups: (hits: Int, misses: Int) { entries.lookups }

    private static func equal(_ left: [UInt8], _ right: UnsafeBufferPointer<UInt8>) -> Bool {
        guard left.count == right.count, let other = right.baseAddress else { return false }
        return left.withUnsafeBytes { bytes in bytes.baseAddress.map { memcmp($0, other, bytes.count) == 0 } ?? false }
    }
}
