/// Finds the name that a caller may have meant.
package enum SimilarNames {
    /// Whether at most two letters of two names were added, left out or changed; case and separators do not count.
    package static func differByTyping(_ left: String, _ right: String) -> Bool {
        let (left, right) = (Array(plain(left).utf8), Array(plain(right).utf8))
        let allowed = min(2, (max(left.count, right.count) - 1) / 3)
        guard left.count <= InputLimits.memberNameBytes, abs(left.count - right.count) <= allowed else { return false }
        var distances = Array(0...right.count)
        for (row, letter) in left.enumerated() {
            var diagonal = distances[0]
            distances[0] = row + 1
            for (column, other) in right.enumerated() {
                let change = diagonal + (letter == other ? 0 : 1)
                diagonal = distances[column + 1]
                distances[column + 1] = min(change, diagonal + 1, distances[column] + 1)
            }
        }
        return distances[right.count] <= allowed
    }

    /// A name in lower case and without separators.
    static func plain(_ name: some StringProtocol) -> String {
        name.utf8.allSatisfy { $0 < 0x80 } ? withoutSeparators(name) : withoutSeparators(name.lowercased())
    }

    /// Its ASCII letters are in lower case. Needed for each column of each record, so it makes no other texts.
    private static func withoutSeparators(_ name: some StringProtocol) -> String {
        String(unsafeUninitializedCapacity: name.utf8.count) { buffer in
            var count = 0
            for byte in name.utf8 where byte != 0x5F && byte != 0x2D && byte != 0x20 {
                buffer[count] = (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
                count += 1
            }
            return count
        }
    }
}
