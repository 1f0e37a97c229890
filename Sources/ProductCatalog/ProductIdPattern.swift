/// A pattern for product identifiers: `*` matches any number of bytes including none, `?` matches exactly one byte, and
/// everything else matches itself. The whole identifier must match.
///
/// Product identifiers cannot contain `*` or `?`, so there is no escape. Matching takes one step per byte of the
/// identifier for any pattern: the bits of one number track all positions in the pattern at once.
public struct ProductIdPattern: Hashable, Sendable, CustomStringConvertible {
    /// The pattern as written.
    public let text: String
    /// Its bytes, with consecutive `*` reduced to one.
    let bytes: [UInt8]
    private let prefix: [UInt8]
    private let suffix: [UInt8]
    /// For each byte value, the positions (without `*`) that accept it.
    private let accepts: [UInt128]
    /// The positions that follow a `*`, where a match may wait.
    private let waits: UInt128
    private let length: Int

    static let anyRun = UInt8(ascii: "*")
    static let anyByte = UInt8(ascii: "?")

    /// Nil for a text that is empty, has no wildcard, or is longer than ``CatalogLimits/patternBytes``.
    public init?(_ text: String) {
        var bytes: [UInt8] = []
        guard text.utf8.count <= CatalogLimits.patternBytes else { return nil }
        for byte in text.utf8 where byte != Self.anyRun || bytes.last != Self.anyRun { bytes.append(byte) }
        guard bytes.contains(where: { $0 == Self.anyRun || $0 == Self.anyByte }) else { return nil }
        self.text = text
        self.bytes = bytes
        let isLiteral = { (byte: UInt8) in byte != Self.anyRun && byte != Self.anyByte }
        prefix = Array(bytes.prefix(while: isLiteral))
        suffix = Array(bytes.reversed().prefix(while: isLiteral).reversed())

        var accepts = [UInt128](repeating: 0, count: 256)
        var waits: UInt128 = 0
        var position = 0
        for byte in bytes {
            let bit = UInt128(1) << UInt128(position)
            switch byte {
            case Self.anyRun:
                waits |= bit
                continue
            case Self.anyByte: for value in accepts.indices { accepts[value] |= bit }
            default: accepts[Int(byte)] |= bit
            }
            position += 1
        }
        self.accepts = accepts
        self.waits = waits
        length = position
    }

    public static func == (left: Self, right: Self) -> Bool { left.bytes == right.bytes }

    public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }

    public var description: String { text }

    /// Whether all of `productId` matches.
    public func matches(_ productId: String) -> Bool {
        var copy = productId
        return copy.withUTF8 { matches($0) }
    }

    func matches(_ id: UnsafeBufferPointer<UInt8>) -> Bool {
        guard id.count >= length, id.starts(with: prefix), id.suffix(suffix.count).elementsEqual(suffix) else {
            return false
        }
        // Bit n is set if the first n counted positions have matched so far.
        var reached: UInt128 = 1
        for byte in id {
            reached = ((reached & accepts[Int(byte)]) << 1) | (reached & waits)
            if reached == 0 { return false }
        }
        return reached & (UInt128(1) << UInt128(length)) != 0
    }

    /// The specificity of a pattern: more literal bytes first, then more `?`, then fewer `*`.
    struct Specificity: Hashable, Comparable {
        let literals: Int
        let anyBytes: Int
        let anyRuns: Int

        static func < (left: Self, right: Self) -> Bool {
            (left.literals, left.anyBytes, right.anyRuns) < (right.literals, right.anyBytes, left.anyRuns)
        }
    }

    var specificity: Specificity {
        let runs = bytes.count { $0 == Self.anyRun }
        let singles = bytes.count { $0 == Self.anyByte }
        return Specificity(literals: bytes.count - runs - singles, anyBytes: singles, anyRuns: runs)
    }

    /// Whether any identifier matches both patterns.
    ///
    /// Walks the pairs of positions that one identifier can reach in both patterns, each pair once.
    func overlaps(_ other: ProductIdPattern) -> Bool {
        let (left, right) = (bytes, other.bytes)
        guard zip(prefix, other.prefix).allSatisfy(==),
            zip(suffix.reversed(), other.suffix.reversed()).allSatisfy(==)
        else { return false }
        let width = right.count + 1
        var seen = [Bool](repeating: false, count: (left.count + 1) * width)
        var pending = [(0, 0)]
        while let (i, j) = pending.popLast() {
            if i == left.count, j == right.count { return true }
            if seen[i * width + j] { continue }
            seen[i * width + j] = true
            let a = i < left.count ? left[i] : nil
            let b = j < right.count ? right[j] : nil
            if a == Self.anyRun { pending.append((i + 1, j)) }
            if b == Self.anyRun { pending.append((i, j + 1)) }
            guard let a, let b else { continue }
            switch (a == Self.anyRun, b == Self.anyRun) {
            case (true, true): break
            case (true, false): pending.append((i, j + 1))
            case (false, true): pending.append((i + 1, j))
            case (false, false):
                if a == b || a == Self.anyByte || b == Self.anyByte { pending.append((i + 1, j + 1)) }
            }
        }
        return false
    }
}
