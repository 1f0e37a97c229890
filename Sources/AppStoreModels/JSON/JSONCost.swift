/// The maximum memory of a JSON text as a `JSONValue`, estimated from its punctuation before it is parsed. Punctuation inside
/// strings raises the estimate; base64 contains none.
///
/// The constants are the measured peak of reading 3 MiB of one kind of value, rounded up: 33 bytes for an element (`0,`), 72
/// for a member (`"":0,`), 89 for an array of one (`[0],`), 112 for a string of 24 bytes.
package struct JSONCost {
    private static let perElement = 40
    private static let perName = 40
    private static let perContainer = 64
    /// The memory for strings, in multiples of the text's size: the strings, the three parts of each JWS, and the
    /// decoded parts.
    private static let copies = 4

    /// The elements and members of all arrays and objects, and the value itself.
    package private(set) var elements = 1
    private var names = 0
    private var containers = 0
    private let size: Int

    package init(of bytes: [UInt8]) {
        size = bytes.count
        // Without branches, so that the compiler compares many bytes at once.
        for byte in bytes {
            elements &+= byte == UInt8(ascii: ",") ? 1 : 0
            names &+= byte == UInt8(ascii: ":") ? 1 : 0
            containers &+= byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{") ? 1 : 0
        }
        // The first element of each container has no comma before it.
        elements += containers
    }

    package var bytes: Int {
        elements * Self.perElement + names * Self.perName + containers * Self.perContainer + size * Self.copies
    }
}
