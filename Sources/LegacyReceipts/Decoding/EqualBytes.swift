internal import Foundation

extension ArraySlice<UInt8> {
    /// Whether the bytes are equal. Not for secrets, because the time depends on the position of the first difference.
    ///
    /// `==` compares byte by byte and takes as long as the digest of the receipt.
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
