import Encodings
import Testing

@Suite("Hexadecimal digits")
struct HexadecimalTests {
    static func bytes(_ text: String) -> [UInt8]? {
        [UInt8](hex: text.utf8, isSeparator: { $0 == UInt8(ascii: ":") })
    }

    @Test(
        "Digits in either case are read, with separators anywhere",
        arguments: ["00ab9fFF", "00:AB:9f:ff", ":0:0a:b9ff:F:"])
    func accepted(text: String) {
        #expect(Self.bytes(text) == [0x00, 0xAB, 0x9F, 0xFF])
    }

    @Test("An odd number of digits and other characters are refused", arguments: ["0", "00a", "0g", "00 11", "0x00"])
    func refused(text: String) {
        #expect(Self.bytes(text) == nil)
    }
}
