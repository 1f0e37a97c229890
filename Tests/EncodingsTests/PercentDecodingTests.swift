import Encodings
import Testing

@Suite("Percent-encoded text")
struct PercentDecodingTests {
    @Test(
        "A percent sign with two hexadecimal digits is a byte; another one stays",
        arguments: [
            ("", ""), ("a%2Bb%2bc", "a+b+c"), ("%41%", "A%"), ("%4", "%4"), ("%zz%41", "%zzA"), ("%%41", "%A"),
        ])
    func percentSigns(encoded: String, decoded: String) {
        #expect([UInt8](percentEncoded: encoded.utf8, plusIsBlank: false) == Array(decoded.utf8))
    }

    @Test("Bytes need not be text")
    func bytes() {
        #expect([UInt8](percentEncoded: "0%82%ff".utf8, plusIsBlank: false) == [0x30, 0x82, 0xFF])
    }

    @Test("In a form, a plus sign is a space, and an encoded one is a plus sign")
    func plusSigns() {
        #expect([UInt8](percentEncoded: "a+b%2B".utf8, plusIsBlank: true) == Array("a b+".utf8))
        #expect([UInt8](percentEncoded: "a+b".utf8, plusIsBlank: false) == Array("a+b".utf8))
    }
}
