extension KeyedDecodingContainer {
    /// The value of a member; nil if it is missing or `null`.
    func value<Value: Decodable>(_ key: Key) throws -> Value? {
        try decodeIfPresent(Value.self, forKey: key)
    }

    /// A date in milliseconds since 1970; nil if it is missing or `null`.
    ///
    /// Apple's servers send integers, but Xcode sends fractions such as 1697680122257.447. Fractions are truncated
    /// toward zero, as in Apple's own libraries.
    func milliseconds(_ key: Key) throws -> Int64? {
        guard contains(key), try !decodeNil(forKey: key) else { return nil }
        // The integer is tried first, because a Double cannot represent every Int64.
        if let exact = try? decode(Int64.self, forKey: key) { return exact }
        let number = try decode(Double.self, forKey: key)
        // The bounds of Int64 are exact as Double, and NaN fails the comparison too. The conversion truncates toward
        // zero. (`rounded` would need libm, which a program without Foundation does not link.)
        guard number >= -0x1p63, number < 0x1p63 else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self, debugDescription: "The date does not fit into 64-bit milliseconds.")
        }
        return Int64(number)
    }
}
