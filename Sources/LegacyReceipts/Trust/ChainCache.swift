internal import AppStoreTrust

/// A cache of valid chains. With it, a million receipts need one million signature verifications instead of three
/// million.
///
/// The key is the bytes of all embedded certificates. The receipt's time is checked against the period in which the whole
/// chain is valid, so a result never depends on earlier receipts. Invalid chains are not cached, so a forger cannot fill the
/// cache. The cache is bounded and evicts the oldest entry.
final class ChainCache: Sendable {
    private struct Entry: Sendable {
        let hash: UInt64
        let certificates: ArraySlice<UInt8>
        let signer: ArraySlice<UInt8>
        let chain: ValidatedChain

        func isOf(_ hash: UInt64, _ certificates: ArraySlice<UInt8>, _ signer: ArraySlice<UInt8>) -> Bool {
            self.hash == hash && self.signer.hasSameBytes(as: signer)
                && self.certificates.hasSameBytes(as: certificates)
        }
    }

    /// Apple has signed receipts with about ten leaves since 2010.
    static let maximumEntries = 64
    /// Apple's three certificates take 3.9 kB. Larger sets are not cached.
    static let maximumCertificateBytes = 16 * 1024

    private let entries = BoundedCache<Entry>(maximum: maximumEntries)

    /// - Parameters:
    ///   - certificates: the bytes of all embedded certificates.
    ///   - signer: the bytes that identify the signer (issuer and serial number).
    func chain(certificates: ArraySlice<UInt8>, signer: ArraySlice<UInt8>) -> ValidatedChain? {
        let hash = Self.hash(signer)
        let found = entries.current.first { $0.isOf(hash, certificates, signer) }?.chain
        entries.count(isHit: found != nil)
        return found
    }

    func insert(_ chain: ValidatedChain, certificates: ArraySlice<UInt8>, signer: ArraySlice<UInt8>) {
        guard certificates.count <= Self.maximumCertificateBytes else { return }
        // Copies, so an entry keeps no whole receipt in memory.
        let entry = Entry(
            hash: Self.hash(signer), certificates: Array(certificates)[...], signer: Array(signer)[...], chain: chain)
        entries.insert(entry) { $0.isOf(entry.hash, entry.certificates, entry.signer) }
    }

    /// Hits and misses.
    var lookups: (hits: Int, misses: Int) { entries.lookups }

    /// FNV-1a over the last bytes, which contain the serial number.
    private static func hash(_ signer: ArraySlice<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in signer.suffix(24) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return hash
    }
}
