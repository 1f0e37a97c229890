internal import Foundation

extension ArraySlice<UInt8> {
    /// Whether the bytes are the same. Not for secrets: how long it takes tells where they differ.
    ///
    /// `==` compares byte by byte, which for a receipt takes as long as its digest.
    func hasSameBytes(as other: ArraySlice<UInt8>) -> Bool {
        let count = count
        return count == other.count
            && withUnsafeBytes { left in
                other.withUnsafeBytes { right in
                    guard let left = left.baseAddress, let right = right.baseAddress else { return true }
                    return memcmp(left, right, count) == 0
                }
            }
    }
}
