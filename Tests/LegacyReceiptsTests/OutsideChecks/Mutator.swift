import TestSupport

/// Random damage to receipts, of the kinds that transport, storage and attackers do.
struct Mutator {
    var generator: SeededGenerator
    /// Others to splice from.
    let donors: [[UInt8]]

    init(seed: UInt64, donors: [[UInt8]]) {
        generator = SeededGenerator(seed: seed)
        self.donors = donors
    }

    mutating func mutate(_ bytes: [UInt8]) -> [UInt8] {
        var result = bytes
        // Mostly one change, so that most of the receipt stays whole; sometimes a few.
        for _ in 0..<(Int.random(in: 0..<8, using: &generator) == 0 ? 3 : 1) { change(&result) }
        return result
    }

    private mutating func index(_ bytes: [UInt8]) -> Int { Int.random(in: 0..<max(1, bytes.count), using: &generator) }

    private mutating func change(_ bytes: inout [UInt8]) {
        guard !bytes.isEmpty else { return }
        let position = index(bytes)
        switch Int.random(in: 0..<12, using: &generator) {
        case 0...3: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 4...5: bytes[position] = UInt8.random(in: .min ... .max, using: &generator)
        case 6: bytes.removeLast(bytes.count - position)
        case 7:
            let count = Int.random(in: 1...16, using: &generator)
            let inserted = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            bytes.insert(contentsOf: inserted, at: position)
        case 8:
            bytes.removeSubrange(position..<min(bytes.count, position + Int.random(in: 1...16, using: &generator)))
        case 9: splice(&bytes, at: position)
        case 10: editLength(&bytes)
        default:
            let count = Int.random(in: 1...64, using: &generator)
            let other = index(bytes)
            let copy = Array(bytes[other..<min(bytes.count, other + count)])
            bytes.replaceSubrange(position..<min(bytes.count, position + copy.count), with: copy)
        }
    }

    /// The head of this one and the tail of another, or a piece of another at the same place.
    private mutating func splice(_ bytes: inout [UInt8], at position: Int) {
        guard let donor = donors.randomElement(using: &generator), position < donor.count else { return }
        if Bool.random(using: &generator) {
            bytes = Array(bytes[..<position] + donor[position...])
        } else {
            let end = min(bytes.count, donor.count, position + Int.random(in: 1...2000, using: &generator))
            bytes.replaceSubrange(position..<end, with: donor[position..<end])
        }
    }

    /// Changes one of the length fields: a constructed or string tag followed by a length.
    private mutating func editLength(_ bytes: inout [UInt8]) {
        let start = index(bytes)
        let tags: Set<UInt8> = [0x04, 0x0C, 0x16, 0x24, 0x30, 0x31, 0xA0, 0x02, 0x03]
        guard let tag = (start..<bytes.count).first(where: { tags.contains(bytes[$0]) }), tag + 1 < bytes.count else {
            return
        }
        let length = bytes[tag + 1]
        let lengthBytes = length > 0x80 ? Int(length & 0x7F) : 0
        let last = min(bytes.count - 1, tag + 1 + lengthBytes)
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: bytes[last] &+= 1
        case 1: bytes[last] &-= 1
        case 2: bytes[tag + 1] = 0x80
        case 3: bytes[tag + 1] = [0x84, 0x88, 0x7F, 0xFF, 0x00].randomElement(using: &generator) ?? 0
        default:
            // The same length, written longer, which BER allows.
            guard length < 0x80 else { return }
            bytes[tag + 1] = 0x81
            bytes.insert(length, at: tag + 2)
        }
    }
}
