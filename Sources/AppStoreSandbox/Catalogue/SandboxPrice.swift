/// Prices as catalogues write them.
enum SandboxPrice {
    /// A decimal text in milliunits: `9.99` and `9,99` are 9990. A currency sign around the number is passed over.
    ///
    /// - Returns: nil for what is no price: no digit, several separators, more than three decimals, more than 12 digits.
    static func milliunits(_ text: String) -> Int64? {
        let characters = text.utf8.filter { isDigit($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ",") }
        let parts = characters.split(omittingEmptySubsequences: false) { !isDigit($0) }
        guard characters.contains(where: isDigit), (1...2).contains(parts.count) else { return nil }
        let decimals = parts.count == 2 ? parts[1] : []
        guard decimals.count <= 3, parts[0].count <= 12 else { return nil }
        let digits =
            Array(parts[0]) + Array(decimals) + [UInt8](repeating: UInt8(ascii: "0"), count: 3 - decimals.count)
        return digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
