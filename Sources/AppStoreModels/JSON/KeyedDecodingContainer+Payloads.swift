extension KeyedDecodingContainer {
    /// The value of a member; nil if it is missing or `null`.
    func value<Value: Decodable>(_ key: Key) throws -> Value? {
        try decodeIfPresent(Value.self, forKey: key)
    }

    /// A date in milliseconds since 1970; nil if it is missing or `null`.
    ///
    /// Apple's servers send integers, but Xcode sends fractions such as 1697680122257.447. Fractions are cut off toward
    /// zero, as Apple's own libraries do.
    func milliseconds(_ key: Key) throws -> Int64? {
        guard contains(key), try !decodeNil(forKey: key) else { return nil }
        // The integer comes first: a Double cannot hold every Int64.
        if let exact = try? decode(Int64.self, forKey: key) { return exact }
        let number = try decode(Double.self, forKey: key)
        // The bounds of Int64, both exact as Double; NaN fails them too. Converting then cuts toward zero. (`rounded` would
        // need libm, which a program without Foundation does not link.)
        guard number >= -0x1p63, number < 0x1p63 else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self, debugDescription: "The date does not fit into 64-bit milliseconds.")
        }
        return Int64(number)
    }
}
